#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/shared_plan.h"
#include "sql-lite-frontend/session/shared/statement_cache.h"
#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {

/// The session's cache of parsed texts and plans, and the way from a text to a plan: prepare.cpp
/// (parsing, binding, planning), plan_sharing.cpp (other sessions' plans), plan_run.cpp.
class SessionPlans {
 public:
  explicit SessionPlans(Session::State& session) : session_(session) {}
  SessionPlans(const SessionPlans&) = delete;
  SessionPlans& operator=(const SessionPlans&) = delete;

  /// Parses the one statement of the text, or none.
  StatementPtr parse(const std::string& text, std::span<const std::uint32_t> type_oids);
  /// Fills in parameter types and result columns; 0A000 when a replan changes the result.
  void analyze(Statement& statement);
  /// Returns a plan that is valid now.
  PlanUsePtr plan_for(Statement& statement, std::span<const Value> parameters);
  /// Plans the statement. The plan is right for all values of the parameters; known ones improve
  /// the estimates of rows.
  PlanUsePtr make(Statement& statement, std::span<const Value> parameters = {});
  /// True if the plan is valid now. False for null, which lock_tables() leaves behind if a table
  /// was dropped while it waited.
  [[nodiscard]] bool is_current(const PlanUsePtr& use);
  /// True if, besides, the statement's text still means the same: a prepared statement keeps its
  /// meaning.
  [[nodiscard]] bool means_the_same(const PlanUsePtr& use);
  [[nodiscard]] bool shares_plans() const { return shared_plan_limit() > 0; }

  /// Returns the portal's run of its plan, which the portal keeps.
  PlanRun& run_of(Portal& portal);
  /// Returns the run, ready to be opened with the portal's parameters.
  PlanRun& begin_run(Portal& portal);
  /// Takes the run back from the portal, for the next one to use.
  void give_back_run(Portal& portal);

  // Caches of statements. They return null for an unknown text, or if the statement would now get
  // another plan.
  StatementPtr known_text(const std::string& text) { return known(texts_, text); }
  void keep_text(const std::string& text, const StatementPtr& statement) {
    texts_.put(text, statement, kept_bytes(*statement));
  }
  /// Finds the statement of a Parse message without a name, by its text and parameter types.
  StatementPtr known_parse(const std::string& key) { return known(parses_, key); }
  void keep_parse(const std::string& key, const StatementPtr& statement) {
    parses_.put(key, statement, kept_bytes(*statement));
  }
  /// Finds a statement by text with its literals lifted, current or not; a statement without a node
  /// marks a shape that cannot be used.
  StatementPtr known_shape(const std::string& key) { return shapes_.find(key); }
  void keep_shape(const std::string& key, const StatementPtr& statement) {
    shapes_.put(key, statement, kept_bytes(*statement));
  }
  /// Returns a statement of the server's own.
  StatementPtr internal(const std::string& sql, std::span<const TypeId> types);
  /// DISCARD PLANS.
  void forget_texts() {
    texts_.clear();
    parses_.clear();
  }
  /// Called when the session acts as another role without a changed setting.
  void forget_role() noexcept { planned_under_version_ = 0; }

 private:
  PlanUsePtr make_once(Statement& statement, std::span<const Value> parameters);
  /// Returns the stamp under which the plan is valid, or nothing if it is not.
  [[nodiscard]] std::optional<RoleStamp> valid_under(const PlanUsePtr& use);
  StatementPtr known(StatementCache& cache, const std::string& key);
  ParsedTextPtr parsed_text(const std::string& text);
  /// True if the plan's names still refer to the same relations, and may still be used.
  [[nodiscard]] bool has_same_names(const Plan& plan, bool trusts);
  /// True if the routines that it calls are still those that it was made for.
  [[nodiscard]] bool has_same_routines(const Plan& plan) const;
  [[nodiscard]] std::size_t shared_plan_limit() const;
  /// Returns a valid plan from the shared cache; otherwise plans the statement and publishes the
  /// plan if it may be shared.
  PlanUsePtr plan_of(Statement& statement);
  /// False if the plan depends on session-local state: temporary tables, uncommitted DDL, cursors.
  [[nodiscard]] bool may_share(const Statement& statement) const;
  /// Returns the key of the plan: everything that it depends on, except definitions.
  std::string plan_key(const Statement& statement);
  const std::string& planned_under();
  /// Returns null if a table, statistic or name that the plan depends on has changed.
  PlanUsePtr taken_over(const SharedPlan& known, Statement& statement);
  [[nodiscard]] bool may_read_indexes(const Plan& plan);

  Session::State& session_;
  IdleRuns idle_runs_;  ///< outlives all plans
  StatementCache texts_{kTextsOfSession};
  StatementCache parses_{kTextsOfSession};
  StatementCache shapes_{kTextsOfSession};
  std::unordered_map<std::string, StatementPtr> internals_;
  std::string planned_under_;
  std::uint64_t planned_under_version_ = 0;
  CatalogView::Stamp planned_under_stamp_;
};

}  // namespace swizzle::sql
