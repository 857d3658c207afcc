#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/statement/inner_statements.h"
#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {

/// Running and waiting statements: the protocol's portals, SQL's cursors, and statements of
/// routines. portals.cpp, cursors.cpp.
class SessionPortals {
 public:
  /// End of a portal's run: with `commit`, the statement's own transaction commits before its tag
  /// is sent.
  enum class AtEnd : std::uint8_t { stay, commit };
  using Reads = InnerStatements::Reads;
  /// State of the result's columns: once they are told to the client they must not change.
  enum class Columns : std::uint8_t { told, open };
  using ByName = std::map<std::string, PortalPtr, std::less<>>;

  explicit SessionPortals(Session::State& session) : session_(session) {}
  SessionPortals(const SessionPortals&) = delete;
  SessionPortals& operator=(const SessionPortals&) = delete;

  // Named portals, and the unnamed one.
  /// Returns null if there is none.
  [[nodiscard]] PortalPtr find(std::string_view name) const;
  [[nodiscard]] const ByName& all() const noexcept { return by_name_; }
  [[nodiscard]] std::uint64_t last_number() const noexcept { return opened_; }
  /// Opens a portal under its name and gives it the next number; an earlier portal of that name is
  /// finished.
  void open(const PortalPtr& portal);
  void close(std::string_view name);
  void close_all();
  /// Closes the portals that were opened after this number.
  void close_since(std::uint64_t number);
  /// At the end of the transaction: closes the portals that were not held at a commit.
  void drop_unheld();

  PortalPtr make(StatementPtr statement, std::span<const Value> parameters);
  /// Returns the last portal given back, if it is not in use any more, so that a warm point query
  /// allocates no portal.
  PortalPtr make_empty();
  void recycle(PortalPtr portal) noexcept;

  void describe_columns(const Portal& portal, ResultSink& sink);
  void tell_columns(std::span<const OutputTarget> columns, std::span<const Format> formats,
                    ResultSink& sink);
  /// 25006 in a read-only transaction.
  void require_writable(const Portal& portal) const;
  void lock_tables(Portal& portal, Columns columns);
  void run(Portal& portal, std::uint64_t max_rows, ResultSink& sink, AtEnd at_end = AtEnd::stay);
  void run_at_once(Portal& portal, ResultSink& sink, AtEnd at_end = AtEnd::stay);
  void start(Portal& portal, Reads reads = Reads::at_once);
  void finish(Portal& portal);

  // For routines.
  /// Plans, locks and checks that it may run.
  void prepare_inner(Portal& portal, bool may_write);
  /// Opens a portal that has been prepared. If that fails, nothing runs.
  PlanRun& open_inner(Portal& portal, Reads reads);

  void declare(const ast::DeclareCursorStmt& statement, std::span<const Value> parameters,
               Statement& whole);
  void fetch(const ast::FetchStmt& statement, ResultSink& sink);
  void close(const ast::ClosePortalStmt& statement);
  /// At commit: reads the remaining rows of held cursors.
  void hold_all();
  /// The same for the cursors of a routine's loops.
  void hold_pinned();
  [[nodiscard]] std::vector<OutputColumn> fetch_columns(const ast::FetchStmt& statement,
                                                        std::span<const Format> formats) const;

 private:
  template <class Condition>
  void close_where(const Condition& is_meant) {
    for (auto at = by_name_.begin(); at != by_name_.end();) {
      const auto entry = at++;
      if (is_meant(*entry->second)) close_entry(entry);
    }
  }
  /// Finishes the portal and forgets its name.
  void close_entry(ByName::iterator entry);
  std::uint64_t send_rows(Portal& portal, std::uint64_t max_rows, ResultSink& sink);
  void count_run(const Portal& portal);
  /// Reads one more row of the plan into the cursor's store.
  bool read_row(Portal& portal);
  void make_cursor_of(Portal& portal);
  void hold(Portal& portal);

  Session::State& session_;
  ByName by_name_;
  std::uint64_t opened_ = 0;
  PortalPtr spare_;
  ByName::node_type spare_entry_;  ///< of by_name_, without its portal
  std::vector<OutputColumn> told_columns_;
};

}  // namespace swizzle::sql
