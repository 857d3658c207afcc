#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// User-defined operators, casts, collations and text search objects; extensions and publications.
namespace swizzle::sql {

/// User-defined operator over a user-defined or built-in function.
struct UserOperator {
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  TypeId left = TypeId::none;  ///< none: a prefix operator
  TypeId right = TypeId::none;
  TypeId result = TypeId::none;
  Oid function =
      kNoOid;  ///< none: a shell, only named so far as another operator's commutator or negator
  Oid commutator = kNoOid;
  Oid negator = kNoOid;
  Oid restriction = kNoOid;  ///< RESTRICT and JOIN: stored only; our estimates do not use them
  Oid join = kNoOid;
  bool can_hash = false;
  bool can_merge = false;
  std::string comment;
};
using OperatorPtr = CheckedShared<const UserOperator>;

/// Letters of pg_cast.castmethod.
enum class UserCastMethod : char { function = 'f', binary = 'b', text_form = 'i' };

/// User-defined cast between two types.
struct UserCast {
  Oid oid = kNoOid;
  std::string name;  ///< numbers of both types, which make it unique
  TypeId source = TypeId::none;
  TypeId target = TypeId::none;
  Oid function = kNoOid;
  char context = 'e';  ///< letters of pg_cast.castcontext: implicit, assignment, explicit
  UserCastMethod method = UserCastMethod::function;
  std::string comment;
};
using CastPtr = CheckedShared<const UserCast>;
std::string cast_name(TypeId source, TypeId target);

/// User-defined collation.
struct UserCollation {
  Oid oid = kNoOid;  ///< below kCollations
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  char provider = 'i';  ///< letters of pg_collation.collprovider: ICU or libc
  bool deterministic = true;
  std::string locale;   ///< locale of ICU
  std::string collate;  ///< locale of libc: "C" or "POSIX"
  std::string ctype;
  std::string version;  ///< version of the library at CREATE or REFRESH VERSION; empty: none
  std::string comment;
};
using CollationPtr = CheckedShared<const UserCollation>;

/// User-defined text search dictionary.
struct UserTextDictionary {
  struct Option {
    std::string name;
    std::string value;
    bool is_number = false;
    friend bool operator==(const Option&, const Option&) = default;
  };
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  Oid from_template = kNoOid;  ///< one of text_templates()
  std::vector<Option> options;
  std::string comment;
};
using UserTextDictionaryPtr = CheckedShared<const UserTextDictionary>;

/// User-defined choice of dictionaries by kind of token.
struct UserTextConfig {
  struct Mapping {
    std::int32_t kind = 0;  ///< token type
    Oid dictionary = kNoOid;
    friend bool operator==(const Mapping&, const Mapping&) = default;
  };
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  std::vector<Mapping>
      mappings;  ///< dictionaries of a token type are in the order in which they are asked
  std::string comment;
};
using UserTextConfigPtr = CheckedShared<const UserTextConfig>;

/// First character of records in a query's list of names (ViewRoutine) that are not routines. No
/// routine's name begins with it.
inline constexpr char kNoRoutine = '\0';
/// Returns the record of an object that the query names as a constant of `type`, such as regclass.
std::string constant_record(TypeId type, std::string_view text);
std::string operator_record(std::string_view name);
bool is_operator_record(std::string_view record);
std::string cast_record(TypeId source, TypeId target);
/// Returns the name in a record from before format 17, which did not mark records that are not
/// routines by a first character.
std::string record_of_old(std::string name);
/// Returns the constant's type; none if the record is not of a constant.
TypeId constant_of_record(std::string_view record);

/// Extension: the objects that CREATE EXTENSION created and those added later.
struct Extension {
  struct Member {
    Oid catalog = kNoOid;  ///< class id: pg_proc, pg_type or another
    Oid object = kNoOid;
    friend bool operator==(const Member&, const Member&) = default;
  };
  Oid oid = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  Oid schema = kNoOid;
  std::string version;
  std::vector<Member> members;
  std::string comment;
};
using ExtensionPtr = CheckedShared<const Extension>;

/// Publication: tables of a database whose changes subscribers receive.
struct Publication {
  struct Member {
    Oid oid = kNoOid;  ///< oid of its row in pg_publication_rel
    Oid table = kNoOid;
    std::vector<std::int16_t> columns;  ///< from 1, ascending; empty: all
    std::string filter_sql;             ///< in the form of stored expressions; empty: all rows
  };
  struct WholeSchema {
    Oid oid = kNoOid;  ///< oid of its row in pg_publication_namespace
    Oid schema = kNoOid;
  };
  Oid oid = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  bool all_tables = false;
  bool inserts = true;
  bool updates = true;
  bool deletes = true;
  bool truncates = true;
  bool via_root = false;  ///< of partitions, of which there are none
  std::vector<Member> members;
  std::vector<WholeSchema> schemas;
  std::string comment;
  /// publish_generated_columns = stored: of tables without a column list.
  bool stored_generated = false;

  [[nodiscard]] const Member* member(Oid table) const noexcept {
    for (const Member& one : members) {
      if (one.table == table) return &one;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_schema(Oid schema) const noexcept {
    for (const WholeSchema& one : schemas) {
      if (one.schema == schema) return true;
    }
    return false;
  }
};
using PublicationPtr = CheckedShared<const Publication>;

/// Event trigger: a function that runs at definitions of any object, or at logins.
struct EventTrigger {
  Oid oid = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  std::string event;
  Oid function = kNoOid;
  char enabled = 'O';             ///< letters of pg_event_trigger.evtenabled
  std::vector<std::string> tags;  ///< statements at which it fires; empty: all
  std::string comment;
};
using EventTriggerPtr = CheckedShared<const EventTrigger>;

}  // namespace swizzle::sql
