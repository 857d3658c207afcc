#pragma once

#include <limits>
#include <map>
#include <vector>

#include "sql-lite-frontend/execution/access/lock_rows.h"
#include "sql-lite-frontend/execution/access/partition_scan.h"
#include "sql-lite-frontend/execution/access/range_access.h"
#include "sql-lite-frontend/execution/grouping/aggregate.h"
#include "sql-lite-frontend/execution/grouping/window.h"
#include "sql-lite-frontend/execution/joins/hash_join.h"
#include "sql-lite-frontend/execution/joins/join_operators.h"
#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/execution/steps/cte.h"
#include "sql-lite-frontend/plan/access_path.h"
#include "sql-lite-frontend/plan/selectivity.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

class WriteOperator;

/// Returns the number of rows of a join with so many matching pairs.
double joined_rows(JoinKind kind, double outer_rows, double matches);
/// Takes the equalities between the two sides as hash keys out of the conditions.
HashJoin::Keys take_hash_keys(std::vector<ExprPtr>& conditions, std::span<const Slot> probe,
                              std::span<const Slot> build, Binder& binder);

/// Decides how a bound statement finds its rows: where conditions are checked, access paths from
/// the indexes, join order and method by expected cost, and the order of the steps above. Takes
/// expressions out of the bound statement. Its functions are in files by concern: planner.cpp
/// (queries and writes), set_operation.cpp, set_calls.cpp, windows.cpp, row_locks.cpp,
/// pull_up.cpp (simple subqueries), from_clause.cpp (relations), join_order.cpp, join_method.cpp,
/// merge_join.cpp, semi_join.cpp, push_down.cpp.
class Planner {
 public:
  using Conditions = std::vector<ExprPtr>;

  explicit Planner(Binder& binder) : binder_(binder), paths_(binder, known_) {}
  /// Plans with the execution of the future plan, which does not run yet.
  Planner(Binder& binder, Execution& execution) : Planner(binder) { known_.foresee_by(execution); }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Drops the select lists of EXISTS subqueries, which are not read. Call before anything is
  /// planned.
  void drop_unread_targets();
  /// Returns a plan whose rows are in `query.output_slots()`.
  PlanPtr plan_query(Query& query);
  /// The same for a cursor: if its rows are those of one table, each has that row's identity.
  PlanPtr plan_cursor(Query& query);
  /// Returns a plan that runs when opened; its rows are those of RETURNING.
  PlanPtr plan_write(std::unique_ptr<WriteStatement> write);
  /// True if another index would be better for some values of parameters that are not known.
  [[nodiscard]] bool guesses_parameters() const noexcept { return paths_.guesses_parameters(); }
  /// Plans the subqueries of expressions that were bound. Call last.
  void plan_pending();
  /// Returns the last step of plan_write().
  [[nodiscard]] WriteOperator* last_write() const noexcept { return last_write_; }

 private:
  struct Relation {
    FromNode* node;
    std::vector<Slot> slots;
    std::uint64_t needs = 0;  ///< relations that a lateral one reads
  };

  /// A subquery of WHERE as a join: decides which rows of the FROM clause stay, and adds no
  /// columns.
  struct SemiJoin {
    JoinKind kind = JoinKind::semi;  ///< or anti
    FromPtr node;
    std::vector<ExprPtr> conditions;
    std::vector<Slot> reads;  ///< of the FROM clause
  };

  /// Returns the cost to add to a step: 0, unless the enable_… setting of its kind is off.
  [[nodiscard]] double penalty(std::string_view setting) const;
  [[nodiscard]] bool is_allowed(std::string_view setting) const {
    return binder_.names().planner_allows(setting);
  }

  // planner.cpp
  PlanPtr plan_select(Query& query);
  PlanPtr plan_sample(Query& query);
  PlanPtr plan_merge_rows(WriteStatement& write);
  static FromPtr behind_barrier(FromPtr rows, const FromTable& table, Conditions barrier);
  static FromTable* table_in(FromNode& node);
  static bool is_secured_table(const Query& query);
  PlanPtr add_grouping(PlanPtr plan, Query& query, Aggregate::Rows rows);
  PlanPtr add_distinct(PlanPtr plan, Query& query, Aggregate::Rows rows);
  PlanPtr sorted_by_group(PlanPtr plan, std::vector<GroupKey>& keys);
  PlanPtr without_duplicates(PlanPtr plan, std::vector<ExprPtr> keys, double rows);
  PlanPtr add_limit(PlanPtr plan, ExprPtr count, ExprPtr offset, std::vector<ExprPtr> ties);
  PlanPtr sorted(PlanPtr plan, std::vector<SortKey> keys, double wanted);
  bool use_order_for_extreme(Query& query, std::vector<SortKey>& order);
  PlanPtr plan_extremes(Query& query);  // extremes.cpp
  std::vector<SortKey> group_order(Query& query);
  WantedOrder grouping_order(const std::vector<SortKey>& keys) const;
  /// Plans the WITH query, unless it is planned.
  Cte& plan_cte(BoundCte& bound);
  /// Returns the form of WITH queries that steps read; they may be planned later.
  static std::shared_ptr<Cte> step_of(BoundCte& bound);
  static std::vector<std::shared_ptr<Cte>> steps_of(
      const std::vector<std::shared_ptr<BoundCte>>& bound);
  PlanPtr with_eager(PlanPtr plan, std::vector<std::shared_ptr<BoundCte>>& eager,
                     const std::vector<std::shared_ptr<BoundCte>>& correlated);

