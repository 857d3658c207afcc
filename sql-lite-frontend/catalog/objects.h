#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "sql-lite-frontend/catalog/oid.h"
#include "sql-lite-frontend/catalog/partition.h"
#include "sql-lite-frontend/catalog/policy.h"
#include "sql-lite-frontend/catalog/routine.h"
#include "sql-lite-frontend/catalog/view_names.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/type_id.h"
#include "sql-lite-frontend/types/user_types.h"

/// Objects that the catalog stores: one struct per object, each the value of one record in the
/// catalog's tree. Expressions are stored as SQL text in the form that pg_get_expr shows.
namespace swizzle::sql {

/// PostgreSQL's limits, on which the protocol's 16-bit counts rely as well: columns of a relation,
/// including dropped ones, of an index, and of a result row.
inline constexpr std::size_t kMostTableColumns = 1600;
inline constexpr std::size_t kMostIndexColumns = 32;
inline constexpr std::size_t kMostRowColumns = 1664;

struct Schema {
  Oid oid = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  std::string comment;
  std::vector<Grant> grants;
};

struct Column {
  std::string name;
  TypeId type = TypeId::none;
  std::int32_t typmod = kNoTypmod;
  bool not_null = false;
  /// Dropped columns keep their number and their place in stored rows, as in PostgreSQL.
  bool dropped = false;
  std::string default_sql;  ///< empty: none
  char identity = 0;        ///< 'a' always, 'd' by default, 0 none
  bool generated = false;   ///< default_sql is GENERATED ALWAYS AS …
  /// Value of rows older than the column, in flat form; nullopt is NULL.
  std::optional<std::string> missing;
  std::string comment;
  std::vector<Grant> grants;
  Oid collation = kNoOid;  ///< none: the type's
  bool inherited = false;  ///< of a partition: it is there because its parent has it
  /// Number of parents named by INHERITS that have the column.
  std::int16_t inherit_count = 0;
  bool also_local = false;  ///< has such parents, and the table's own definition declares it too
  bool is_virtual = false;  ///< generated, and computed where it is read: rows have NULL there
  /// Its NOT NULL constraint is NOT VALID: rows of before may have NULL.
  bool not_null_unproven = false;
  /// Hints that are kept and shown, and have no effect here: SET STATISTICS, SET (n_distinct = …),
  /// SET STORAGE as a letter of pg_attribute.attstorage; 0: the type's.
  std::optional<std::int16_t> statistics_target;
  std::vector<std::string> options;
  char storage = 0;

  /// Returns the type of expressions that read the column.
  [[nodiscard]] TypeId expression_type() const noexcept {
    return collation == kNoOid ? type : with_collation(type, collation);
  }
  /// True if no stored row has NULL in the column.
  [[nodiscard]] bool never_null() const noexcept { return not_null && !not_null_unproven; }
};

enum class ConstraintKind : char {
  check = 'c',
  primary_key = 'p',
  unique = 'u',
  foreign_key = 'f',
  exclusion = 'x',
  not_null = 'n',
};
/// Letters of pg_constraint.confupdtype and confdeltype.
enum class ReferentialAction : char {
  no_action = 'a',
  restrict_ = 'r',
  cascade = 'c',
  set_null = 'n',
  set_default = 'd',
};

struct Constraint {
  Oid oid = kNoOid;
  std::string name;
  ConstraintKind kind = ConstraintKind::check;
  std::vector<std::int16_t> columns;  ///< column numbers from 1
  std::string check_sql;
  bool no_inherit = false;
  /// Index of a key or an exclusion constraint; of a foreign key, the index of the referenced key.
  Oid index = kNoOid;
  Oid referenced_table = kNoOid;
  std::vector<std::int16_t> referenced_columns;
  ReferentialAction on_update = ReferentialAction::no_action;
  ReferentialAction on_delete = ReferentialAction::no_action;
  std::vector<std::int16_t>
      set_columns;   ///< columns of ON DELETE SET NULL (a, b) or SET DEFAULT (a, b); empty: all
  char match = 's';  ///< 's' simple, 'f' full
  bool deferrable = false;
  bool initially_deferred = false;
  bool validated = true;
  bool enforced = true;  ///< of a check or a foreign key
  std::string comment;
  Oid parent = kNoOid;      ///< of a partition: the constraint of its parent that it is there for
  bool also_local = false;  ///< is inherited, and the table's own definition declares it too
  /// Number of parents named by INHERITS that have the constraint.
  std::int16_t inherit_count = 0;
  /// Foreign key with PERIOD: the last column is a range, which ranges of referenced rows must
  /// cover.
  bool has_period = false;

