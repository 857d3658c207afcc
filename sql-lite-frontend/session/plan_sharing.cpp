#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/session/shared_plan.h"
#include "sql-lite-frontend/session/trusted_names.h"

/// One session's plan is every session's to which the statement means the same.
namespace swizzle::sql {

std::size_t Session::State::shared_plan_limit() const {
  return static_cast<std::size_t>(shared.settings.integer("shared_plans"));
}

bool Session::State::may_share(const Statement& statement) const {
  // EXPLAIN measures its plan, and a cursor's is made to be read in parts. What stands in another
  // statement is found by that one's text, which says less than it means.
  const bool is_whole = statement.parsed != nullptr && statement.node == statement.parsed->node &&
                        statement.text().size() <= kLongestKeptText;
  if (!is_whole || statement.is_explained || statement.of_cursor) return false;
  // An atomic body's text says less than it means, and so does one with variables.
  if (statement.body && (statement.body->meanings || statement.body->variables)) return false;
  // What only this session sees is nobody else's business, and hides what others see.
  return names.temp_schema == kNoOid && !catalog.has_changes() && young_indexes.empty() &&
         names.expanded_view == kNoOid && names.refreshed_view == kNoOid &&
         transition_tables == nullptr;
}

const std::string& Session::State::planned_under() {
  if (planned_under_version == settings_version && planned_under_stamp == catalog.stamp()) {
    return planned_under_cache;
  }
  const CatalogView::Stamp stamp = catalog.stamp();
  std::string text = fmt::format("{} {} {} ", catalog.shared().database(), user,
                                 fmt::join(names.search_path(), ","));
  for (const std::string_view name : planner_settings()) text += settings.boolean(name) ? '+' : '-';
  for (const std::string_view name : format_settings()) {
    text += ' ';
    text += value_of(settings.show(name));
  }
  planned_under_cache = std::move(text);
  planned_under_version = settings_version;
  planned_under_stamp = stamp;
  return planned_under_cache;
}

std::string Session::State::plan_key(const Statement& statement) {
  std::string key{statement.text()};
  // No text has a zero byte.
  key += '\0';
  key += statement.takes_parameters ? 'p' : ' ';
  key += statement.has_lifted_literals ? 'l' : ' ';
  key += statement.trusted ? 't' : ' ';
  for (const TypeId type : statement.declared_types) key += fmt::format("{} ", raw(type));
  if (statement.body) {
    key += fmt::format("\0{}", statement.body->routine->name);
    for (const std::string& name : statement.body->parameters) {
      key += '\0';
      key += name;
    }
  }
  key += '\0';
  return key += planned_under();
}

/// At REPEATABLE READ an index may be younger than what the transaction sees.
bool Session::State::may_read_indexes(const Plan& plan) {
  return std::ranges::all_of(plan.tables, [this](const TablePtr& table) {
    return std::ranges::all_of(table->indexes,
                               [this](const IndexAccess& index) { return names.may_read(index); });
  });
}

PlanUsePtr Session::State::taken_over(const SharedPlan& known, Statement& statement) {
  const Plan& plan = *known.plan;
  const CatalogView::Stamp stamp = catalog.stamp();
  if (plan.looked_up_objects && known.catalog_version != stamp.shared) return nullptr;
  // Whom the client was told of other types or columns gets its error where the plan is made.
  const bool fits =
      (statement.parameter_types.empty() || statement.parameter_types == plan.parameter_types) &&
      (statement.columns().empty() || has_same_result(statement, plan));
  if (!fits || !may_read_indexes(plan) || !has_same_routines(plan)) return nullptr;
  for (std::size_t i = 0; i < plan.tables.size(); ++i) {
    const TablePtr& table = plan.tables[i];
    if (table->computed == nullptr && catalog.table(table->relation.oid) != table) return nullptr;
    if (names.statistics(*table) != known.statistics[i]) return nullptr;
  }
  try {
    // As who asks may find them by now.
    const TrustedNames trusted{*this, statement.trusted};
    for (const Binder::NamedRelation& named : plan.names) {
      const TablePtr found = names.find_table(named.schema, named.name);
      if (!found || found->relation.oid != named.relation) return nullptr;
    }
  } catch (const SqlError&) {
    return nullptr;
  }
  auto use = std::make_shared<PlanUse>();
  use->plan = known.plan;
  use->stamp = stamp;
  use->settings_version = settings_version;
  statement.take_result(use->plan);
  shared.plans.note_taken();
  return use;
}

PlanUsePtr Session::State::plan_of(Statement& statement) {
  const std::size_t limit = shared_plan_limit();
  if (limit == 0 || !may_share(statement)) return make_plan(statement);
  const std::string key = plan_key(statement);
  if (const SharedPlanPtr known = shared.plans.find_plan(key)) {
    if (PlanUsePtr use = taken_over(*known, statement)) return use;
  }
  PlanUsePtr use = make_plan(statement);
  const Plan& plan = *use->plan;
  if (plan.single_use || use->stamp != catalog.stamp() || !may_read_indexes(plan)) return use;
  auto made = std::make_shared<SharedPlan>();
  made->plan = use->plan;
  made->catalog_version = use->stamp.shared;
  for (const TablePtr& table : plan.tables) made->statistics.push_back(names.statistics(*table));
  shared.plans.put(key, std::move(made), limit);
  return use;
}

}  // namespace swizzle::sql
