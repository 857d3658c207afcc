#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/catalog/partition_tree.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/bind/view_target.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/output_target.h"
#include "sql-lite-frontend/query/bound/planned.h"
#include "sql-lite-frontend/query/bound/query_parts.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// A query after binding and before planning: names are slots, types are known, access paths are
/// not decided.
namespace swizzle::sql {

struct Query;
struct FromNode;
struct BoundCte;
using FromPtr = CheckedUnique<FromNode>;

/// Column i of the table is in slot first_slot + i.
struct FromTable {
  TablePtr table;
  std::string alias;
  Slot first_slot = 0;
  /// Partitions of a partitioned table, or the table and its heirs. Behind its columns' slots come
  /// those of `partition_slot`.
  PartitionTreePtr partitions = nullptr;
  /// Slot with the rows' hidden ids, if the table has them and the statement may read them.
  std::optional<Slot> row_id_slot = std::nullopt;
};
/// Returns the number of slots of a row of the table, without its hidden row id. A table with
/// partitions or children has, behind its columns, the number of the row's table, and that one's
/// place among the tree's leaves.
inline std::size_t slots_before_row_id(const Table& table) noexcept {
  constexpr std::size_t kOfPartition = 2;
  return table.relation.columns.size() + (table.relation.has_parts() ? kOfPartition : 0);
}
/// Returns the number of slots of a row of the table. A table with hidden row ids has that id last.
inline std::size_t row_slots(const Table& table) noexcept {
  return slots_before_row_id(table) + std::size_t{table.shows_row_ids()};
}
inline std::optional<Slot> row_id_slot(const Table& table, Slot first_slot) noexcept {
  if (!table.shows_row_ids()) return std::nullopt;
  return first_slot + static_cast<Slot>(slots_before_row_id(table));
}
inline Slot partition_slot(const Table& table, Slot first_slot) noexcept {
  return first_slot + static_cast<Slot>(table.relation.columns.size());
}
/// A subquery; its columns are its output slots.
struct FromSubquery {
  std::unique_ptr<Query> query;
  std::string alias;
  /// The binder's note of a view.
  std::optional<std::size_t> view_access = std::nullopt;
};
struct FromFunctions {
  std::vector<FromCall> calls;
  std::optional<Slot> ordinality;
  std::string alias;
};
/// A relation whose rows are computed when read: pg_class and its like.
struct FromComputed {
  TablePtr table;
  std::string alias;
  Slot first_slot = 0;
};
struct FromCte {
  std::shared_ptr<BoundCte> cte;
  std::vector<Slot> slots;
  /// Inside the recursive term: the rows of the last round.
  enum class Reads : std::uint8_t { result, working_table } reads = Reads::result;
  std::string alias;
};
struct FromJoin {
  JoinKind kind = JoinKind::inner;
  FromPtr left;
  FromPtr right;
  std::vector<ExprPtr> conditions;
  /// A second binding of them, as Query::recheck is of WHERE.
  std::vector<ExprPtr> recheck;
  /// Columns of FULL JOIN … USING: one side's value or the other's.
  std::vector<ComputedSlot> merged;
};

struct FromNode {
  std::variant<FromTable, FromSubquery, FromFunctions, FromComputed, FromCte, FromJoin> node;
};

struct WindowDefinition {
  std::vector<SortKey> partition;
  std::vector<SortKey> order;
  WindowFrame frame;
  std::vector<WindowCall> calls;
  /// Conditions on the rows that are needed, if RankRows computes the calls.
  std::vector<RankCondition> wanted;
};

/// A call of GROUPING() before GROUP BY is bound.
struct GroupingCall {
  Slot slot = 0;
  std::vector<ExprPtr> arguments;
};

/// An item of GROUP BY as it is written, without sets that are only nested.
struct GroupingItem {
  enum class Kind : std::uint8_t { keys, rollup, cube, sets } kind = Kind::keys;
  std::vector<std::uint32_t> keys;  ///< of kind `keys`; empty: ()
  std::vector<GroupingItem> items;
};

struct RowLock {
  ReadMode mode = ReadMode::for_update;
  WaitPolicy wait = WaitPolicy::wait;
  /// Aliases; empty: all tables.
  std::vector<std::string> of;
};

struct Query {
  enum class Body : std::uint8_t { select, values, set_operation };
  Body body = Body::select;

