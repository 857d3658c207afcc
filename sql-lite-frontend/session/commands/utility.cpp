#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <type_traits>

#include "sql-lite-frontend/definitions/indexes/beside_writers.h"
#include "sql-lite-frontend/definitions/indexes/reindex.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/rights/grant.h"
#include "sql-lite-frontend/definitions/rights/owned.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/triggers/event_triggers.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/routines/call.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/subscriptions/statements.h"
#include "sql-lite-frontend/statement/refusals.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/statement_kinds.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Runs statements without a plan: makes the checks of `statement/statement_kinds.inc`, and calls
/// the function given there.
namespace swizzle::sql {
namespace {

// Statements that a part of the session runs -----------------------------------------------------

void set_variable(Session::State& session, const ast::VariableSetStmt& statement,
                  ResultSink& sink) {
  session.variables.set(statement, sink);
}
void show_variable(Session::State& session, const ast::VariableShowStmt& statement,
                   ResultSink& sink) {
  session.variables.show(statement, sink);
}
void set_constraints(Session::State& session, const ast::ConstraintsSetStmt& statement,
                     ResultSink& sink) {
  session.transaction.set_constraints(statement, sink);
}
void declare_cursor(Session::State& session, const ast::DeclareCursorStmt& statement,
                    Statement& whole, std::span<const Value> parameters) {
  session.portals.declare(statement, parameters, whole);
}
void fetch_rows(Session::State& session, const ast::FetchStmt& statement, ResultSink& sink) {
  session.portals.fetch(statement, sink);
}
void close_cursor(Session::State& session, const ast::ClosePortalStmt& statement) {
  session.portals.close(statement);
}
void listen(Session::State& session, const ast::ListenStmt& statement) {
  session.notifications.resolve(statement);
}
void unlisten(Session::State& session, const ast::UnlistenStmt& statement) {
  session.notifications.resolve(statement);
}
void notify(Session::State& session, const ast::NotifyStmt& statement) {
  session.notifications.notify(statement.conditionname, statement.payload);
}

/// Procedures may end the transaction only where the client is not inside a block.
void run_do(Session::State& session, const ast::DoStmt& statement, const Statement& whole) {
  session.transaction.begin_statement();
  const TransactionControl control{session.transaction, !session.transaction.in_block()};
  run_inline_code(session, statement, whole);
}
void run_call(Session::State& session, const ast::CallStmt& statement, const Statement& whole,
              std::span<const Value> parameters, ResultSink& sink) {
  session.transaction.begin_statement();
  const TransactionControl control{session.transaction, !session.transaction.in_block()};
  call_procedure(session, statement, whole.parameter_types, parameters, sink);
}

void refuse(Session::State& /*session*/, const ast::Node& statement) {
  refuse_statement(statement);
}

// The functions of statement_kinds.inc -----------------------------------------------------------

struct Call {
  Session::State& session;
  Statement& whole;
  std::span<const Value> parameters;
  ResultSink& sink;
};

template <class Part>
Part part_of(const Call& call) {
  if constexpr (std::is_same_v<Part, ResultSink&>) {
    return call.sink;
  } else if constexpr (std::is_same_v<Part, std::span<const Value>>) {
    return call.parameters;
  } else {
    return call.whole;
  }
}

/// Calls a statement's function with its tree and with those parts of the call that are its
/// parameters.
template <class Context, class Node, class... Parts>
void run_with(void (*function)(Context&, const Node&, Parts...), const Call& call,
              const ast::Node& node) {
  if constexpr (std::is_same_v<Node, ast::Node>) {
    function(call.session, node, part_of<Parts>(call)...);
  } else {
    function(call.session, ast::as<Node>(&node), part_of<Parts>(call)...);
  }
}

using Runner = void (*)(const Call& call, const ast::Node& node);
template <auto function>
constexpr Runner runner_of() {
  if constexpr (std::is_null_pointer_v<decltype(function)>) {
    return nullptr;
  } else {
    return [](const Call& call, const ast::Node& node) { run_with(function, call, node); };
  }
}

/// By the node's number; null: no statement, or one that is run elsewhere.
using Runners = std::array<Runner, ast::kLastNodeKind + 1>;
consteval Runners all_runners() {
  Runners runners{};
#define STATEMENT(Node, function, ...) \
  runners[static_cast<std::size_t>(ast::Node::kKind)] = runner_of<function>();
#include "sql-lite-frontend/statement/statement_kinds.inc"
#undef STATEMENT
  return runners;
}
constexpr Runners kRunners = all_runners();

/// One attempt at a definition, repeated when other definitions change under it.
struct Attempt {
  std::optional<SessionTransaction::Savepoint> start;
  CatalogView::Resolution resolution;

  void begin(Session::State& session) {
    session.transaction.begin_definition();
    start = session.transaction.mark();
    resolution.begin(session.catalog, *session.transaction);
  }
};

/// Passes everything on but the tag, which comes after the notices of event triggers.
class TagHolder final : public ResultSink {
 public:
  explicit TagHolder(ResultSink& sink) : sink_(sink) {}
  /// Sends the tag.
  void release() {
    if (tag_) sink_.command_complete(*tag_);
  }

