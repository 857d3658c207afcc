#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/plan/constants.h"
#include "sql-lite-frontend/plan/inline_with.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/parse/long_identifiers.h"
#include "sql-lite-frontend/routines/routine_services.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/names/trusted_names.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kFeature{"0A000"};
constexpr std::size_t kCachedInternals = 1024;

/// Returns PostgreSQL's locks for the relations that a statement names. A view is locked with the
/// relations that it is made of. A computed relation has no definition that could change, and a
/// temporary table no other session to change it.
std::vector<Plan::Lock> locks_for(const Plan& plan, const std::vector<TablePtr>& written,
                                  lock::RelationMode others) {
  std::vector<Plan::Lock> locks;
  for (const TablePtr& table : plan.tables) {
    const Relation& relation = table->relation;
    const bool is_shared = table->computed == nullptr && relation.kind != RelationKind::sequence &&
                           relation.persistence != Persistence::temporary;
    if (!is_shared) continue;
    lock::RelationMode mode = others;
    if (std::ranges::find(written, table) != written.end()) {
      mode = lock::RelationMode::row_exclusive;
    }
    const lock::RelationId id{relation.oid};
    const auto known = std::ranges::find(locks, id, &Plan::Lock::relation);
    if (known == locks.end())
      locks.push_back({id, mode});
    else
      known->mode = std::max(known->mode, mode);
  }
  return locks;
}

/// Throws 0A000 if the columns differ from those that the client was told.
void require_same_result(const Statement& statement, const Plan& plan) {
  if (has_same_result(statement, plan)) return;
  SqlError error{kFeature, "cached plan must not change result type"};
  error.fields().routine = "RevalidateCachedQuery";
  throw std::move(error);
}

}  // namespace

ParsedTextPtr SessionPlans::parsed_text(const std::string& text) {
  const bool is_kept = text.size() <= kLongestKeptText && shares_plans();
  if (is_kept) {
    if (ParsedTextPtr known = session_.shared.plans.find_text(text)) return known;
  }
  auto parsed = std::make_shared<ParsedText>();
  // A text that may be shared is charged to no session, and is short.
  if (!is_kept) parsed->count_in(session_.memory, text.size());
  parsed->script = std::make_shared<const std::string>(text);
  const auto list = parse_script(parsed->arena, *parsed->script);
  if (list.size() > 1) {
    throw SqlError{sqlstate::syntax_error,
                   "cannot insert multiple commands into a prepared statement"};
  }
  if (!list.empty()) {
    parsed->node = list[0]->stmt;
    parsed->location = list[0]->stmt_location;
  }
  // Do not share texts that may hold secrets: passwords.
  if (is_kept && is_plannable(parsed->node)) session_.shared.plans.put(parsed, shared_plan_limit());
  return parsed;
}

/// The result's columns may have changed: the client was not promised that they would not.
StatementPtr SessionPlans::known(StatementCache& cache, const std::string& key) {
  StatementPtr statement = cache.find(key);
  if (!statement || means_the_same(statement->plan)) return statement;
  cache.erase(key);
  return nullptr;
}

StatementPtr SessionPlans::internal(const std::string& sql, std::span<const TypeId> types) {
  if (internals_.size() > kCachedInternals) internals_.clear();
  StatementPtr& statement = internals_[sql];
  // The text does not determine its parameters' types or the present columns.
  const bool fits = statement && std::ranges::equal(statement->declared_types, types) &&
                    (!statement->plan || is_current(statement->plan));
  if (!fits) {
    statement = parse(sql, {});
    statement->declared_types.assign(types.begin(), types.end());
    statement->trusted = true;
  }
  return statement;
}

StatementPtr SessionPlans::parse(const std::string& text,
                                 std::span<const std::uint32_t> type_oids) {
  auto statement = std::make_shared<Statement>();
  statement->parsed = parsed_text(text);
  statement->script = statement->parsed->script;
  statement->node = statement->parsed->node;
  statement->location = statement->parsed->location;
  for (const std::uint32_t oid : type_oids) {
    statement->declared_types.push_back(static_cast<TypeId>(oid));
  }
  statement->prepared_at = session_.session_context.statement_timestamp;
  return statement;
}