  std::vector<FromPtr> from;
  std::vector<ExprPtr> where;
  /// True if its conditions decide which rows are visible at all (security barrier). Other
  /// conditions are evaluated on those rows alone, unless they are leakproof (plan/leakproof.h).
  bool is_barrier = false;
  /// True if conditions on its columns are asked when all of them are computed, as JSON_TABLE's
  /// are.
  bool computes_first = false;
  std::unique_ptr<TableSample> sample;
  bool grouped = false;
  std::vector<GroupKey> group_keys;
  GroupingSets grouping_sets;
  std::vector<GroupingCall> grouping_calls;
  std::vector<GroupingItem> grouping_items;  ///< empty if there is one set
  std::vector<Slot> carried;
  std::vector<AggregateCall> aggregates;
  std::vector<ExprPtr> having;
  std::vector<WindowDefinition> windows;
  std::vector<SetItem> sets;
  enum class DistinctKind : std::uint8_t { none, all, on };
  DistinctKind distinct = DistinctKind::none;
  std::vector<ExprPtr> distinct_on;

  std::vector<std::vector<ExprPtr>> rows;

  enum class SetKind : std::uint8_t { union_, intersect, except };
  SetKind set_kind = SetKind::union_;
  bool set_all = false;
  std::unique_ptr<Query> left;
  std::unique_ptr<Query> right;

  /// Slots of the rows of VALUES and set operations, before `targets` are computed from them.
  std::vector<Slot> body_slots;
  std::vector<OutputTarget> targets;
  /// Slots of its own FROM clause that were read for the targets only. Of subqueries.
  std::vector<Slot> read_by_targets;
  std::vector<SortKey> order;
  ExprPtr limit;
  ExprPtr offset;
  bool with_ties = false;
  /// True if its FROM clause names the WITH query that it is a part of.
  bool reads_working_table = false;
  std::vector<RowLock> locks;
  /// A second binding of WHERE, if rows are locked here or by an enclosing query: checked again on
  /// rows that changed before they were locked.
  std::vector<ExprPtr> recheck;

  /// Slots of enclosing queries, or of FROM items to its left, that it reads.
  std::vector<Slot> outer_slots;
  /// Data-modifying statements in WITH, run once before the query.
  std::vector<std::shared_ptr<BoundCte>> eager;
  /// WITH queries that read slots outside: they run anew whenever the query does.
  std::vector<std::shared_ptr<BoundCte>> correlated;
  /// All WITH queries that it defines.
  std::vector<std::weak_ptr<BoundCte>> defined;