  /// True if it is there because a parent has it: of a partition, or of a table with INHERITS.
  [[nodiscard]] bool is_inherited() const noexcept { return parent != kNoOid || inherit_count > 0; }
};

/// Bits of pg_trigger.tgtype.
enum class TriggerTime : std::uint8_t { before, after, instead_of };
enum class TriggerEvent : std::uint8_t { insert, update, remove, truncate };

struct Trigger {
  Oid oid = kNoOid;
  std::string name;
  Oid function = kNoOid;
  TriggerTime time = TriggerTime::before;
  std::uint8_t events = 0;  ///< a bit for each TriggerEvent
  bool for_each_row = false;
  std::vector<std::int16_t> columns;  ///< columns of UPDATE OF, from 1; empty: any
  std::string when_sql;               ///< condition over old.a and new.a; empty: always
  std::vector<std::string> arguments;
  std::string old_table;  ///< REFERENCING OLD TABLE AS; empty: none
  std::string new_table;
  char enabled = 'O';  ///< letters of pg_trigger.tgenabled: origin, always, replica, disabled
  /// Number of CREATE CONSTRAINT TRIGGER's constraint.
  Oid constraint = kNoOid;
  Oid referenced_table = kNoOid;  ///< table in its FROM
  bool deferrable = false;
  bool initially_deferred = false;
  std::string comment;
  Oid parent = kNoOid;  ///< of a partition: the parent's trigger of which it is a copy

  [[nodiscard]] bool fires_on(TriggerEvent event) const noexcept {
    return ((events >> static_cast<unsigned>(event)) & 1U) != 0;
  }
};

struct IndexColumn {
  std::int16_t column = 0;  ///< 0: an expression
  std::string expression_sql;
  TypeId type = TypeId::none;
  SortDirection direction = SortDirection::ascending;
  NullsOrder nulls = NullsOrder::last;
  std::string operator_class;  ///< as written in the definition; empty: the default
  /// Operator of an exclusion constraint's column: no two rows may satisfy it in all columns.
  /// Columns with equality come first, so that rows that may conflict are adjacent.
  std::string excludes_by = {};
  std::int16_t written_place =
      0;                   ///< from 0, among the columns of the constraint as it was written
  Oid collation = kNoOid;  ///< by which its keys are ordered; none: the type's
  /// Of an expression: a hint that is kept and shown, and has no effect.
  std::optional<std::int16_t> statistics_target = {};

