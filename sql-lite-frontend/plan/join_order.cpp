// Order of joins: all orders up to kExhaustive relations, by dynamic programming over the joined
// sets; beyond that the cheapest next step each time.
#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/leakproof.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Whether a semi-join is better asked later: when a join to come leaves far fewer rows.
bool is_too_early(std::span<const double> rows_along, std::size_t steps) {
  constexpr double kFarFewer = 0.5;
  const auto later = rows_along.subspan(steps);
  return !later.empty() && std::ranges::min(later) < rows_along[steps - 1] * kFarFewer;
}

}  // namespace

class Planner::JoinOrder {
 public:
  static constexpr std::size_t kExhaustive = 10;

  JoinOrder(Planner& planner, std::span<const Relation> relations,
            std::span<const ExprPtr> conditions);
  /// Places in `relations`, in the order in which they are to be joined.
  std::vector<std::size_t> find();
  /// How many rows are expected after each step of an order.
  std::vector<double> rows_along(std::span<const std::size_t> order);

 private:
  using Set = std::uint64_t;
  struct Condition {
    Expr* expr;
    Set reads;
    double share;
    bool can_hash;
  };
  /// The best way to have joined a set.
  struct State {
    double rows = 0;
    double cost = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> order;
  };
  struct Alone {
    double rows;
    double cost;
  };
  /// How a relation is found for given values of others.
  struct Lookup {
    double cost = std::numeric_limits<double>::infinity();
    bool one_row = false;
  };

  [[nodiscard]] Alone alone(std::size_t relation) const;
  Lookup lookup(std::size_t relation, Set available);
  [[nodiscard]] Lookup lookup_computed(const FromComputed& computed, Set self, Set available) const;
  State extend(const State& from, Set joined, std::size_t relation);
  [[nodiscard]] bool may_follow(Set joined, std::size_t relation) const {
    return (joined & Set{1} << relation) == 0 && (relations_[relation].needs & ~joined) == 0;
  }
  std::vector<std::size_t> exhaustive();
  std::vector<std::size_t> greedy();

  Planner& planner_;
  const double hash_penalty_ = planner_.penalty("enable_hashjoin");
  const double loop_penalty_ = planner_.penalty("enable_nestloop");
  std::span<const Relation> relations_;
  std::vector<Condition> conditions_;
  std::vector<Alone> alone_;
  std::map<std::pair<std::size_t, Set>, Lookup> lookups_;
};

Planner::JoinOrder::JoinOrder(Planner& planner, std::span<const Relation> relations,
                              std::span<const ExprPtr> conditions)
    : planner_(planner), relations_(relations) {
  for (const ExprPtr& expr : conditions) {
    Set reads = 0;
    for (std::size_t i = 0; i < relations.size(); ++i) {
      if (reads_any(*expr, relations[i].slots)) reads |= Set{1} << i;
    }
    conditions_.push_back({expr.get(), reads, selectivity(*expr, planner.known_),
                           as_equality(*expr).left != nullptr});
  }
  for (std::size_t i = 0; i < relations.size(); ++i) alone_.push_back(alone(i));
}

double Planner::rows_alone(const FromNode& node) const {
  check_stack();
  if (const auto* table = std::get_if<FromTable>(&node.node)) return expected_rows_of(*table);
  if (std::holds_alternative<FromComputed>(node.node)) return 200;
  if (std::holds_alternative<FromFunctions>(node.node)) return 1000;
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    return std::max(rows_alone(*join->left), rows_alone(*join->right));
  }
  if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    const Query& query = *subquery->query;
    if (query.body == Query::Body::values) return static_cast<double>(query.rows.size());
    if (query.is_one_group()) return 1;
    double rows = 1;
    for (const FromPtr& item : query.from) rows = std::max(rows, rows_alone(*item));
    rows = std::max(1.0, rows * selectivity(query.where, known_));
    const auto* limit = dynamic_cast<const ConstantExpr*>(query.limit.get());
    if (limit != nullptr && !limit->value().is_null()) {
      rows = std::min(rows, std::max(1.0, static_cast<double>(limit->value().as_int8())));
    }
    return query.grouped ? std::max(1.0, rows / 10) : rows;
  }
  return 1000;
}

