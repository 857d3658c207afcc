#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/query.h"

namespace swizzle::sql {

/// A column of a view that was read: the binder's note of the view, and the column's position.
struct ColumnNote {
  std::size_t access = 0;
  std::size_t position = 0;
};

struct ScopeColumn {
  std::string name;
  TypeId type = TypeId::none;
  std::int32_t typmod = kNoTypmod;
  Slot slot = 0;
  SlotExpr::Origin origin;
  bool computed =
      false;  ///< a computed column of a view that is written through: it cannot be read
  std::optional<ColumnNote> note = std::nullopt;
  bool hidden_from_star = false;  ///< of SEARCH or CYCLE, inside the WITH query that has it
};

/// One table alias of a FROM clause, with its columns.
struct ScopeItem {
  std::string alias;
  std::string schema;  ///< of a table under its own name: schema.table.column is allowed then
  std::vector<ScopeColumn> columns;
  /// Columns of the item that an unqualified name or * finds. Columns merged by USING are found in
  /// the join's own, nameless item.
  std::vector<bool> visible;
  /// False for an item inside a join that has an alias of its own.
  bool named = true;
  /// False if an expression cannot refer to the item, as a FROM item without LATERAL to its
  /// siblings; the error is "invalid reference to FROM-clause entry".
  bool reachable = true;
  /// False for the left side of a RIGHT or FULL join, while its right side is bound.
  bool lateral_allowed = true;
  /// True for a join as a whole, whose columns are also those of other items.
  bool is_join = false;
  /// True on a side of an outer join in which a row of the other side may have no partner.
  bool may_be_absent = false;
  /// True for OLD and NEW in RETURNING, which need qualified names.
  bool is_version = false;
  TablePtr table;
  /// Composite type of the item's rows, if it is a relation or a function that returns such a type.
  TypeId row_type = TypeId::none;
  /// True for a single function without ORDINALITY that returns a value of no composite type: its
  /// alias means that value, and not a row with it.
  bool is_value = false;
  /// Columns of the whole row, if a view's names mean fewer columns or others; empty: `columns`.
  std::vector<ScopeColumn> whole_row;
  /// Slot with the row's partition, for a partitioned table.
  std::optional<Slot> partition_slot;
  /// Slot with the row's hidden id, if the table's rows have one.
  std::optional<Slot> row_id_slot;
  /// True for the rows that a statement replaces or removes, in its RETURNING: xmax is not 0.
  bool is_ended = false;

  void show_all() { visible.assign(columns.size(), true); }
};

/// The clause in which an expression stands. It determines the clause's name in PostgreSQL's
/// errors, and what is allowed.
enum class Clause : std::uint8_t {
  select_list,
  from_function,
  join_on,
  where,
  group_by,
  having,
  order_by,
  distinct_on,
  limit,
  offset,
  values,
  returning,
  update_set,
  insert_target,
  check,
  column_default,
  index_expression,
  index_predicate,
  generated,
  window,
  filter,
  aggregate_argument,
  execute_argument,
  call_argument,
  alter_using,
  copy_where,
  trigger_when,
  merge_when,
  policy,
  partition_key,
  partition_bound,
  other,
};
std::string_view clause_name(Clause clause) noexcept;
/// Returns the words of the clause for "cannot use subquery in …"; empty if subqueries are allowed.
std::string_view subquery_refusal(Clause clause) noexcept;

/// Sorts the slots and removes duplicates.
void remove_repeats(std::vector<Slot>& slots);

/// Numbers of set-returning calls, and of calls with OVER, in a scope before a call's arguments are
/// bound.
struct CallsBefore {
  std::size_t sets = 0;
  std::size_t windows = 0;
};

/// The meanings of names in one query; `parent` is the scope of the enclosing query.
struct Scope {
  Scope* parent = nullptr;
  Query* query = nullptr;
  std::vector<ScopeItem> items;
  /// Items from here on must have different names. Within a join that has an alias this is the
  /// join's first item.
  std::size_t distinct_from = 0;
  std::vector<std::shared_ptr<BoundCte>> ctes;
  /// WITH queries that are not bound yet, so that they cannot be referred to.
  std::vector<std::string_view> later_ctes;
  Clause clause = Clause::other;
  /// Positions of the set-returning calls so far.
  std::vector<std::int32_t> set_locations;
  /// The same for calls with OVER.
  std::vector<std::int32_t> window_locations;
  bool in_aggregate = false;
  /// Slots of the FROM clause. In a grouped query GROUP BY must cover those that are read.
  std::vector<std::pair<Slot, Slot>> from_slots;
  /// WINDOW name AS (…), by name.
  std::vector<std::pair<std::string, const void*>> named_windows;
  /// Gets the slots that are read from an enclosing query, on every level in between.
  std::vector<Slot>* outer_slots = nullptr;
  /// In INSERT's RETURNING, the slot that tells if the row existed before; it is set when xmax is
  /// first read.
  std::optional<Slot>* was_there = nullptr;
  /// Slot of merge_action() in the RETURNING of MERGE; null elsewhere.
  std::optional<Slot>* merge_action = nullptr;
};

/// Makes a part of the scope's items unreachable while it lives.
class Unreachable {
 public:
  Unreachable(Scope& scope, std::size_t begin, std::size_t end) : scope_(scope) {
    for (std::size_t i = begin; i < end; ++i) {
      if (scope.items[i].reachable) hidden_.push_back(i);
      scope.items[i].reachable = false;
    }
  }
  Unreachable(const Unreachable&) = delete;
  Unreachable& operator=(const Unreachable&) = delete;
  ~Unreachable() {
    for (const std::size_t i : hidden_) scope_.items[i].reachable = true;
  }

 private:
  Scope& scope_;
  std::vector<std::size_t> hidden_;
};

/// Adds the slots that the expression reads, in subqueries as well.
void add_slots_read(Expr& expr, std::vector<Slot>& slots);

/// Changes a scope's clause while it lives.
class ClauseScope {
 public:
  ClauseScope(Scope& scope, Clause clause) : scope_(scope), before_(scope.clause) {
    scope_.clause = clause;
  }
  ClauseScope(const ClauseScope&) = delete;
  ClauseScope& operator=(const ClauseScope&) = delete;
  ~ClauseScope() { scope_.clause = before_; }

 private:
  Scope& scope_;
  Clause before_;
};

}  // namespace swizzle::sql