  /// Returns the type of the index's keys in this column.
  [[nodiscard]] TypeId key_type() const noexcept;
};

enum class IndexMethod : char {
  tree = 'b',      ///< one entry per row, ordered by the columns: btree
  inverted = 'g',  ///< one entry per element of the columns' values: gin
  /// As tree; the index of an exclusion constraint USING gist.
  excluding = 'x',
  /// One entry per row, ordered by the length of its range, then by the range: gist.
  ranges = 'r',
};
constexpr std::string_view access_method_name(IndexMethod method) noexcept {
  if (method == IndexMethod::excluding || method == IndexMethod::ranges) return "gist";
  return method == IndexMethod::inverted ? "gin" : "btree";
}

/// Sessions may use a table by two successive definitions at once, so an index that is built or
/// dropped beside them goes through the states one by one.
enum class IndexState : char {
  valid = 'v',
  /// Writers maintain it, and no query reads it: rows may lack entries.
  building = 'b',
  /// Writers remove the entries of rows that they change, and add none. Beside them other writers
  /// may maintain the index, or not know it: no row has an entry that is not its own.
  delete_only = 'd',
  /// Neither read nor changed; its entries mean nothing.
  abandoned = 'a',
};

struct Index {
  Oid oid = kNoOid;
  std::string name;
  IndexMethod method = IndexMethod::tree;
  /// True if no two entries have the same key. The index of a deferrable key is not unique, because
  /// keys may repeat until the check.
  bool unique = false;
  bool primary = false;
  bool nulls_not_distinct = false;
  /// Key that DeferrableKeys checks, then not `unique`; or deferrable exclusion.
  bool deferrable = false;
  std::vector<IndexColumn> columns;
  std::vector<std::int16_t> included;
  std::string predicate_sql;
  /// The index that orders the table's rows has no tree of its own.
  TreeId tree = TreeId::directory;
  std::string comment;
  std::int64_t estimated_pages = 0;  ///< as of the last ANALYZE
  Oid parent = kNoOid;               ///< of a partition: the parent's index of which it is a part
  /// Key WITHOUT OVERLAPS of the last column, a range. Its entries exclude each other, so `unique`
  /// is false.
  bool without_overlaps = false;
  IndexState state = IndexState::valid;

