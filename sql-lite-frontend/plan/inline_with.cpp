#include "sql-lite-frontend/plan/inline_with.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

using VisitExpr = std::function<void(ExprPtr&)>;

void visit_expressions(std::span<GroupKey> keys, const VisitExpr& visit) {
  for (GroupKey& key : keys) {
    if (key.expr) visit(key.expr);
  }
}

/// Calls `visit` with the expressions of the query's own clauses, without FROM.
void visit_expressions(Query& query, const VisitExpr& visit) {
  visit_each(query.where, visit);
  if (query.sample) {
    visit(query.sample->percentage);
    if (query.sample->repeatable) visit(query.sample->repeatable);
  }
  visit_expressions(query.group_keys, visit);
  for (AggregateCall& call : query.aggregates) call.for_each_expression(visit);
  visit_each(query.having, visit);
  for (WindowDefinition& window : query.windows) {
    visit_each(window.partition, visit);
    visit_each(window.order, visit);
    for (ExprPtr* offset : {&window.frame.start_offset, &window.frame.end_offset}) {
      if (*offset) visit(*offset);
    }
    for (WindowCall& call : window.calls) {
      visit_each(call.arguments, visit);
      call.aggregate.for_each_expression(visit);
    }
  }
  for (SetItem& item : query.sets) visit_each(item.arguments, visit);
  visit_each(query.distinct_on, visit);
  for (std::vector<ExprPtr>& row : query.rows) visit_each(row, visit);
  for (OutputTarget& target : query.targets) {
    if (target.expr) visit(target.expr);
  }
  visit_each(query.order, visit);
  for (ExprPtr* count : {&query.limit, &query.offset}) {
    if (*count) visit(*count);
  }
}

bool is_volatile(const Function* function) {
  return function != nullptr && function->volatility == Volatility::volatile_;
}

/// Finds out if a query has effects, or results that change from one evaluation to the next.
class EffectFinder {
 public:
  explicit EffectFinder(const std::vector<PendingSubquery>& pending) : pending_(pending) {}

  bool has_effects(Query& query) {
    check_stack();
    if (!query.locks.empty() || !query.eager.empty()) return true;
    const auto calls_volatile = [](const SetItem& item) { return is_volatile(item.function); };
    if (std::ranges::any_of(query.sets, calls_volatile)) return true;
    bool found = false;
    visit_expressions(query, [&](ExprPtr& expr) { found = found || has_effects(*expr); });
    for (const FromPtr& item : query.from) found = found || has_effects(*item);
    for (const auto* const side : {&query.left, &query.right}) {
      found = found || (*side && has_effects(**side));
    }
    return found;
  }

 private:
  bool has_effects(Expr& expr) {
    if (sql::is_volatile(expr)) return true;
    bool found = false;
    walk(expr, [&](Expr& part) {
      const auto* const subquery = dynamic_cast<const SubqueryExpr*>(&part);
      if (subquery == nullptr || found) return;
      const auto waiting = std::ranges::find(pending_, subquery, &PendingSubquery::expr);
      found = waiting == pending_.end() || !waiting->query || has_effects(*waiting->query);
    });
    return found;
  }

  bool has_effects(FromNode& node) {
    check_stack();
    if (auto* subquery = std::get_if<FromSubquery>(&node.node))
      return has_effects(*subquery->query);
    if (auto* functions = std::get_if<FromFunctions>(&node.node)) {
      return std::ranges::any_of(functions->calls, [&](FromCall& call) {
        return is_volatile(call.function) || (call.scalar && has_effects(*call.scalar)) ||
               std::ranges::any_of(call.arguments,
                                   [&](const ExprPtr& argument) { return has_effects(*argument); });
      });
    }
    // The rows of another WITH query are kept if they have to be.
    auto* join = std::get_if<FromJoin>(&node.node);
    if (join == nullptr) return false;
    return has_effects(*join->left) || has_effects(*join->right) ||
           std::ranges::any_of(join->conditions,
                               [&](const ExprPtr& condition) { return has_effects(*condition); });
  }

