#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/result_sink.h"
#include "sql-lite-frontend/statement/statement.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"

namespace swizzle::sql {

enum class CursorScroll : std::uint8_t { unsaid, yes, no };

/// Interface to run statements within a statement, those of a routine or of a definition: parsed,
/// planned and run like a client's. The session implements it.
class InnerStatements {
 public:
  /// Reading of a portal. A portal that is read in parts holds its snapshot, since other statements
  /// run in between.
  enum class Reads : std::uint8_t { at_once, in_parts };

  InnerStatements() = default;
  InnerStatements(const InnerStatements&) = delete;
  InnerStatements& operator=(const InnerStatements&) = delete;

  // Plans.

  /// Parses the one statement of the text, or none.
  virtual StatementPtr parse(const std::string& text) = 0;
  /// Fills in parameter types and result columns; 0A000 when a replan changes the result.
  virtual void analyze(Statement& statement) = 0;
  /// Returns a plan that is valid now.
  virtual PlanUsePtr plan_for(Statement& statement) = 0;
  /// Plans the statement anew.
  virtual PlanUsePtr make_plan(Statement& statement) = 0;
  /// True if the plan is valid now. False for null.
  [[nodiscard]] virtual bool is_current(const PlanUsePtr& use) = 0;
  /// Called when the session acts as another role without a changed setting: its plans are checked
  /// again.
  virtual void forget_role() noexcept = 0;

  // Portals without a name.

  virtual PortalPtr make_portal(StatementPtr statement, std::span<const Value> parameters) = 0;
  /// Returns the last portal given back, if it is not in use any more, so that a warm query
  /// allocates nothing.
  virtual PortalPtr make_empty_portal() = 0;
  virtual void recycle(PortalPtr portal) noexcept = 0;
  /// Makes the portal of a prepared statement with the values that EXECUTE gives it.
  virtual PortalPtr portal_of(const ast::ExecuteStmt& statement) = 0;
  /// Plans, locks and checks that it may run.
  virtual void prepare_inner(Portal& portal, bool may_write) = 0;
  /// Opens a portal that has been prepared. If that fails, nothing runs.
  virtual PlanRun& open_inner(Portal& portal, Reads reads) = 0;
  /// Plans, locks and opens a portal like a client's statement.
  virtual void start(Portal& portal) = 0;
  virtual void finish(Portal& portal) = 0;

  // Cursors: portals with a name.

  /// Returns null if there is none.
  [[nodiscard]] virtual PortalPtr find_portal(std::string_view name) const = 0;
  /// Returns a number that no cursor's name has had yet.
  [[nodiscard]] virtual std::uint64_t last_portal_number() const noexcept = 0;
  /// Opens a cursor within a running statement, as a routine does. It sees the transaction's
  /// present snapshot, and is one of the session's portals, by its name. Pre: the portal has a
  /// unique name, a statement, parameters and a plan.
  virtual void open_cursor(const PortalPtr& portal, CursorScroll scroll) = 0;
  virtual void fetch(const ast::FetchStmt& statement, ResultSink& sink) = 0;
  virtual void close_portal(std::string_view name) = 0;

  // Statements without a plan.

  virtual void run_utility(const ast::Node* node, Statement& statement,
                           std::span<const Value> parameters, ResultSink& sink) = 0;
  /// Ends the transaction and begins another. Running statements may hold nothing of the old one
  /// except pinned objects. Throws 2D000 if that is not allowed; after any other error, such as a
  /// failed commit, there is no transaction.
  virtual void end_transaction(TransactionEnd end, NextTransaction next) = 0;
  /// Notes the error of a part of the request that goes on, for pg_stat_activity.
  virtual void note_failure(SqlState failure, std::string_view message) noexcept = 0;
  /// Sends a notice for each name in the text that is too long and is truncated.
  virtual bool tell_of_long_names(std::string_view text, ResultSink& sink) = 0;

 protected:
  ~InnerStatements() = default;
};

}  // namespace swizzle::sql