  /// True if queries may read it: every row has its entry.
  [[nodiscard]] bool is_valid() const noexcept { return state == IndexState::valid; }
  /// True if writers remove the entries of rows.
  [[nodiscard]] bool loses_entries() const noexcept { return state != IndexState::abandoned; }
  /// True if writers add entries, too.
  [[nodiscard]] bool takes_entries() const noexcept {
    return is_valid() || state == IndexState::building;
  }
  /// True for the index of an exclusion constraint or of a key WITHOUT OVERLAPS.
  [[nodiscard]] bool excludes() const noexcept {
    return !columns.empty() && !columns.front().excludes_by.empty();
  }
  /// True if the definition declares a key.
  [[nodiscard]] bool is_key() const noexcept {
    return unique || without_overlaps || (deferrable && !excludes());
  }
  /// True for a key that each write checks: the only ones that foreign keys may refer to.
  [[nodiscard]] bool is_immediate_key() const noexcept { return is_key() && !deferrable; }
  /// True for the primary key by which the table's rows are ordered.
  [[nodiscard]] bool orders_rows() const noexcept { return primary && !without_overlaps; }
};

enum class RelationKind : char {
  table = 'r',
  view = 'v',
  materialized = 'm',  ///< a view with stored rows
  sequence = 'S',
  computed = 'c',
  partitioned = 'p',  ///< has the rows of its partitions
};
constexpr bool keeps_rows(RelationKind kind) noexcept {
  return kind == RelationKind::table || kind == RelationKind::materialized;
}
/// True for ordinary and partitioned tables.
constexpr bool is_table(RelationKind kind) noexcept {
  return kind == RelationKind::table || kind == RelationKind::partitioned;
}
constexpr bool has_query(RelationKind kind) noexcept {
  return kind == RelationKind::view || kind == RelationKind::materialized;
}
enum class Persistence : char { permanent = 'p', temporary = 't', unlogged = 'u' };

struct SequenceDefinition {
  TypeId type = TypeId::int8;
  std::int64_t start = 1;
  std::int64_t increment = 1;
  std::int64_t minimum = 1;
  std::int64_t maximum = INT64_MAX;
  std::int64_t cache = 1;
  bool cycle = false;
  Oid owner_table = kNoOid;  ///< table of OWNED BY, serial or identity
  std::int16_t owner_column = 0;
  bool identity = false;
  /// Number of the record of its position; none: its own oid. RESTART gives it a new one, so that a
  /// rollback restores the old position.
  Oid position = kNoOid;
};

struct Relation {
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  RelationKind kind = RelationKind::table;
  Persistence persistence = Persistence::permanent;
  Oid owner = kBootstrapRole;
  Oid row_type = kNoOid;    ///< number in pg_type of its row type
  Oid array_type = kNoOid;  ///< number in pg_type of the array type over it
  /// Tree of the rows, or of a sequence's value; views have none.
  TreeId tree = TreeId::directory;
  std::vector<Column> columns;
  std::vector<Constraint> constraints;
  std::vector<Index> indexes;
  std::vector<Trigger> triggers;  ///< ordered by name, which is the order of firing
  /// DISABLE TRIGGER ALL: writes check neither its foreign keys nor those that refer to it.
  bool leaves_keys = false;
  std::vector<std::string> options;  ///< reloptions: "fillfactor=100"
  std::string view_sql;
  std::vector<ViewName> view_names;
  std::vector<ViewType> view_types;
  std::vector<ViewRoutine> view_routines;
  std::optional<SequenceDefinition> sequence;
  char on_commit = 0;  ///< temporary tables: 'd' delete rows, 'x' drop, 0 keep
  std::string comment;
  std::vector<Grant> grants;
  /// Number of rows as of the last ANALYZE; -1 before the first.
  double estimated_rows = -1;
  std::int64_t estimated_pages = 0;  ///< as of the last ANALYZE
  /// False: a materialized view without data, which cannot be read.
  bool populated = true;
  /// Letters of pg_class.relreplident, columns that identify a row for subscribers: the primary
  /// key, all columns, none, or the index `replica_index`.
  char replica_identity = 'd';
  Oid replica_index = kNoOid;
  /// ENABLE ROW LEVEL SECURITY: policies apply. FORCE: to the owner as well.
  bool row_security = false;
  bool forces_row_security = false;
  std::vector<Policy> policies;  ///< ordered by name
  /// Partition key of a partitioned table, and its partitions ordered by their bounds.
  std::optional<PartitionKey> partition_key;
  std::vector<Oid> partitions;
  /// Parent and bound of a partition, which may itself be partitioned.
  Oid partition_of = kNoOid;
  std::optional<PartitionBound> partition_bound;
  /// DETACH PARTITION CONCURRENTLY has begun: its parent does not list it any more.
  bool is_being_detached = false;
  /// Tables named by INHERITS, in that order, and the tables that inherit from this one, ordered by
  /// number. A table that has either is neither partitioned nor a partition.
  std::vector<Oid> parents;
  std::vector<Oid> children;

  [[nodiscard]] bool is_partitioned() const noexcept { return kind == RelationKind::partitioned; }
  [[nodiscard]] bool is_partition() const noexcept { return partition_of != kNoOid; }
  /// True if its name stands for the rows of other tables, too: partitions or children.
  [[nodiscard]] bool has_parts() const noexcept { return is_partitioned() || !children.empty(); }

  /// True if neither its rows nor those of its children have NULL in the column: a NOT NULL
  /// constraint with NO INHERIT says nothing of children.
  [[nodiscard]] bool never_null(std::size_t position) const noexcept {
    if (!columns[position].never_null()) return false;
    const auto number = static_cast<std::int16_t>(position + 1);
    return children.empty() ||
           std::ranges::none_of(constraints, [number](const Constraint& constraint) {
             return constraint.kind == ConstraintKind::not_null && constraint.no_inherit &&
                    constraint.columns.front() == number;
           });
  }