  // set_operation.cpp, windows.cpp, set_calls.cpp
  PlanPtr plan_set_operation(Query& query);
  static bool begins_with(std::span<const SortKey> present, std::span<const SortKey> wanted);
  static std::vector<SortKey> window_order(const Query& query);
  static double rows_wanted_of(const WindowDefinition& window);
  PlanPtr add_windows(PlanPtr plan, std::vector<WindowDefinition> windows,
                      std::vector<SortKey>& present);
  static bool push_past_windows(Query& query, const Expr& condition);
  static PlanPtr add_sets(PlanPtr plan, std::vector<SetItem> items);

  // row_locks.cpp
  /// Row locks above a query, and the conditions to check again after locking.
  struct LockPlan {
    std::vector<std::pair<const RowLock*, Slot>> tables;  ///< by their first slots
    std::vector<LockRows::Recheck> rechecks;
    std::vector<const Query*> queries;  ///< whose targets each computes, or null
    [[nodiscard]] bool empty() const noexcept { return tables.empty(); }
  };
  LockPlan lock_plan(Query& query);
  void collect_locks(const FromNode& node, const RowLock& lock, std::span<const std::string> of,
                     LockPlan& locks);
  void collect_rechecks(FromNode& node, LockPlan& locks);
  PlanPtr add_locks(PlanPtr plan, LockPlan locks);

  // pull_up.cpp
  [[nodiscard]] bool may_pull_up(const Query& query) const;
  [[nodiscard]] std::vector<OutputTarget*> computed_columns(Query& query) const;
  bool pull_up_item(std::vector<FromPtr>& items, std::size_t place, Conditions& conditions,
                    std::vector<ComputedSlot>& computed);
  void pull_up_nullable(FromJoin& join);
  /// Replaces simple subqueries, and inner joins, by their tables and conditions. Returns the
  /// columns to compute above the join of all items.
  std::vector<ComputedSlot> pull_up(std::vector<FromPtr>& items, Conditions& conditions);

  // from_clause.cpp
  PlanPtr plan_from(std::vector<FromPtr>& items, Conditions conditions, WantedOrder* order);
  PlanPtr plan_items(std::vector<FromPtr>& items, Conditions conditions, WantedOrder* order);
  PlanPtr plan_node(FromNode& node, Conditions& conditions, WantedOrder* order);
  PlanPtr plan_table(FromTable& table, Conditions& conditions, WantedOrder* order);
  std::unique_ptr<TableAccess> table_access(FromTable& table, Conditions& conditions,
                                            WantedOrder* order,
                                            std::vector<TableAccess::Wanted> wanted,
                                            AccessPaths::Identity identity);
  [[nodiscard]] std::vector<TableAccess::Wanted> wanted_columns(const FromTable& table) const;
  PlanPtr with_identity(std::unique_ptr<TableAccess> access, const FromTable& table);
  PlanPtr plan_computed(FromComputed& computed, Conditions& conditions);
  /// Cost of computing all rows of a system relation, and of those with a key.
  static constexpr double kCostOfComputed = 20;
  static constexpr double kCostOfComputedKey = 1;
  /// A condition's value for a key of a system relation.
  struct AskedKey {
    std::size_t position;
    Expr* value;
    bool reads_rows;  ///< of other relations
  };
  static std::optional<AskedKey> asked_key(const FromComputed& computed, Expr& condition);
  PlanPtr plan_cte_scan(FromCte& reference);
  PlanPtr plan_outer_join(FromJoin& join, Conditions& conditions);
  static PlanPtr computing(PlanPtr plan, std::vector<ComputedSlot> columns);
  PlanPtr filtered(PlanPtr plan, Conditions conditions);
  PlanPtr gated(PlanPtr plan, Conditions constant);
  void learn(const FromNode& node);
  void learn_table(const FromTable& from);
  static void restrict_by_disjunctions(std::span<const Relation> relations, Conditions& conditions);
  void flatten(FromPtr& item, std::vector<Relation>& relations, Conditions& conditions);
  void collect_slots(const FromNode& node, std::vector<Slot>& slots) const;
  static std::vector<Slot> slots_of(std::span<const Relation> relations);
  std::vector<Slot> outer_slots_of(const FromNode& node) const;
  [[nodiscard]] bool is_identified(const FromTable& table) const;
  /// True if the statement reads the hidden ids of the table's rows.
  [[nodiscard]] bool shows_row_ids(const FromTable& table) const;
  [[nodiscard]] bool needs_identity(const FromTable& table) const;