  /// True if all rows are one group, which exists without rows, too.
  [[nodiscard]] bool is_one_group() const noexcept {
    return grouped && group_keys.empty() && grouping_sets.sets.empty();
  }
  [[nodiscard]] std::vector<Slot> output_slots() const {
    std::vector<Slot> slots;
    for (const OutputTarget& target : targets) slots.push_back(target.slot);
    return slots;
  }
  /// True if each row is a row of the FROM clause, and no row depends on others. Such rows can be
  /// locked after the enclosing query has chosen among them.
  [[nodiscard]] bool passes_rows_on() const noexcept {
    return body == Body::select && !grouped && windows.empty() && sets.empty() &&
           distinct == DistinctKind::none && !limit && !offset && locks.empty() && eager.empty() &&
           correlated.empty();
  }
};

template <class Node>
FromPtr from_node(Node node) {
  auto result = std::make_unique<FromNode>();
  result->node = std::move(node);
  return result;
}

enum class WriteKind : std::uint8_t { insert, update, delete_, merge };

/// The action of ON CONFLICT.
struct ConflictAction {
  enum class Kind : std::uint8_t { error, nothing, update } kind = Kind::error;
  /// The arbiter index; null with `nothing`: any.
  const Index* index = nullptr;
  /// First slot of the existing row; "excluded" is the statement's own row slots.
  Slot existing_first_slot = 0;
};

struct Assignment {
  std::size_t position;
  ExprPtr expr;
};

/// One WHEN clause of MERGE.
struct MergeAction {
  /// Rows of the join that it handles: pairs of a target row and a source row, or rows of one side
  /// without a partner.
  enum class Rows : std::uint8_t { matched, not_matched_by_source, not_matched_by_target };
  enum class Does : std::uint8_t { nothing, insert, update, remove };
  Rows rows = Rows::matched;
  Does does = Does::nothing;
  std::vector<ExprPtr> conditions;
  /// UPDATE: SET. INSERT: values of the given columns, and the defaults of others.
  std::vector<Assignment> assignments;

  [[nodiscard]] bool inserts() const noexcept { return does == Does::insert; }
  [[nodiscard]] bool updates() const noexcept { return does == Does::update; }
  [[nodiscard]] bool removes() const noexcept { return does == Does::remove; }
};

/// The part of MERGE that other writes lack: a join of the target and a source, and the actions on
/// its rows.
struct MergeParts {
  std::vector<MergeAction> actions;
  JoinKind join = JoinKind::inner;  ///< `left`: all rows of the side that needs no partner
  FromPtr source;
  std::vector<ExprPtr> on;
  /// A second binding of ON, for target rows that changed before they were locked.
  std::vector<ExprPtr> on_again;
  std::vector<Slot> source_slots;
  /// Slots that are NULL in rows of the join without a source row, or a target row. Without the
  /// latter slot, the row's key tells.
  std::optional<Slot> source_there;
  std::optional<Slot> target_there;
  /// Partitions whose rows are read; ONLY reads none.
  PartitionTreePtr read_partitions;
  /// RETURNING: the row under the target's own name, and the action's name.
  std::optional<Slot> returned_slot;
  std::optional<Slot> action_slot;

