#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/shared_plan.h"
#include "sql-lite-frontend/session/shared/statement.h"
#include "sql-lite-frontend/session/shared/statement_cache.h"

namespace swizzle::sql {

/// What the session has parsed and planned, and how texts become plans: prepare.cpp (parsing,
/// binding, planning), plan_sharing.cpp (other sessions' plans), plan_run.cpp.
class SessionPlans {
 public:
  explicit SessionPlans(Session::State& session) : session_(session) {}
  SessionPlans(const SessionPlans&) = delete;
  SessionPlans& operator=(const SessionPlans&) = delete;

  /// The one statement of the text, or none.
  StatementPtr parse(const std::string& text, std::span<const std::uint32_t> type_oids);
  /// Fills in parameter types and result columns; 0A000 when a replan changes the result.
  void analyze(Statement& statement);
  /// A plan that is valid now.
  PlanUsePtr plan_for(Statement& statement, std::span<const Value> parameters);
  /// Right for whatever values the parameters have; known ones help to guess how many rows it
  /// meets.
  PlanUsePtr make(Statement& statement, std::span<const Value> parameters = {});
  /// Not where there is none: who waited for a table that was dropped meanwhile has left a
  /// statement without a plan.
  [[nodiscard]] bool is_current(const PlanUsePtr& use);
  /// And whether the statement's text would mean the same now: what was prepared keeps what it
  /// meant.
  [[nodiscard]] bool means_the_same(const PlanUsePtr& use);
  [[nodiscard]] bool shares_plans() const { return shared_plan_limit() > 0; }

  /// The portal's run of its plan, which it has from now on.
  PlanRun& run_of(Portal& portal);
  /// Ready to be opened, for what the portal's parameters are.
  PlanRun& begin_run(Portal& portal);
  /// The portal is done with it: it may serve the next.
  void give_back_run(Portal& portal);
  /// By which what expressions remember is told from what they remembered before.
  std::uint64_t new_run() noexcept { return next_run_++; }

  // What came before: null where it is not known, or would now be planned in another way.
  /// Of a Query message.
  StatementPtr known_text(const std::string& text) { return known(texts_, text); }
  void keep_text(const std::string& text, StatementPtr statement) {
    texts_.put(text, std::move(statement));
  }
  /// Of a Parse message without a name, by its text and the types that it gives.
  StatementPtr known_parse(const std::string& key) { return known(parses_, key); }
  void keep_parse(const std::string& key, StatementPtr statement) {
    parses_.put(key, std::move(statement));
  }
  /// By text with its literals lifted, current or not; a statement without a node marks a shape
  /// that does not work.
  StatementPtr known_shape(const std::string& key) { return shapes_.find(key); }
  void keep_shape(const std::string& key, StatementPtr statement) {
    shapes_.put(key, std::move(statement));
  }
  /// A statement of the system's own.
  StatementPtr internal(const std::string& sql, std::span<const TypeId> types);
  /// DISCARD PLANS.
  void forget_texts() {
    texts_.clear();
    parses_.clear();
  }
  /// The session acts as another role, without having changed a setting.
  void forget_role() noexcept { planned_under_version_ = 0; }

  TablesInUse in_use;  ///< before who has runs

 private:
  StatementPtr known(StatementCache& cache, const std::string& key);
  ParsedTextPtr parsed_text(const std::string& text);
  /// Whether its names mean what they meant when it was made, and may still be used.
  [[nodiscard]] bool has_same_names(const Plan& plan, bool trusts);
  /// Whether the routines that it calls are still those that it was made for.
  [[nodiscard]] bool has_same_routines(const Plan& plan) const;
  [[nodiscard]] std::size_t shared_plan_limit() const;
  /// Another session's, where that is what would be made, or one that is made, and shared from now
  /// on if it may be.
  PlanUsePtr plan_of(Statement& statement);
  /// Whether what the statement means to this session is what others may think, too.
  [[nodiscard]] bool may_share(const Statement& statement) const;
  /// All that the plan depends on, but for definitions.
  std::string plan_key(const Statement& statement);
  const std::string& planned_under();
  /// Null: it is not what would be made now.
  PlanUsePtr taken_over(const SharedPlan& known, Statement& statement);
  [[nodiscard]] bool may_read_indexes(const Plan& plan);

  Session::State& session_;
  IdleRuns idle_runs_;  ///< before who has plans
  StatementCache texts_{kTextsOfSession};
  StatementCache parses_{kTextsOfSession};
  StatementCache shapes_{kTextsOfSession};
  std::unordered_map<std::string, StatementPtr> internals_;
  std::uint64_t next_run_ = 1;
  std::string planned_under_;
  std::uint64_t planned_under_version_ = 0;
  CatalogView::Stamp planned_under_stamp_;
};

}  // namespace swizzle::sql
