// FOR UPDATE and its weaker forms: rows that are locked above a query, and the conditions that are
// evaluated again after the lock.
#include <algorithm>

#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/expected.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {

/// The tables that a lock is about, those of subqueries among them that pass their rows on.
void Planner::collect_locks(const FromNode& node, const RowLock& lock,
                            std::span<const std::string> of, LockPlan& locks) {
  check_stack();
  const auto is_meant = [&](const std::string& alias) {
    return of.empty() || std::ranges::find(of, alias) != of.end();
  };
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    if (!is_meant(table->alias)) return;
    identified_.push_back(table->first_slot);
    locks.tables.emplace_back(&lock, table->first_slot);
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    collect_locks(*join->left, lock, of, locks);
    collect_locks(*join->right, lock, of, locks);
  } else if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    if (!is_meant(subquery->alias) || !subquery->query->passes_rows_on()) return;
    for (const FromPtr& item : subquery->query->from) collect_locks(*item, lock, {}, locks);
  }
}

void Planner::collect_rechecks(FromNode& node, LockPlan& locks) {
  check_stack();
  if (auto* join = std::get_if<FromJoin>(&node.node)) {
    // Rows of an outer join's nullable side are not locked, so they need no recheck.
    if (join->kind == JoinKind::full) return;
    collect_rechecks(*join->left, locks);
    if (join->kind == JoinKind::inner) collect_rechecks(*join->right, locks);
    if (join->recheck.empty()) return;
    LockRows::Recheck recheck{std::move(join->recheck), join->kind == JoinKind::left, {}, {}};
    if (recheck.is_outer_join) collect_slots(*join->right, recheck.other_side);
    locks.rechecks.push_back(std::move(recheck));
    locks.queries.push_back(nullptr);
  } else if (auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    Query& query = *subquery->query;
    if (!query.passes_rows_on()) return;
    for (const FromPtr& item : query.from) collect_rechecks(*item, locks);
    locks.rechecks.push_back({std::move(query.recheck), false, {}, {}});
    locks.queries.push_back(&query);
  }
}

/// Pre: nothing of the query is planned yet.
Planner::LockPlan Planner::lock_plan(Query& query) {
  LockPlan locks;
  for (const RowLock& lock : query.locks) {
    for (const FromPtr& item : query.from) collect_locks(*item, lock, lock.of, locks);
  }
  if (locks.empty()) return locks;
  for (const FromPtr& item : query.from) collect_rechecks(*item, locks);
  locks.rechecks.push_back({std::move(query.recheck), false, {}, {}});
  locks.queries.push_back(&query);
  for (const Query* below : locks.queries) {
    if (below != nullptr) computed_targets_[below];
  }
  return locks;
}

PlanPtr Planner::add_locks(PlanPtr plan, LockPlan locks) {
  if (locks.empty()) return plan;
  std::vector<LockRows::Target> targets;
  for (const auto& [lock, slot] : locks.tables) {
    for (const auto& [first_slot, access] : accesses_) {
      if (first_slot != slot) continue;
      targets.push_back({access, lock->mode, lock->wait});
      access->set_wait(lock->wait);
    }
  }
  for (std::size_t i = 0; i < locks.rechecks.size(); ++i) {
    if (locks.queries[i] == nullptr) continue;
    locks.rechecks[i].recomputed = std::move(computed_targets_.extract(locks.queries[i]).mapped());
  }
  const Expected input{*plan};
  return over(
      std::make_unique<LockRows>(std::move(plan), std::move(targets), std::move(locks.rechecks)),
      input, input.rows * cost::kLookup);
}

}  // namespace swizzle::sql