  /// Returns the tables that its foreign keys reference, without repetition.
  [[nodiscard]] std::vector<Oid> referenced_relations() const {
    std::vector<Oid> all;
    for (const Constraint& constraint : constraints) {
      const Oid referenced = constraint.referenced_table;
      if (constraint.kind != ConstraintKind::foreign_key) continue;
      if (std::ranges::find(all, referenced) == all.end()) all.push_back(referenced);
    }
    return all;
  }
};

/// Constraint of a domain: CHECK, over VALUE, or NOT NULL.
struct DomainCheck {
  Oid oid = kNoOid;
  std::string name;
  std::string sql;  ///< of a CHECK
  bool validated = true;
  std::string comment;
  bool is_not_null = false;
};

/// User-defined type, or row type of a relation: an enum, domain, composite type, range or
/// multirange. Its number determines the kind (types/user_types.h).
struct UserType {
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  std::vector<EnumLabel> labels;  ///< in their order
  std::string comment;
  std::vector<Grant> grants;
  TypeId base = TypeId::none;  ///< of a domain: what it is over, perhaps a domain; of a range: what
                               ///< its bounds are; of a multirange: its range
  std::int32_t base_typmod = kNoTypmod;
  bool not_null = false;    ///< a domain with a NOT NULL constraint among its checks
  std::string default_sql;  ///< in the form of stored expressions; empty: none
  std::vector<DomainCheck> checks;
  std::vector<Column> attributes;  ///< of a composite type
  Oid relation = kNoOid;           ///< number by which pg_class lists a composite type
  Oid difference = kNoOid;         ///< of a range: its subtype_diff function
  Oid collation = kNoOid;  ///< collation of a domain or of a range's bounds; none: that of `base`

  [[nodiscard]] TypeId id() const noexcept { return TypeId{oid}; }
  /// Shell type: CREATE TYPE without a definition. Its number has no kind.
  [[nodiscard]] bool is_shell() const noexcept { return !is_user_type(id()); }
  /// True for the row type of a relation, which exists as long as the relation.
  [[nodiscard]] bool is_of_relation() const noexcept {
    return relation != kNoOid && id() == row_type_of_relation(relation);
  }
};
using TypePtr = CheckedShared<const UserType>;

/// Membership of a role in another.
struct Membership {
  Oid group = kNoOid;
  Oid grantor = kBootstrapRole;
  bool admin_option = false;  ///< may grant the membership to others
  Oid oid = kNoOid;
  bool inherit_option = true;  ///< the member has the group's rights
  bool set_option = true;      ///< the member may SET ROLE to the group
};

struct Role {
  Oid oid = kNoOid;
  std::string name;
  bool superuser = false;
  bool inherit = true;
  bool create_role = false;
  bool create_database = false;
  bool can_login = false;
  bool replication = false;
  bool bypass_rls = false;
  std::int32_t connection_limit = -1;
  std::string password_verifier;
  std::string valid_until;
  std::vector<Membership> member_of;
  std::vector<std::string> settings;  ///< ALTER ROLE … SET: "name=value"
  std::string comment;

  /// Returns the first direct membership in a role; null if there is none.
  [[nodiscard]] const Membership* membership_in(Oid group) const {
    const auto found = std::ranges::find(member_of, group, &Membership::group);
    return found == member_of.end() ? nullptr : &*found;
  }
  /// True if it has the ADMIN OPTION on a role that it is a direct member of.
  [[nodiscard]] bool is_admin_of(Oid group) const {
    return std::ranges::any_of(member_of, [group](const Membership& one) {
      return one.group == group && one.admin_option;
    });
  }
};

struct DatabaseEntry {
  Oid oid = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  bool is_template = false;
  bool allow_connections = true;
  std::int32_t connection_limit = -1;
  std::vector<std::string> settings;
  std::string comment;
  std::vector<Grant> grants;
  std::optional<std::string> icu_locale;  ///< collation of text; none: bytewise order
  std::string
      collation_version;  ///< version of the library when the database was created or refreshed
  /// The collation orders jsonb and citext as well. False in databases created before that was so.
  bool locale_orders_all = false;
};

}  // namespace swizzle::sql