  [[nodiscard]] bool has(MergeAction::Rows rows) const {
    return std::ranges::any_of(actions,
                               [rows](const MergeAction& action) { return action.rows == rows; });
  }
  [[nodiscard]] bool has(MergeAction::Does does) const {
    return std::ranges::any_of(actions,
                               [does](const MergeAction& action) { return action.does == does; });
  }
};

/// Changes that a write may make to rows of its table.
struct RowChanges {
  bool inserts = false;
  bool updates = false;
  bool removes = false;
};

/// A condition on rows that a write makes or finds.
struct WriteCheck {
  enum class Kind : std::uint8_t {
    constraint,
    view,
    policy,
    policy_of_existing,  ///< ON CONFLICT
    policy_of_target,    ///< MERGE
  };
  ExprPtr expr;
  std::string name;
  Kind kind = Kind::constraint;
};

/// The view that a statement names, if any: its table is below it.
struct WrittenView {
  std::optional<ViewTarget> target;
  /// True if INSTEAD OF triggers do the write: the statement's table is the view that it names, and
  /// these are its rows, column by column.
  bool instead = false;
  FromPtr rows;
  std::vector<Slot> slots;
  std::size_t access = 0;  ///< the binder's note of the view
};

/// The part of INSERT that other writes lack.
struct InsertParts {
  /// The rows; column `columns[i]` comes from the i-th of `source_slots`. MERGE: `columns` lists
  /// those that any action inserts; the values are the actions' own.
  std::unique_ptr<Query> source;
  std::vector<Slot> source_slots;
  std::vector<std::size_t> columns;
  /// Values of columns that are not listed.
  std::vector<Assignment> defaults;
  ConflictAction conflict;
  std::vector<ExprPtr> conflict_where;
  /// COPY FROM … WHERE, over the new row; null: all rows.
  ExprPtr row_filter;
  /// True if RETURNING reads OLD, so that the existing row's slots are NULL for new rows.
  bool returns_old = false;
  /// True if ON CONFLICT has found the row, for RETURNING.
  std::optional<Slot> was_there;
  /// Slot that gets the written row's hidden id, if RETURNING reads it.
  std::optional<Slot> row_id_slot;
};

/// The rows that UPDATE, DELETE and MERGE find.
struct WrittenRows {
  /// UPDATE … FROM, DELETE … USING.
  std::vector<FromPtr> from;
  std::vector<ExprPtr> where;
  std::vector<ExprPtr> recheck;
  /// Policies' conditions on existing rows, evaluated before any of `where`.
  std::vector<ExprPtr> barrier;
  /// Conditions of views WITH (security_barrier) on existing rows, from the lowest view upwards.
  /// Each is evaluated before those of the views above it, and before `where`.
  std::vector<std::vector<ExprPtr>> view_barriers;
  /// WHERE CURRENT OF: the cursor on the row. There is no other condition then.
  std::string current_of;
  /// The parameter with the cursor's name instead: a variable of the body.
  std::optional<std::size_t> current_of_parameter;
};

/// Conditions on the rows that a write makes, finds, or removes.
struct WriteChecks {
  std::vector<WriteCheck> constraints;
  /// Policies' conditions on the new row, under the names of the restrictive policies; those of
  /// permissive ones have empty names. INSERT … ON CONFLICT DO UPDATE has also conditions on the
  /// existing row and on its new version. MERGE has those of UPDATE, and conditions on the target
  /// row and on inserted rows.
  std::vector<WriteCheck> policies;
  std::vector<WriteCheck> existing;
  std::vector<WriteCheck> updated;
  std::vector<WriteCheck> removed;
  std::vector<WriteCheck> inserted;
};

struct WriteStatement;

/// Partitions of the written table, and its place among another's.
struct PartitionedWrite {
  /// Bound of a partition that the statement names itself: its new rows must be within it, and
  /// within the bounds of its ancestors.
  struct WithinBound {
    std::shared_ptr<const PartitionMap> map;
    std::size_t place = 0;
    std::vector<ExprPtr> key;
    TablePtr parent;  ///< keeps the bounds
    std::vector<TablePtr> siblings;
  };
  std::vector<WithinBound> bounds;
  /// Table as which errors show rows of a partition that is written through a partitioned table,
  /// and the places of its columns (PartitionTree::Leaf::columns).
  TablePtr shown_as;
  std::vector<std::size_t> shown_places;
  /// Partitions of a partitioned table; or, for other statements than INSERT, a table's heirs.
  PartitionTreePtr tree;
  /// Key over the new row, by node of the tree.
  std::vector<std::vector<ExprPtr>> keys;
  /// Statements of the leaves, for given rows: updates and removals, and inserts.
  std::vector<Planned<WriteStatement>> leaf_changes;
  std::vector<Planned<WriteStatement>> leaf_inserts;
};

/// Triggers of the table that the statement may fire, in order.
struct FiredTriggers {
  struct Fired {
    const Trigger* trigger = nullptr;  ///< of the statement's table
    TriggerEvent event = TriggerEvent::insert;
    ExprPtr when;  ///< over the rows that are put in the slots below; null: always
  };
  std::vector<Fired> fired;
  Slot old_slot = 0;
  Slot new_slot = 0;
  /// True if a trigger may change other columns of an updated row than its assignments do.
  bool may_assign = false;
};

/// Expressions of the table's indexes over a row, old or new.
struct WrittenIndexes {
  struct Expressions {
    std::vector<ExprPtr> columns;  ///< null for plain columns
    ExprPtr predicate;
  };
  /// By index of the table; empty if no index has expressions or a predicate.
  std::vector<Expressions> expressions;
  /// First slot of the row.
  Slot first_slot = 0;
};

/// INSERT, UPDATE, DELETE or MERGE after binding.
struct WriteStatement {
  WriteKind kind = WriteKind::insert;
  TablePtr table;
  std::string alias;
  std::size_t access = 0;  ///< the binder's note of the table
  /// Column i of the row (old one for UPDATE and DELETE, new one for INSERT) is in slot + i.
  Slot first_slot = 0;
  /// UPDATE, MERGE: column i of the new row is in slot + i. Checks and RETURNING read the new row.
  Slot new_first_slot = 0;