Planner::JoinOrder::Alone Planner::JoinOrder::alone(std::size_t relation) const {
  std::vector<Expr*> local;
  for (const Condition& condition : conditions_) {
    if (condition.reads == Set{1} << relation) local.push_back(condition.expr);
  }
  const FromNode& node = *relations_[relation].node;
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    const AccessPath path =
        planner_.paths_.best(*table, local, nullptr, AccessPaths::Identity::none);
    return {std::max(1.0, path.rows), path.cost};
  }
  const double rows = planner_.rows_alone(node);
  const double share = selectivity(std::span<Expr* const>{local}, planner_.known_);
  return {std::max(1.0, rows * share), rows * cost::kRow};
}

Planner::JoinOrder::Lookup Planner::JoinOrder::lookup(std::size_t relation, Set available) {
  if (const auto* computed = std::get_if<FromComputed>(&relations_[relation].node->node))
    return lookup_computed(*computed, Set{1} << relation, available);
  const FromTable* const table = table_in(*relations_[relation].node);
  if (table == nullptr) return {};
  const bool is_secured = !std::holds_alternative<FromTable>(relations_[relation].node->node);
  const Set self = Set{1} << relation;
  // The look-up depends only on which other relations the usable conditions read.
  Set reads = 0;
  for (const Condition& condition : conditions_) {
    if ((condition.reads & self) != 0 && (condition.reads & ~(available | self)) == 0) {
      reads |= condition.reads;
    }
  }
  if ((reads & ~self) == 0) return {};
  const auto [at, is_new] = lookups_.try_emplace({relation, reads});
  if (!is_new) return at->second;
  std::vector<Expr*> usable;
  std::vector<bool> reads_others;
  for (const Condition& condition : conditions_) {
    if ((condition.reads & self) == 0 || (condition.reads & ~reads) != 0) continue;
    // A policy's barrier keeps it out.
    if (is_secured && !is_leakproof(*condition.expr)) return {};
    usable.push_back(condition.expr);
    reads_others.push_back(condition.reads != self);
  }
  const AccessPath path =
      planner_.paths_.best(*table, usable, nullptr, AccessPaths::Identity::none);
  const bool uses_others =
      std::ranges::any_of(path.answered(), [&](std::size_t i) -> bool { return reads_others[i]; });
  if (uses_others) at->second = {path.cost, path.one_row};
  return at->second;
}

/// A system relation that is asked by a value of another one.
Planner::JoinOrder::Lookup Planner::JoinOrder::lookup_computed(const FromComputed& computed,
                                                               Set self, Set available) const {
  for (const Condition& condition : conditions_) {
    if ((condition.reads & self) == 0 || condition.reads == self ||
        (condition.reads & ~(available | self)) != 0)
      continue;
    if (const auto asked = asked_key(computed, *condition.expr)) {
      const bool by_number = computed.table->computed->columns[asked->position].name == "oid";
      return {kCostOfComputedKey, by_number};
    }
  }
  return {};
}

Planner::JoinOrder::State Planner::JoinOrder::extend(const State& from, Set joined,
                                                     std::size_t relation) {
  const Set self = Set{1} << relation;
  double share = 1;
  bool can_hash = false;
  for (const Condition& condition : conditions_) {
    const bool joins = (condition.reads & self) != 0 && condition.reads != self &&
                       (condition.reads & ~(joined | self)) == 0;
    if (!joins) continue;
    share *= condition.share;
    can_hash |= condition.can_hash;
  }
  const Alone& other = alone_[relation];
  const Lookup found = lookup(relation, joined);
  if (found.one_row) share = std::min(share, 1 / other.rows);
  State to;
  to.rows = std::max(1.0, from.rows * other.rows * share);
  const double small = std::min(from.rows, other.rows);
  const double large = std::max(from.rows, other.rows);
  const double hashing =
      other.cost + small * cost::kHashBuild + large * cost::kHashProbe + hash_penalty_;
  const double looping = other.cost + from.rows * other.rows * cost::kCondition + loop_penalty_;
  double step = can_hash ? std::min(hashing, looping) : looping;
  if (relations_[relation].needs != 0) step = from.rows * other.cost;
  step = std::min(step, from.rows * found.cost + loop_penalty_);
  to.cost = from.cost + step + to.rows * cost::kCondition;
  to.order = from.order;
  to.order.push_back(relation);
  return to;
}