  const std::vector<PendingSubquery>& pending_;
};

class WithInliner {
 public:
  explicit WithInliner(std::vector<PendingSubquery>& pending)
      : pending_(pending), effects_(pending) {}

  template <class Statement>
  void run(Statement& statement) {
    visit(statement, {});
    for (PendingSubquery& waiting : pending_) {
      if (waiting.life.expired() || !waiting.query) continue;
      visit(*waiting.query, waiting.query->outer_slots.empty() ? Place{} : another_loop({}));
    }
  }

 private:
  /// Surroundings of a part of the statement.
  struct Place {
    /// Number of the loop that may run the part anew, for other rows of an enclosing query; 0: it
    /// runs once.
    std::size_t loop = 0;
    bool locks_rows = false;
  };
  Place another_loop(Place place) {
    place.loop = ++loops_;
    return place;
  }

  void visit(Query& query, Place place) {
    check_stack();
    for (const auto& weak : query.defined) {
      if (const auto cte = weak.lock()) homes_[cte.get()] = place.loop;
    }
    place.locks_rows |= !query.locks.empty();
    for (const auto& cte : query.eager) visit(*cte->write, {});
    for (const FromPtr& item : query.from) visit(*item, place);
    for (const auto* const side : {&query.left, &query.right}) {
      if (*side) visit(**side, place);
    }
    std::erase_if(query.correlated, [](const auto& cte) { return cte->query == nullptr; });
  }

  void visit(WriteStatement& write, Place place) {
    check_stack();
    for (const auto& cte : write.eager) visit(*cte->write, place);
    if (write.insert.source) visit(*write.insert.source, place);
    if (write.view.rows) visit(*write.view.rows, place);
    for (const FromPtr& item : write.rows.from) visit(*item, place);
    if (write.merge) visit(*write.merge->source, place);
  }

  void visit(FromNode& node, Place place) {
    check_stack();
    if (auto* join = std::get_if<FromJoin>(&node.node)) {
      visit(*join->left, place);
      visit(*join->right, place);
    } else if (auto* subquery = std::get_if<FromSubquery>(&node.node)) {
      Query& query = *subquery->query;
      visit(query, query.outer_slots.empty() ? place : another_loop(place));
    } else if (auto* reference = std::get_if<FromCte>(&node.node)) {
      if (reference->reads == FromCte::Reads::result) visit_reference(node, *reference, place);
    }
  }

  void visit_reference(FromNode& node, FromCte& reference, Place place) {
    const std::shared_ptr<BoundCte> cte = reference.cte;
    if (!visited_.insert(cte.get()).second) return;
    const auto home = homes_.find(cte.get());
    const std::size_t home_loop = home == homes_.end() ? 0 : home->second;
    if (may_inline(*cte) && place.loop == home_loop && !place.locks_rows) {
      FromSubquery subquery{std::move(cte->query), std::move(reference.alias)};
      node.node = std::move(subquery);
      visit(*std::get<FromSubquery>(node.node).query, place);
      return;
    }
    if (cte->query) visit(*cte->query, {.loop = home_loop});
    if (cte->recursive) visit(*cte->recursive, another_loop({}));
  }

  bool may_inline(BoundCte& cte) {
    return cte.query && !cte.recursive && !cte.is_materialized && cte.references == 1 &&
           !effects_.has_effects(*cte.query);
  }

  std::vector<PendingSubquery>& pending_;
  EffectFinder effects_;
  /// The loops in which WITH queries are defined.
  std::map<const BoundCte*, std::size_t> homes_;
  std::set<const BoundCte*> visited_;
  std::size_t loops_ = 0;
};

}  // namespace

void inline_with_queries(Query& statement, std::vector<PendingSubquery>& pending) {
  WithInliner{pending}.run(statement);
}
void inline_with_queries(WriteStatement& statement, std::vector<PendingSubquery>& pending) {
  WithInliner{pending}.run(statement);
}

}  // namespace swizzle::sql
