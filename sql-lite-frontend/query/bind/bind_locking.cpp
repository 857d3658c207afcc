#include <algorithm>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE and FOR KEY SHARE.
namespace swizzle::sql {
namespace {

bool is_meant(std::span<const std::string> of, const std::string& alias) {
  return of.empty() || std::ranges::find(of, alias) != of.end();
}

/// Returns true if a lock of `of` (all tables, when empty) applies to rows that an outer join may
/// fill with NULLs.
bool locks_nullable(const FromNode& node, std::span<const std::string> of, bool nullable) {
  check_stack();
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    const bool full = join->kind == JoinKind::full;
    return locks_nullable(*join->left, of, nullable || full) ||
           locks_nullable(*join->right, of, nullable || full || join->kind == JoinKind::left);
  }
  if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    return is_meant(of, subquery->alias) &&
           std::ranges::any_of(subquery->query->from, [&](const FromPtr& item) {
             return locks_nullable(*item, {}, nullable);
           });
  }
  const auto* table = std::get_if<FromTable>(&node.node);
  return table != nullptr && nullable && is_meant(of, table->alias);
}

/// Throws if the query's rows are not rows of tables, since these cannot be locked.
void require_lockable(const Query& query, std::string_view lock) {
  const auto refuse = [&](std::string_view with) {
    throw_error(sqlstate::feature_not_supported, "{} is not allowed with {}", lock, with);
  };
  if (query.body == Query::Body::set_operation) refuse("UNION/INTERSECT/EXCEPT");
  if (query.distinct != Query::DistinctKind::none) refuse("DISTINCT clause");
  if (!query.group_keys.empty() || !query.grouping_items.empty()) refuse("GROUP BY clause");
  if (!query.having.empty()) refuse("HAVING clause");
  if (query.grouped) refuse("aggregate functions");
  if (!query.windows.empty()) refuse("window functions");
  if (!query.sets.empty()) refuse("set-returning functions in the target list");
}

/// Returns PostgreSQL's word for the kind of a FROM item that cannot be locked; empty for tables
/// and subqueries.
std::string_view unlockable_kind(const FromNode& node) {
  if (std::holds_alternative<FromFunctions>(node.node)) return "a function";
  if (std::holds_alternative<FromCte>(node.node)) return "a WITH query";
  return {};
}

/// Returns the item with that name, which is not a join.
const FromNode* item_named(const FromNode& node, std::string_view alias) {
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    const FromNode* left = item_named(*join->left, alias);
    return left != nullptr ? left : item_named(*join->right, alias);
  }
  const std::string_view own = std::visit(
      [](const auto& item) -> std::string_view {
        if constexpr (std::is_same_v<std::decay_t<decltype(item)>, FromJoin>) {
          return {};
        } else {
          return item.alias;
        }
      },
      node.node);
  return own == alias ? &node : nullptr;
}

/// Locks inside subqueries and views. If they pass rows of tables on, these are locked with the
/// query's own; otherwise all rows that they read are locked.
void lock_inside(FromNode& node, const RowLock& lock, std::span<const std::string> of,
                 std::string_view name) {
  if (auto* join = std::get_if<FromJoin>(&node.node)) {
    lock_inside(*join->left, lock, of, name);
    lock_inside(*join->right, lock, of, name);
    return;
  }
  auto* subquery = std::get_if<FromSubquery>(&node.node);
  if (subquery == nullptr || !is_meant(of, subquery->alias)) return;
  Query& query = *subquery->query;
  // A view that is a UNION locks nothing, as in PostgreSQL.
  if (subquery->view_access && query.body == Query::Body::set_operation) return;
  require_lockable(query, name);
  for (const FromPtr& item : query.from) lock_inside(*item, lock, {}, name);
  if (!query.passes_rows_on()) query.locks.push_back({lock.mode, lock.wait, {}});
}

}  // namespace

void QueryBinder::bind_locking(ast::NodeList clause, Scope& scope, Query& query) {
  for (const ast::Node* node : clause) {
    const auto& locking = ast::as<ast::LockingClause>(node);
    RowLock lock;
    std::string_view name = "FOR UPDATE";
    switch (locking.strength) {
      case ast::LockClauseStrength::forshare:
        lock.mode = ReadMode::for_share;
        name = "FOR SHARE";
        break;
      case ast::LockClauseStrength::forkeyshare:
        lock.mode = ReadMode::for_key_share;
        name = "FOR KEY SHARE";
        break;
      case ast::LockClauseStrength::fornokeyupdate:
        lock.mode = ReadMode::for_no_key_update;
        name = "FOR NO KEY UPDATE";
        break;
      default:
        break;
    }
    if (query.body == Query::Body::values) {
      throw_error(sqlstate::feature_not_supported, "{} is not allowed with VALUES", name);
    }
    require_lockable(query, name);
    if (locking.wait_policy == ast::LockWaitPolicy::lockwaitskip) lock.wait = WaitPolicy::skip;
    if (locking.wait_policy == ast::LockWaitPolicy::lockwaiterror) lock.wait = WaitPolicy::no_wait;
    for (const ast::Node* relation : locking.locked_rels) {
      const auto& range = ast::as<ast::RangeVar>(relation);
      const bool known = std::ranges::any_of(scope.items, [&](const ScopeItem& item) {
        return item.named && item.alias == range.relname;
      });
      if (!known) {
        throw sql_error(sqlstate::undefined_table,
                        "relation \"{}\" in {} clause not found in FROM clause", range.relname,
                        name)
            .at_position(range.location + 1);
      }
      for (const FromPtr& item : query.from) {
        const FromNode* named = item_named(*item, range.relname);
        const std::string_view kind = named == nullptr ? "" : unlockable_kind(*named);
        if (kind.empty()) continue;
        throw sql_error(sqlstate::feature_not_supported, "{} cannot be applied to {}", name, kind)
            .at_position(range.location + 1);
      }
      lock.of.emplace_back(range.relname);
    }
    for (const FromPtr& item : query.from) lock_inside(*item, lock, lock.of, name);
    for (const FromPtr& item : query.from) {
      if (!locks_nullable(*item, lock.of, false)) continue;
      throw_error(sqlstate::feature_not_supported,
                  "{} cannot be applied to the nullable side of an outer join", name);
    }
    for (const FromPtr& item : query.from) note_locks(*item, lock.of);
    query.locks.push_back(std::move(lock));
  }
}

}  // namespace swizzle::sql
