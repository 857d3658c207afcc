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

/// Operators, casts, collations, and what text search is made of, that users made; extensions, and
/// publications.
namespace swizzle::sql {

/// An operator over a function, which may be a built-in one.
struct UserOperator {
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  TypeId left = TypeId::none;  ///< none: it stands before its operand
  TypeId right = TypeId::none;
  TypeId result = TypeId::none;
  Oid function = kNoOid;  ///< none yet: only named, as another's commutator or negator
  Oid commutator = kNoOid;
  Oid negator = kNoOid;
  Oid restriction = kNoOid;  ///< RESTRICT and JOIN: kept, our estimates do not ask them
  Oid join = kNoOid;
  bool can_hash = false;
  bool can_merge = false;
  std::string comment;
};
using OperatorPtr = CheckedShared<const UserOperator>;

/// pg_cast.castmethod's letters.
enum class UserCastMethod : char { function = 'f', binary = 'b', text_form = 'i' };

/// User-defined cast between two types.
struct UserCast {
  Oid oid = kNoOid;
  std::string name;  ///< both types' numbers: a unique name
  TypeId source = TypeId::none;
  TypeId target = TypeId::none;
  Oid function = kNoOid;
  char context = 'e';  ///< pg_cast's letters: implicit, assignment, explicit
  UserCastMethod method = UserCastMethod::function;
  std::string comment;
};
using CastPtr = CheckedShared<const UserCast>;
std::string cast_name(TypeId source, TypeId target);

/// An order of texts.
struct UserCollation {
  Oid oid = kNoOid;  ///< below kCollations
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  char provider = 'i';  ///< pg_collation's letters: ICU, libc
  bool deterministic = true;
  std::string locale;   ///< of ICU
  std::string collate;  ///< of libc: "C" or "POSIX"
  std::string ctype;
  std::string version;  ///< of the library when it was made, or refreshed; empty: it has none
  std::string comment;
};
using CollationPtr = CheckedShared<const UserCollation>;

/// Makes words of tokens.
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
    std::int32_t kind = 0;  ///< of token
    Oid dictionary = kNoOid;
    friend bool operator==(const Mapping&, const Mapping&) = default;
  };
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  std::vector<Mapping> mappings;  ///< those of a kind stand in the order in which they are asked
  std::string comment;
};
using UserTextConfigPtr = CheckedShared<const UserTextConfig>;

/// First character, in a query's record of the names it uses (ViewRoutine), of entries that are not
/// routines. No routine's name begins so.
inline constexpr char kNoRoutine = '\0';
/// An object that it names as a constant of `type`, which is regclass or one of its like.
std::string constant_record(TypeId type, std::string_view text);
std::string operator_record(std::string_view name);
bool is_operator_record(std::string_view record);
std::string cast_record(TypeId source, TypeId target);
/// The name in a record from before format 17, when routines of such names were taken for others.
std::string record_of_old(std::string name);
/// Returns the type of the constant that the record stands for; none if it is no constant's.
TypeId constant_of_record(std::string_view record);

/// Objects that CREATE EXTENSION made, and those added later.
struct Extension {
  struct Member {
    Oid catalog = kNoOid;  ///< class id: pg_proc, pg_type …
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

/// Tables of a database whose changes subscribers receive.
struct Publication {
  struct Member {
    Oid oid = kNoOid;  ///< of its row in pg_publication_rel
    Oid table = kNoOid;
    std::vector<std::int16_t> columns;  ///< from 1, ascending; empty: all
    std::string filter_sql;             ///< as stored expressions are; empty: all rows
  };
  struct WholeSchema {
    Oid oid = kNoOid;  ///< of its row in pg_publication_namespace
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

}  // namespace swizzle::sql