  void parameter_description(std::span<const std::uint32_t> type_oids) override {
    sink_.parameter_description(type_oids);
  }
  void row_description(std::span<const OutputColumn> columns) override {
    sink_.row_description(columns);
  }
  void no_data() override { sink_.no_data(); }
  void data_row(const OutputRow& row) override { sink_.data_row(row); }
  void command_complete(std::string_view tag) override { tag_ = tag; }
  void empty_query() override { sink_.empty_query(); }
  void portal_suspended() override { sink_.portal_suspended(); }
  void notice(const Diagnostic& diagnostic) override { sink_.notice(diagnostic); }
  void parameter_status(std::string_view name, std::string_view value) override {
    sink_.parameter_status(name, value);
  }
  void notification(std::int32_t sender, std::string_view channel,
                    std::string_view payload) override {
    sink_.notification(sender, channel, payload);
  }
  void copy_in_begin(const CopyDescription& description) override {
    sink_.copy_in_begin(description);
  }
  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override {
    return sink_.copy_in_data();
  }
  void copy_out_begin(const CopyDescription& description) override {
    sink_.copy_out_begin(description);
  }
  void copy_out_data(Bytes data) override { sink_.copy_out_data(data); }
  void copy_out_end() override { sink_.copy_out_end(); }

 private:
  ResultSink& sink_;
  std::optional<std::string> tag_;
};

/// Returns true for what a read-only transaction may do, and a standby may not.
bool is_primary_s(const ast::Node& node) {
  if (const auto* lock = ast::try_as<ast::LockStmt>(&node)) {
    constexpr int kRowExclusive = 3;
    return lock->mode > kRowExclusive;
  }
  return ast::try_as<ast::NotifyStmt>(&node) != nullptr ||
         ast::try_as<ast::ListenStmt>(&node) != nullptr ||
         ast::try_as<ast::UnlistenStmt>(&node) != nullptr ||
         ast::try_as<ast::VacuumStmt>(&node) != nullptr ||
         ast::try_as<ast::ReindexStmt>(&node) != nullptr ||
         ast::try_as<ast::ClusterStmt>(&node) != nullptr;
}

/// Refuses a statement for the state that its session is in, in PostgreSQL's order.
void require_allowed_now(Session::State& session, const StatementKind& kind,
                         const ast::Node& node) {
  if (kind.writes) session.transaction.require_read_write(kind.tag.of(node));
  if (session.transaction.is_on_standby() && is_primary_s(node)) [[unlikely]]
    session.transaction.prevent_on_standby(kind.tag.of(node));
  if (const auto name = kind.outside_blocks.of(node); !name.empty()) {
    prevent_in_routine(session, name);
    session.transaction.prevent_in_block(name);
  }
  if (kind.only_in_blocks && !session.transaction.in_block()) {
    throw_error(sqlstate::no_active_sql_transaction, "{} can only be used in transaction blocks",
                kind.tag.of(node));
  }
  if (!kind.restricted_as.empty()) {
    require_unrestricted(session, fmt::format("execute {}", kind.restricted_as));
  }
}

}  // namespace

/// Resolves names, locks the objects that they mean, and does so again if the names mean others by
/// then.
void Session::State::run_utility(const ast::Node* node, Statement& statement,
                                 std::span<const Value> parameters, ResultSink& sink) {
  const StatementKind& kind = kind_of_statement(*ast::Link<ast::Node>{node});
  require_allowed_now(*this, kind, *node);
  const Runner run = kRunners[static_cast<std::size_t>(node->node_kind)];
  if (run == nullptr) refuse_statement(*node);
  // Running the statement may destroy its tree: DISCARD ALL.
  const std::string_view tag = kind.tag.of(*node);
  const bool is_definition = kind.runs == StatementKind::Runs::definition;
  std::optional<StatementEvents> events;
  // Statements of several transactions have no event triggers.
  if (is_definition && kind.outside_blocks.of(*node).empty()) events.emplace(*this, *node, tag);
  const bool is_watched = events && events->is_watched();
  if (is_watched) {
    transaction.begin_definition();
    events->start();
  }
  TagHolder holder{sink};
  const Call call{*this, statement, parameters, is_watched ? holder : sink};
  for (Attempt attempt;;) {
    try {
      if (is_definition) attempt.begin(*this);
      run(call, *node);
      if (!kind.sends_tag) call.sink.command_complete(tag);
      break;
    } catch (const DefinitionsMoved&) {
      attempt.resolution.end();
    }
    transaction.roll_back_to(*attempt.start);
  }
  if (is_watched) {
    events->end();
    holder.release();
  }
  if (kind.takes_snapshot && transaction) transaction.take_snapshot();
}

}  // namespace swizzle::sql
