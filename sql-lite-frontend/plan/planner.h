#pragma once

#include <vector>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/execute/lock_rows.h"
#include "sql-lite-frontend/execute/table_access.h"

namespace swizzle::sql {

class WriteOperator;

/// Decides how a bound statement finds its rows: access paths from the indexes, join order and
/// method by expected row counts, and the order of the steps above. Takes expressions out of what
/// it plans.
class Planner {
 public:
  explicit Planner(Binder& binder) : binder_(binder) {}
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The rows are in `query.output_slots()` afterwards.
  PlanPtr plan_query(Query& query);
  /// Runs when opened; its rows are those of RETURNING.
  PlanPtr plan_write(std::unique_ptr<WriteStatement> write);
  /// Everything in expressions that waits for a plan. Call last.
  void plan_pending();
  /// The step that plan_write() made last.
  [[nodiscard]] WriteOperator* last_write() const noexcept { return last_write_; }

 private:
  using Conditions = std::vector<ExprPtr>;
  struct Relation {
    FromNode* node;
    std::vector<Slot> slots;
    std::uint64_t needs = 0;  ///< relations whose rows a lateral one reads
  };
  struct AccessChoice {
    IndexBounds bounds;
    std::vector<std::size_t> consumed;  ///< conditions that the bounds answer
    double score = 0;
    double rows = 0;
    bool one_row = false;
  };
  /// An order that would save a sort.
  struct WantedOrder {
    const std::vector<SortKey>* keys = nullptr;
    bool satisfied = false;
  };

  PlanPtr plan_select(Query& query);
  PlanPtr plan_set_operation(Query& query);
  PlanPtr plan_from(std::vector<FromPtr>& items, Conditions conditions, WantedOrder* order);
  PlanPtr join_relations(std::vector<Relation>& relations, Conditions& conditions,
                         WantedOrder* order);
  PlanPtr add_relation(PlanPtr plan, Relation& relation, Conditions usable, JoinKind kind);
  PlanPtr plan_node(FromNode& node, Conditions& conditions, WantedOrder* order);
  PlanPtr plan_table(FromTable& table, Conditions& conditions, WantedOrder* order);
  PlanPtr plan_outer_join(FromJoin& join, Conditions& conditions);
  PlanPtr plan_cte_scan(FromCte& reference);
  void plan_cte(Cte& cte);
  PlanPtr with_eager(PlanPtr plan, std::vector<std::shared_ptr<Cte>>& eager,
                     const std::vector<std::shared_ptr<Cte>>& correlated);

  AccessChoice choose_access(const FromTable& table, const Conditions& conditions);
  AccessChoice match_index(const FromTable& table, const IndexAccess& index,
                           const Conditions& conditions);
  bool delivers_order(const FromTable& table, const AccessChoice& choice,
                      const std::vector<SortKey>& keys, Direction& direction) const;
  void flatten(FromPtr& item, std::vector<Relation>& relations, Conditions& conditions);
  void collect_slots(const FromNode& node, std::vector<Slot>& slots) const;
  std::vector<Slot> outer_slots_of(const FromNode& node) const;
  PlanPtr filtered(PlanPtr plan, Conditions conditions);

  Binder& binder_;
  WriteOperator* last_write_ = nullptr;
  /// Tables that rows are locked or written through, by their first slot.
  std::vector<std::pair<Slot, TableAccess*>> accesses_;
  /// First slots of tables whose rows need an identity.
  std::vector<Slot> identified_;
};

}  // namespace swizzle::sql