  // partitions.cpp
  PlanPtr plan_partitions(FromTable& table, Conditions& conditions, WantedOrder* order);
  static std::optional<SortDirection> order_of_leaves(const FromTable& table,
                                                      std::span<const std::size_t> leaves,
                                                      const std::vector<SortKey>& keys);
  struct PartsEstimate {
    double rows;
    double cost;
  };
  PlanPtr scan_of_parts(const FromTable& table, std::vector<PartitionScan::Part> parts,
                        std::unique_ptr<PartitionPruner> pruner, std::optional<Slot> key_slot,
                        PartsEstimate estimate);
  PlanPtr plan_leaf(const FromTable& table, std::size_t leaf, std::string alias,
                    Conditions conditions, WantedOrder* order, TableAccess*& access);

  // join_method.cpp
  /// Materializes rows that are read repeatedly without changing.
  static std::unique_ptr<Materialize> kept_rows(PlanPtr plan);
  PlanPtr add_relation(PlanPtr plan, Relation& relation, Conditions usable, JoinKind kind);
  std::vector<Slot> slots_read_outside(const Relation& relation, const Conditions& local) const;
  PlanPtr hash_join(PlanPtr plan, PlanPtr inner, HashJoin::Keys keys, Conditions rest,
                    JoinKind kind, double rows);
  PlanPtr plan_alone(Relation& relation, Conditions conditions);

  // merge_join.cpp
  PlanPtr merge_join(JoinKind kind, Relation& outer, Relation& inner, Conditions& conditions,
                     Conditions& of_outer, std::span<const Slot> all);

  // join_order.cpp
  class JoinOrder;
  PlanPtr join_relations(std::vector<Relation>& relations, Conditions& conditions,
                         std::vector<SemiJoin>& semi_joins, WantedOrder* order);
  double rows_alone(const FromNode& node) const;

  // semi_join.cpp
  std::vector<SemiJoin> take_semi_joins(std::vector<FromPtr>& items,
                                        std::vector<Relation>& relations, Conditions& conditions,
                                        const WantedOrder* order);
  std::optional<SemiJoin> as_semi_join(Expr& condition, std::span<const Slot> all,
                                       const std::vector<FromPtr>& items);
  bool is_never_null(const Expr& expr, std::span<const Slot> certain) const;
  bool join_as_relation(SemiJoin& join, std::vector<FromPtr>& items,
                        std::vector<Relation>& relations, const Conditions& conditions,
                        const WantedOrder* order);
  double expected_rows(const FromNode& node, std::span<const ExprPtr> conditions);
  PlanPtr merge_semi_join(Relation& relation, std::vector<SemiJoin>& joins, Conditions& conditions);
  PlanPtr add_semi_joins(PlanPtr plan, std::vector<SemiJoin>& joins,
                         std::span<const Slot> available, WantedOrder* order);
  static Conditions take_costly(Conditions& local, std::span<const Slot> inner, double inner_rows,
                                double candidates);

  // push_down.cpp
  static void propagate_constants(Conditions& conditions, std::span<const Slot> local);
  void push_into(FromNode& node, Conditions& conditions);
  bool push_into(Query& query, ExprPtr& condition);
  static ExprPtr in_terms_of(const Expr& condition, const Query& query);
  bool push_into_select(Query& query, ExprPtr& condition);
  bool push_into_set_operation(Query& query, ExprPtr& condition);
  void reduce_outer_joins(FromNode& node, const Conditions& conditions);

  Binder& binder_;
  ColumnKnowledge known_;
  AccessPaths paths_;
  WriteOperator* last_write_ = nullptr;
  /// Accesses of tables whose rows are locked or written, by first slot.
  std::vector<std::pair<Slot, TableAccess*>> accesses_;
  /// First slots of tables whose rows need an identity.
  std::vector<Slot> identified_;
  /// Slot for the partitions' names of the table that is being written.
  std::optional<Slot> written_slot_;
  /// Targets that the queries below a lock compute.
  std::map<const Query*, std::vector<LockRows::Recomputed>> computed_targets_;
};

}  // namespace swizzle::sql