  WrittenView view;
  InsertParts insert;
  WrittenRows rows;
  /// UPDATE: SET. Conflict: DO UPDATE SET. MERGE: the columns that any action sets; the values are
  /// the actions' own.
  std::vector<Assignment> assignments;
  std::vector<Assignment> generated;       ///< stored generated columns, computed from the new row
  std::vector<Assignment> needed_virtual;  ///< virtual ones that are NOT NULL
  /// Assigned or generated columns of keys that a foreign key can refer to.
  std::vector<std::size_t> assigned_key_columns;
  /// MERGE alone.
  std::optional<MergeParts> merge;
  /// MERGE, and its partitions' statements.
  RowChanges merge_changes;

  WriteChecks checks;
  PartitionedWrite partitions;
  WrittenIndexes indexes;
  FiredTriggers triggers;

  std::vector<OutputTarget> returning;
  std::vector<Slot> outer_slots;
  std::vector<std::shared_ptr<BoundCte>> eager;

  [[nodiscard]] bool has_index_expressions() const noexcept { return !indexes.expressions.empty(); }
  /// Returns the first slot of the written row; DELETE's is the old one.
  [[nodiscard]] Slot written_slot() const noexcept {
    return kind == WriteKind::update || kind == WriteKind::merge ? new_first_slot : first_slot;
  }
  [[nodiscard]] RowChanges changes() const noexcept {
    switch (kind) {
      case WriteKind::insert:
        return {.inserts = true, .updates = insert.conflict.kind == ConflictAction::Kind::update};
      case WriteKind::update:
        return {.updates = true};
      case WriteKind::delete_:
        return {.removes = true};
      case WriteKind::merge:
        break;
    }
    return merge_changes;
  }
  [[nodiscard]] bool does(TriggerEvent event) const noexcept {
    const RowChanges all = changes();
    if (event == TriggerEvent::insert) return all.inserts;
    return event == TriggerEvent::update ? all.updates : all.removes;
  }
};

/// One WITH query, shared by its references.
struct BoundCte {
  std::string name;
  std::vector<OutputTarget> columns;  ///< names and types as the references see them
  std::unique_ptr<Query> query;       ///< of a recursive one, the first part
  std::unique_ptr<Query> recursive;
  bool union_all = true;
  std::unique_ptr<WriteStatement> write;
  bool bound = false;
  bool in_recursive_term = false;
  bool is_materialized = false;  ///< AS MATERIALIZED
  int references = 0;            ///< to its result
  std::size_t made_columns = 0;  ///< the last ones, by SEARCH and CYCLE
  int recursive_references = 0;
  std::vector<Slot> outer_slots;
  /// Slot that stands for a recursive query's working table. A reader of the working table depends
  /// on this slot, so that no step above it keeps rows from one round to the next.
  Slot round_slot = 0;
  /// WITH queries of a recursive one's UNION itself that read slots outside.
  std::vector<std::shared_ptr<BoundCte>> correlated;
  /// Set by the planner (execution/steps/cte.h); null before.
  std::shared_ptr<Cte> planned;
};

}  // namespace swizzle::sql