/// Reads the stamp before it compares anything: a definition that changes meanwhile gives a later
/// one.
std::optional<RoleStamp> SessionPlans::valid_under(const PlanUsePtr& known_use) {
  if (!known_use) return std::nullopt;
  const PlanUse& use = *known_use;
  if (use.settings_version != session_.variables.version()) return std::nullopt;
  const RoleStamp now = session_.role_stamp();
  if (use.stamp == now) [[likely]] {
    return now;
  }
  if (use.plan->met_policies) return std::nullopt;
  // "$user" and USAGE of schemas may give the role other operators and functions.
  if (use.stamp.role != now.role && use.plan->looked_up_objects) return std::nullopt;
  if (use.plan->names_user_types || !has_same_routines(*use.plan)) return std::nullopt;
  const bool same_tables = std::ranges::all_of(use.plan->tables, [&](const TablePtr& known) {
    return known->computed != nullptr || session_.catalog.table(known->relation.oid) == known;
  });
  if (!same_tables || !has_same_names(*use.plan, use.plan->trusts_names)) return std::nullopt;
  return now;
}

bool SessionPlans::is_current(const PlanUsePtr& use) {
  return valid_under(use).has_value();
}

bool SessionPlans::means_the_same(const PlanUsePtr& known_use) {
  return is_current(known_use) &&
         (!known_use->plan->looked_up_objects || known_use->stamp == session_.role_stamp());
}

bool SessionPlans::has_same_names(const Plan& plan, bool trusts) {
  const TrustedNames trusted{session_, trusts};
  try {
    return std::ranges::all_of(plan.names, [&](const Binder::NamedRelation& named) {
      const TablePtr found = session_.names.find_table(named.schema, named.name);
      return found && found->relation.oid == named.relation;
    });
  } catch (const SqlError&) {
    // The schema may no longer be used: binding reports that, with the position.
    return false;
  }
}

bool SessionPlans::has_same_routines(const Plan& plan) const {
  return std::ranges::all_of(plan.routines, [this](const RoutinePtr& known) {
    return session_.catalog.routine(known->oid) == known;
  });
}

/// Binding reads several records of the catalog, one after the other and without locks, so an error
/// may come from definitions that others have changed in between: it is tried again then.
PlanUsePtr SessionPlans::make(Statement& statement, std::span<const Value> parameters) {
  // Others would have to change definitions as fast as a statement is planned, for long.
  constexpr int kMostAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    const RoleStamp before = session_.role_stamp();
    try {
      return make_once(statement, parameters);
    } catch (const SqlError&) {
      if (attempt == kMostAttempts || session_.role_stamp() == before) throw;
    }
  }
}

