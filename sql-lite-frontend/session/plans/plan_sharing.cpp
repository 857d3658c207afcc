#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/session/shared/shared_plan.h"
#include "sql-lite-frontend/session/state/session_state.h"

/// Shares plans among the sessions to which the statement means the same.
namespace swizzle::sql {

std::size_t SessionPlans::shared_plan_limit() const {
  return static_cast<std::size_t>(session_.shared.settings.integer("shared_plans"));
}

bool SessionPlans::may_share(const Statement& statement) const {
  // EXPLAIN measures its plan, and a cursor's is made to be read in parts. A statement within
  // another is found by the other's text, which does not determine its meaning.
  const bool is_whole = statement.parsed != nullptr && statement.node == statement.parsed->node &&
                        statement.text().size() <= kLongestKeptText;
  if (!is_whole || statement.is_explained || statement.of_cursor) return false;
  // The text of an atomic body, or of one with variables, does not determine its meaning.
  if (statement.body && (statement.body->meanings || statement.body->variables)) return false;
  // Objects that only this session sees must not be in a shared plan, and hide others.
  return session_.names.temp_schema == kNoOid && !session_.catalog.has_changes() &&
         !session_.transaction.has_young_indexes() && session_.names.expanded_view == kNoOid &&
         session_.names.refreshed_view == kNoOid && session_.trigger_tables == nullptr;
}

const std::string& SessionPlans::planned_under() {
  if (planned_under_version_ == session_.variables.version() &&
      planned_under_stamp_ == session_.catalog.stamp()) {
    return planned_under_;
  }
  const CatalogView::Stamp stamp = session_.catalog.stamp();
  std::string text = fmt::format("{} {} {} ", session_.catalog.of_database().database(),
                                 session_.user, fmt::join(session_.names.search_path(), ","));
  for (const std::string_view name : planner_settings())
    text += session_.settings.boolean(name) ? '+' : '-';
  for (const std::string_view name : format_settings()) {
    text += ' ';
    text += value_of(session_.settings.show(name));
  }
  text += session_.settings.boolean("row_security") ? '+' : '-';
  planned_under_ = std::move(text);
  planned_under_version_ = session_.variables.version();
  planned_under_stamp_ = stamp;
  return planned_under_;
}

std::string SessionPlans::plan_key(const Statement& statement) {
  std::string key{statement.text()};
  // No text has a zero byte.
  key += '\0';
  key += statement.takes_parameters ? 'p' : ' ';
  key += statement.repeats_row ? 'r' : (statement.has_lifted_literals ? 'l' : ' ');
  key += statement.trusted ? 't' : ' ';
  for (const TypeId type : statement.declared_types) key += fmt::format("{} ", raw(type));
  if (statement.body) {
    key += '\0';
    key += statement.body->routine->name;
    for (const std::string& name : statement.body->parameters) {
      key += '\0';
      key += name;
    }
  }
  key += '\0';
  return key += planned_under();
}

/// At REPEATABLE READ an index may be younger than the transaction's snapshot.
bool SessionPlans::may_read_indexes(const Plan& plan) {
  return std::ranges::all_of(plan.tables, [this](const TablePtr& table) {
    return std::ranges::all_of(table->indexes, [this](const IndexAccess& index) {
      return session_.names.may_read(index);
    });
  });
}

PlanUsePtr SessionPlans::taken_over(const SharedPlan& known, Statement& statement) {
  const Plan& plan = *known.plan;
  const RoleStamp stamp = session_.role_stamp();
  if ((plan.looked_up_objects || plan.met_policies) &&
      known.catalog_version != stamp.catalog.shared)
    return nullptr;
  // If the client was told other types or columns, planning reports the error.
  const bool fits =
      (statement.parameter_types.empty() || statement.parameter_types == plan.parameter_types) &&
      (statement.columns().empty() || has_same_result(statement, plan));
  if (!fits || !has_same_routines(plan)) return nullptr;
  for (std::size_t i = 0; i < plan.tables.size(); ++i) {
    const TablePtr& table = plan.tables[i];
    if (table->computed == nullptr && session_.catalog.table(table->relation.oid) != table)
      return nullptr;
    if (session_.names.statistics(*table) != known.statistics[i]) return nullptr;
  }
  // Last, because trees of dropped tables may be gone, while the others stay as long as there is a
  // snapshot.
  if (!may_read_indexes(plan)) return nullptr;
  // Check that the session's names still mean the same.
  if (!has_same_names(plan, statement.trusted)) return nullptr;
  auto use = std::make_shared<PlanUse>();
  use->plan = known.plan;
  use->stamp = stamp;
  use->settings_version = session_.variables.version();
  statement.take_result(use->plan);
  session_.shared.plans.note_taken();
  return use;
}

PlanUsePtr SessionPlans::plan_of(Statement& statement) {
  const std::size_t limit = shared_plan_limit();
  if (limit == 0 || !may_share(statement)) return make(statement);
  const std::string key = plan_key(statement);
  if (const SharedPlanPtr known = session_.shared.plans.find_plan(key)) {
    if (PlanUsePtr use = taken_over(*known, statement)) return use;
  }
  PlanUsePtr use = make(statement);
  const Plan& plan = *use->plan;
  if (plan.single_use || use->stamp != session_.role_stamp() || !may_read_indexes(plan)) return use;
  auto made = std::make_shared<SharedPlan>();
  made->plan = use->plan;
  made->catalog_version = use->stamp.catalog.shared;
  for (const TablePtr& table : plan.tables)
    made->statistics.push_back(session_.names.statistics(*table));
  // The plan has no text; the one that the statement keeps stands for the plan's size.
  session_.shared.plans.put(key, std::move(made), kept_bytes(*statement.parsed), limit);
  return use;
}

}  // namespace swizzle::sql
