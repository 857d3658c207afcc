#include "sql-lite-frontend/statement/statement.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/statement/statement_kinds.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

std::string_view select_name(const ast::SelectStmt& select) noexcept {
  if (select.locking_clause.empty()) return "SELECT";
  const auto* locking = ast::try_as<ast::LockingClause>(select.locking_clause[0]);
  using Strength = ast::LockClauseStrength;
  switch (locking == nullptr ? Strength::undefined : locking->strength) {
    case Strength::forkeyshare:
      return "SELECT FOR KEY SHARE";
    case Strength::forshare:
      return "SELECT FOR SHARE";
    case Strength::fornokeyupdate:
      return "SELECT FOR NO KEY UPDATE";
    default:
      return "SELECT FOR UPDATE";
  }
}

}  // namespace

std::string_view statement_name(const ast::Node* node) {
  if (const auto* select = ast::try_as<ast::SelectStmt>(node)) return select_name(*select);
  return command_tag(*ast::Link<ast::Node>{node});
}

bool has_same_result(const Statement& statement, const Plan& plan) noexcept {
  const auto is_same = [](const OutputTarget& left, const OutputTarget& right) {
    return left.name == right.name && left.type == right.type && left.typmod == right.typmod;
  };
  return std::ranges::equal(plan.columns, statement.columns(), is_same);
}

bool is_plannable(const ast::Node* node) noexcept {
  if (node == nullptr) return false;
  switch (node->node_kind) {
    case ast::NodeKind::select_stmt:
      // Only within EXPLAIN, PREPARE and the like; at the top level it is CREATE TABLE AS.
      return ast::as<ast::SelectStmt>(node).into_clause == nullptr;
    case ast::NodeKind::insert_stmt:
    case ast::NodeKind::update_stmt:
    case ast::NodeKind::delete_stmt:
    case ast::NodeKind::merge_stmt:
      return true;
    default:
      return false;
  }
}

const ast::Node* query_within(const ast::Node* node) noexcept {
  if (const auto* explain = ast::try_as<ast::ExplainStmt>(node)) {
    const auto* declare = ast::try_as<ast::DeclareCursorStmt>(explain->query);
    return declare != nullptr ? declare->query : explain->query;
  }
  if (const auto* declare = ast::try_as<ast::DeclareCursorStmt>(node)) return declare->query;
  if (const auto* create = ast::try_as<ast::CreateTableAsStmt>(node)) return create->query;
  return nullptr;
}

const ast::Node* parse_again(MemoryAccount& account, Statement& into, const Statement& whole) {
  std::string_view own =
      std::string_view{whole.text()}.substr(static_cast<std::size_t>(whole.location));
  if (whole.length > 0) own = own.substr(0, static_cast<std::size_t>(whole.length));
  // After a script's only statement there may be nothing but a semicolon.
  const bool is_all = whole.location == 0 && whole.text().find_last_not_of("; \t\r\n") < own.size();
  const auto parsed = std::make_shared<ParsedText>();
  parsed->count_in(account, is_all ? whole.text().size() : own.size());
  parsed->script = is_all ? whole.script : std::make_shared<const std::string>(own);
  into.script = parsed->script;
  into.parsed = parsed;
  const auto list = parse_script(parsed->arena, into.text());
  STATEMENT_INVARIANT(list.size() == 1);
  return list[0]->stmt;
}

void Statement::count_as_kept(MemoryAccount& account, std::size_t name_bytes) {
  // The statement, its entry, and the plan's memory outside its arena.
  constexpr std::size_t kFixed = 2048;
  std::size_t bytes = kFixed + name_bytes;
  const bool is_counted = parsed && parsed->arena.account() != nullptr;
  if (!is_counted) {
    bytes += script->capacity();
    if (parsed) bytes += parsed->arena.reserved_bytes();
  }
  const bool has_counted_plan = plan && plan->plan->arena.account() != nullptr;
  if (plan && !has_counted_plan) {
    // Steps and expressions take about as much as the tree that they are made of.
    bytes += plan->plan->arena.reserved_bytes();
    if (parsed) bytes += parsed->arena.reserved_bytes();
  }
  kept_share.set(account, bytes);
}

void Portal::count_as_kept(MemoryAccount& account, std::size_t name_bytes, std::size_t values,
                           std::size_t columns) {
  // The portal and its entry, which has the name, too. Lists may have grown to twice their size.
  constexpr std::size_t kFixed = 1024;
  kept_share.set(account,
                 kFixed + 2 * (name_bytes + values * sizeof(Value) + columns * sizeof(Format)));
}

bool writes_what_others_see(const Plan& plan) {
  return std::ranges::any_of(plan.accesses, [](const RelationAccess& access) {
    return (access.wants & ~privilege::kSelect) != 0 &&
           access.table->relation.persistence != Persistence::temporary;
  });
}

void require_runnable(const Plan& plan) {
  if (!plan.failure) [[likely]] {
    return;
  }
  SqlError error{plan.failure->state, plan.failure->message};
  error.fields().where = plan.failure->where;
  throw std::move(error).with_detail(plan.failure->detail).with_hint(plan.failure->hint);
}

void require_parameters(const Portal& portal) {
  if (portal.statement->parameter_types.size() <= portal.parameters.size()) return;
  throw sql_error(sqlstate::undefined_parameter, "there is no parameter ${}",
                  portal.parameters.size() + 1);
}

void require_allowed(const Statement& statement, const Plan& plan, bool may_write) {
  const auto writes = [](const RelationAccess& access) {
    return (access.wants & ~privilege::kSelect) != 0;
  };
  if (may_write || !std::ranges::any_of(plan.accesses, writes)) return;
  throw_error(sqlstate::feature_not_supported, "{} is not allowed in a non-volatile function",
              statement_name(statement.node));
}

namespace {

/// Most runs' rows take less, and a session keeps many runs.
constexpr std::size_t kFirstRowBytes = 1024;

}  // namespace

PlanRun::PlanRun(StatementServices& services, std::shared_ptr<const Plan> of)
    : plan(std::move(of)), execution(services, services.name_source().context()) {
  execution.row_arena = Arena{kFirstRowBytes};
  execution.row_arena.count_in(execution.memory);
  execution.names = &services.name_source();
  execution.slots.resize(plan->slot_count);
  StepCopies copies{execution};
  copy = copies.copy(plan->root);
  root = copy.get();
  write = copies.copy_of(plan->write);
}

PlanRun::PlanRun(StatementServices& services, const std::shared_ptr<Plan>& own)
    : plan(own),
      execution(services, services.name_source().context()),
      root(own->root.get()),
      write(own->write) {
  execution.slots.resize(plan->slot_count);
}

PlanUse::~PlanUse() {
  if (keeper != nullptr) keeper->forget(*this);
}

void IdleRuns::put(PlanUse& use, std::unique_ptr<PlanRun> run) {
  use.idle = std::move(run);
  use.was_used = true;
  if (use.keeper != nullptr) return;
  use.keeper = this;
  if (places_.size() < kRuns) {
    use.place = places_.size();
    places_.push_back(&use);
    return;
  }
  // Second-chance eviction.
  for (;; hand_ = (hand_ + 1) % kRuns) {
    PlanUse* const victim = places_[hand_];
    if (victim == nullptr) break;
    if (std::exchange(victim->was_used, false)) continue;
    victim->idle.reset();
    victim->keeper = nullptr;
    break;
  }
  use.place = hand_;
  places_[hand_] = &use;
  hand_ = (hand_ + 1) % kRuns;
}

}  // namespace swizzle::sql