PlanUsePtr SessionPlans::make_once(Statement& statement, std::span<const Value> parameters) {
  auto use = std::make_shared<PlanUse>();
  auto plan = std::make_shared<Plan>();
  use->stamp = session_.role_stamp();
  use->settings_version = session_.variables.version();
  if (statement.parsed && statement.parsed->arena.account() != nullptr) {
    // Steps and expressions take about as much as the tree that they are made of.
    plan->arena.count_in(&session_.memory);
    plan->nodes_share.set(&session_.memory, statement.parsed->arena.reserved_bytes());
  }
  // Execution for expressions that are computed while planning.
  Execution execution{session_, session_.session_context};
  execution.parameters = parameters;
  const TrustedNames trusted{session_, statement.trusted};
  Binder binder{session_.names, plan->arena};
  if (statement.takes_parameters) {
    binder.allow_parameters(statement.parameter_types.empty() ? statement.declared_types
                                                              : statement.parameter_types);
  }
  if (statement.body) binder.enter_body(*statement.body);
  if (!statement.trusted) binder.apply_policies();
  binder.compute_virtual_columns();
  Planner planner{binder, execution};
  std::vector<OutputTarget>& columns = plan->columns;
  const auto describe_targets = [&](const std::vector<OutputTarget>& targets) {
    for (const OutputTarget& target : targets) {
      OutputTarget column;
      column.name = target.name;
      column.type = target.type;
      column.typmod = target.typmod;
      column.slot = target.slot;
      column.origin = target.origin;
      columns.push_back(std::move(column));
      plan->outputs.push_back(target.slot);
      plan->types.push_back(without_collation(target.type));
    }
  };
  const auto note_constants = [&](const auto& bound) {
    if (auto failure = constant_failure(bound, execution)) {
      // There may be room for it at another time, or for another session.
      if (failure->state() == sqlstate::out_of_memory) throw std::move(*failure);
      plan->failure = to_diagnostic(*failure, {});
    }
    if (statement.has_lifted_literals)
      plan->computed_from_literals = computed_from_parameters(bound);
  };
  const ast::Node* node = statement.node;
  bool returns_rows = true;
  auto read_under = lock::RelationMode::access_share;
  if (const auto* select = ast::try_as<ast::SelectStmt>(node)) {
    const std::unique_ptr<Query> query = binder.bind_select(*select, nullptr);
    binder.require_parameter_types();
    plan->accesses = binder.accesses();
    describe_targets(query->targets);
    note_constants(*query);
    planner.drop_unread_targets();
    inline_with_queries(*query, binder.pending());
    binder.mark_policy_reads();
    plan->root = statement.of_cursor ? planner.plan_cursor(*query) : planner.plan_query(*query);
    if (!query->locks.empty()) read_under = lock::RelationMode::row_share;
  } else {
    std::unique_ptr<WriteStatement> write;
    if (const auto* insert = ast::try_as<ast::InsertStmt>(node)) {
      write = binder.bind_insert(*insert, nullptr);
    } else if (const auto* update = ast::try_as<ast::UpdateStmt>(node)) {
      write = binder.bind_update(*update, nullptr);
    } else if (const auto* merge = ast::try_as<ast::MergeStmt>(node)) {
      write = binder.bind_merge(*merge, nullptr);
    } else {
      write = binder.bind_delete(ast::as<ast::DeleteStmt>(node), nullptr);
    }
    binder.require_parameter_types();
    plan->accesses = binder.accesses();
    describe_targets(write->returning);
    returns_rows = !write->returning.empty();
    note_constants(*write);
    planner.drop_unread_targets();
    inline_with_queries(*write, binder.pending());
    binder.mark_policy_reads();
    const bool has_eager = !write->eager.empty();
    plan->root = planner.plan_write(std::move(write));
    plan->write = dynamic_cast<WriteOperator*>(plan->root.get());
    if (has_eager) {
      // The write is below the step that runs the WITH queries.
      plan->write = planner.last_write();
    }
    if (statement.repeats_row &&
        (plan->write == nullptr || !plan->write->repeat_row(binder.parameter_types().size()))) {
      throw SqlError{sqlstate::feature_not_supported, "the source of the rows is not VALUES alone"};
    }
  }
  planner.plan_pending();
  if (!binder.routines_called().empty()) inline_routines(session_, plan->arena, *plan->root);
  plan->tables = binder.dependencies();
  plan->locks = locks_for(*plan, binder.written(), read_under);
  plan->names = binder.named_relations();
  plan->trusts_names = statement.trusted;
  plan->routines = binder.routines_called();
  if (statement.trusted) {
    plan->accesses.clear();
  } else {
    plan->executes = plan->routines;
  }
  plan->routines.insert(plan->routines.end(), binder.routines_behind().begin(),
                        binder.routines_behind().end());
  plan->explained_columns = binder.explained_columns();
  plan->met_policies = binder.met_policies();
  plan->single_use = binder.is_single_use();
  plan->looked_up_objects = binder.looked_up_objects();
  plan->names_user_types = binder.depends_on_types();
  plan->guesses_parameters = planner.guesses_parameters();
  plan->slot_count = binder.slot_count();
  plan->returns_rows = returns_rows;
  plan->parameter_types = binder.parameter_types();

  if (statement.plan || !statement.columns().empty()) require_same_result(statement, *plan);
  if (statement.is_explained) use->own = plan;
  use->plan = std::move(plan);
  statement.take_result(use->plan);
  return use;
}

void SessionPlans::analyze(Statement& statement) {
  if (!is_plannable(statement.node)) {
    statement.parameter_types = statement.declared_types;
    if (const auto* call = ast::try_as<ast::CallStmt>(statement.node)) {
      DescribedCall known = describe_call(session_, *call, statement.declared_types);
      std::vector<OutputTarget> columns = std::move(known.columns);
      statement.parameter_types = std::move(known.parameter_types);
      statement.returns_rows = !columns.empty();
      statement.result = std::make_shared<const std::vector<OutputTarget>>(std::move(columns));
      return;
    }
    const ast::Node* query = query_within(statement.node);
    if (!is_plannable(query)) return;
    Statement within;
    within.node = query;
    within.declared_types = statement.declared_types;
    within.body = statement.body;
    analyze(within);
    statement.parameter_types = std::move(within.parameter_types);
    return;
  }
  if (!is_current(statement.plan)) statement.plan = plan_of(statement);
}

PlanUsePtr SessionPlans::plan_for(Statement& statement, std::span<const Value> parameters) {
  const std::optional<RoleStamp> stamp = valid_under(statement.plan);
  if (stamp && !statement.plan->plan->single_use) {
    statement.plan->stamp = *stamp;
  } else {
    statement.plan = plan_of(statement);
  }
  const bool by_values = statement.plan->plan->guesses_parameters && !parameters.empty() &&
                         session_.settings.text("plan_cache_mode") == "auto";
  return by_values ? make(statement, parameters) : statement.plan;
}

}  // namespace swizzle::sql