std::vector<std::size_t> Planner::JoinOrder::exhaustive() {
  const std::size_t count = relations_.size();
  const Set all = (Set{1} << count) - 1;
  std::vector<State> best(all + 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (relations_[i].needs == 0) best[Set{1} << i] = {alone_[i].rows, alone_[i].cost, {i}};
  }
  for (Set joined = 1; joined < all; ++joined) {
    if (best[joined].order.empty()) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!may_follow(joined, i)) continue;
      State next = extend(best[joined], joined, i);
      State& known = best[joined | Set{1} << i];
      if (next.cost < known.cost) known = std::move(next);
    }
  }
  return best[all].order;
}

std::vector<std::size_t> Planner::JoinOrder::greedy() {
  State state;
  Set joined = 0;
  for (std::size_t step = 0; step < relations_.size(); ++step) {
    State best;
    for (std::size_t i = 0; i < relations_.size(); ++i) {
      if (!may_follow(joined, i)) continue;
      State next =
          step == 0 ? State{alone_[i].rows, alone_[i].rows, {i}} : extend(state, joined, i);
      // The next step pays for the rows that it is given.
      next.cost += next.rows * cost::kHashProbe;
      if (next.cost < best.cost) best = std::move(next);
    }
    if (best.order.empty()) return {};
    best.cost -= best.rows * cost::kHashProbe;
    joined |= Set{1} << best.order.back();
    state = std::move(best);
  }
  return state.order;
}

std::vector<std::size_t> Planner::JoinOrder::find() {
  std::vector<std::size_t> order = relations_.size() <= kExhaustive ? exhaustive() : greedy();
  if (order.size() != relations_.size()) {
    throw SqlError{sqlstate::feature_not_supported, "circular LATERAL references"};
  }
  return order;
}

std::vector<double> Planner::JoinOrder::rows_along(std::span<const std::size_t> order) {
  State state{alone_[order[0]].rows, alone_[order[0]].cost, {order[0]}};
  Set joined = Set{1} << order[0];
  std::vector<double> rows{state.rows};
  for (const std::size_t relation : order.subspan(1)) {
    state = extend(state, joined, relation);
    joined |= Set{1} << relation;
    rows.push_back(state.rows);
  }
  return rows;
}

PlanPtr Planner::join_relations(std::vector<Relation>& relations, Conditions& conditions,
                                std::vector<SemiJoin>& semi_joins, WantedOrder* order) {
  const std::vector<Slot> all = slots_of(relations);
  // Conditions that refer to no relation are decided before any is read.
  Conditions constant =
      take_if(conditions, [&](Expr& condition) { return !reads_any(condition, all); });
  std::vector<std::size_t> sequence{0};
  std::vector<double> rows_along{0};
  if (relations.size() > 1) {
    JoinOrder joins{*this, relations, conditions};
    sequence = joins.find();
    rows_along = joins.rows_along(sequence);
  }

  PlanPtr plan;
  std::vector<Slot> available;
  std::span<const std::size_t> left = sequence;
  if (sequence.size() > 1) {
    Relation& first = relations[sequence[0]];
    Relation& second = relations[sequence[1]];
    Conditions none;
    plan = merge_join(JoinKind::inner, first, second, conditions, none, all);
    if (plan) {
      available = with(first.slots, second.slots);
      if (!is_too_early(rows_along, 2)) {
        plan = add_semi_joins(std::move(plan), semi_joins, available, order);
      }
      left = left.subspan(2);
    }
  }
  if (sequence.size() == 1 && (order == nullptr || order->keys == nullptr)) {
    plan = merge_semi_join(relations[0], semi_joins, conditions);
    if (plan) {
      plan = add_semi_joins(std::move(plan), semi_joins, relations[0].slots, order);
      left = {};
    }
  }
  std::size_t steps = sequence.size() - left.size();
  for (const std::size_t place : left) {
    Relation& relation = relations[place];
    const std::vector<Slot> reach = with(available, relation.slots);
    Conditions usable = take_if(conditions, [&](Expr& condition) {
      return reads_any(condition, relation.slots) && reads_only(condition, reach, all);
    });
    if (!plan) {
      plan = plan_node(*relation.node, usable, order);
      plan = filtered(std::move(plan), std::move(usable));
    } else {
      plan = add_relation(std::move(plan), relation, std::move(usable), JoinKind::inner);
    }
    available = reach;
    if (!is_too_early(rows_along, ++steps)) {
      plan = add_semi_joins(std::move(plan), semi_joins, available, order);
    }
  }
  plan = filtered(std::move(plan), std::move(conditions));
  return gated(std::move(plan), std::move(constant));
}

}  // namespace swizzle::sql
