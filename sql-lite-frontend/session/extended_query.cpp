#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/guarded_request.h"
#include "sql-lite-frontend/session/results/execute_sink.h"
#include "sql-lite-frontend/session/shared/known_settings.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/null_values.h"

/// The extended protocol: Parse, Bind, Describe, Execute, Close, Sync.
namespace swizzle::sql {
namespace {

/// Returns the cache key of a Parse message without a name: its text, which has no zero byte, and
/// its parameter types.
std::string parsed_key(std::string_view text, std::span<const std::uint32_t> type_oids) {
  std::string key{text};
  if (!type_oids.empty()) key += '\0';
  key.append(as_text(std::as_bytes(type_oids)));
  return key;
}

/// Throws unless the numbers are types. Clients may send any number; 0 means that the type is
/// inferred.
void require_types(Session::State& state, std::span<const std::uint32_t> type_oids) {
  for (const std::uint32_t oid : type_oids) {
    if (oid != 0 && !state.names.is_type(TypeId{oid}))
      throw_error(sqlstate::undefined_object, "type with OID {} does not exist", oid);
  }
}

StatementPtr parse_and_plan(Session::State& state, std::string_view text,
                            std::span<const std::uint32_t> type_oids) {
  require_types(state, type_oids);
  StatementPtr statement = state.plans.parse(std::string{text}, type_oids);
  if (statement->node != nullptr) state.check_not_failed(statement->node);
  state.plans.analyze(*statement);
  return statement;
}

StatementPtr parse_unnamed(Session::State& state, std::string_view text,
                           std::span<const std::uint32_t> type_oids, ResultSink& sink) {
  const bool is_kept = text.size() <= kLongestKeptText;
  const std::string key = is_kept ? parsed_key(text, type_oids) : std::string{};
  if (is_kept) {
    // A text parsed before is neither parsed nor planned again while the result would be the same.
    if (StatementPtr known = state.plans.known_parse(key)) {
      state.check_not_failed(known->node);
      return known;
    }
  }
  const bool was_told = state.tell_of_long_names(text, sink);
  StatementPtr statement = parse_and_plan(state, text, type_oids);
  if (is_kept && !was_told && statement->plan && !statement->plan->plan->single_use)
    state.plans.keep_parse(key, statement);
  return statement;
}

}  // namespace

Outcome Session::parse(std::string_view name, std::string_view text,
                       std::span<const std::uint32_t> type_oids, ResultSink& sink) {
  return guarded(*state_, sink, text, [&] {
    State& state = *state_;
    if (name.empty()) {
      // The old unnamed statement is dropped even if its replacement is wrong.
      auto unnamed = state.statements.extract(std::string{});
      StatementPtr statement = parse_unnamed(state, text, type_oids, sink);
      if (unnamed.empty()) {
        state.statements.emplace(std::string{}, std::move(statement));
      } else {
        unnamed.mapped() = std::move(statement);
        state.statements.insert(std::move(unnamed));
      }
      return;
    }
    state.tell_of_long_names(text, sink);
    StatementPtr statement = parse_and_plan(state, text, type_oids);
    statement->count_as_kept(state.memory, name.size());
    if (!state.statements.try_emplace(std::string{name}, std::move(statement)).second) {
      throw_error(sqlstate::duplicate_prepared_statement,
                  "prepared statement \"{}\" already exists", name);
    }
  });
}

namespace {

StatementPtr find_statement(Session::State& state, std::string_view name) {
  const auto found = state.statements.find(name);
  if (found == state.statements.end()) {
    if (name.empty()) {
      throw SqlError{sqlstate::invalid_sql_statement_name,
                     "unnamed prepared statement does not exist"};
    }
    throw_error(sqlstate::invalid_sql_statement_name, "prepared statement \"{}\" does not exist",
                name);
  }
  return found->second;
}

PortalPtr find_portal(Session::State& state, std::string_view name) {
  PortalPtr portal = state.portals.find(name);
  if (!portal) throw_error(sqlstate::invalid_cursor_name, "portal \"{}\" does not exist", name);
  return portal;
}

/// Result columns of statements without a plan: SHOW, EXPLAIN, FETCH.
std::vector<OutputColumn> utility_columns(Session::State& state, const ast::Node* node,
                                          std::span<const Format> formats) {
  std::vector<OutputColumn> columns;
  if (const auto* show = ast::try_as<ast::VariableShowStmt>(node)) {
    if (show->name == "all") {
      for (const std::string_view name : {"name", "setting", "description"}) {
        columns.push_back({name, 0, 0, raw(TypeId::text), -1, -1, Format::text});
      }
    } else {
      columns.push_back(
          {shown_setting_name(show->name), 0, 0, raw(TypeId::text), -1, -1, Format::text});
    }
  } else if (const auto* explain = ast::try_as<ast::ExplainStmt>(node)) {
    columns.push_back(explain_column(*explain));
  } else if (const auto* fetch = ast::try_as<ast::FetchStmt>(node)) {
    columns = state.portals.fetch_columns(*fetch, formats);
  } else if (const auto* execute = ast::try_as<ast::ExecuteStmt>(node)) {
    const StatementPtr prepared = find_statement(state, execute->name);
    if (prepared->returns_rows) columns = output_columns(prepared->columns(), formats);
  }
  return columns;
}

Value read_parameter(FunctionContext& context, TypeId type, Format format, Bytes bytes) {
  if (format == Format::binary) return receive_binary(context, type, kNoTypmod, bytes);
  if (format != Format::text)
    throw_error(sqlstate::protocol_violation, "unsupported format code: {}",
                static_cast<int>(format));
  return input_text(context, type, kNoTypmod, as_text(bytes));
}

}  // namespace

Outcome Session::bind(const BindRequest& request, ResultSink& sink) {
  return guarded(*state_, sink, {}, [&] {
    State& state = *state_;
    const StatementPtr statement = find_statement(state, request.statement);
    const std::size_t expected = statement->parameter_types.size();
    if (request.values.size() != expected) {
      throw_error(sqlstate::protocol_violation,
                  "bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
                  request.values.size(), request.statement, expected);
    }
    if (request.formats.size() > 1 && request.formats.size() != request.values.size()) {
      throw_error(sqlstate::protocol_violation,
                  "bind message has {} parameter formats but {} parameters", request.formats.size(),
                  request.values.size());
    }
    if (statement->node != nullptr) state.check_not_failed(statement->node);
    const bool is_named = !request.portal.empty();
    if (is_named && state.portals.find(request.portal)) {
      throw_error(sqlstate::duplicate_cursor, "cursor \"{}\" already exists", request.portal);
    }
    // Reading a parameter may call functions: checks of domains.
    if (!state.transaction) state.transaction.begin(SessionTransaction::Block::implicit);
    PortalPtr portal = state.portals.make_empty();
    if (is_named) {
      portal->count_as_kept(state.memory, request.portal.size(), expected,
                            request.result_formats.size());
      portal->name = request.portal;
    }
    portal->opened_at = state.session_context.statement_timestamp;
    portal->statement = statement;
    FunctionContext context{portal->arena, state.session_context, {}};
    for (std::size_t i = 0; i < expected; ++i) {
      if (!request.values[i]) {
        portal->parameters.push_back(null_of(context, statement->parameter_types[i]));
        continue;
      }
      Format format = Format::text;
      if (!request.formats.empty()) {
        format = request.formats.size() == 1 ? request.formats[0] : request.formats[i];
      }
      // The bytes are the message's; values that refer to them must not outlive this call.
      portal->parameters.push_back(
          read_parameter(context, statement->parameter_types[i], format, *request.values[i])
              .copy_to(portal->arena));
    }
    if (is_plannable(statement->node)) {
      portal->use = state.plans.plan_for(*statement, portal->parameters);
      require_runnable(portal->plan());
    }
    portal->formats.assign(request.result_formats.begin(), request.result_formats.end());
    if (portal->formats.size() > 1) {
      const std::size_t columns = portal->use ? statement->columns().size()
                                              : utility_columns(state, statement->node, {}).size();
      if (portal->formats.size() != columns) {
        throw_error(sqlstate::protocol_violation,
                    "bind message has {} result formats but query has {} columns",
                    portal->formats.size(), columns);
      }
    }
    state.portals.open(std::move(portal));
  });
}

namespace {

void describe(Session::State& state, const Statement& statement, std::span<const Format> formats,
              ResultSink& sink) {
  if (statement.returns_rows) {
    state.portals.tell_columns(statement.columns(), formats, sink);
    return;
  }
  if (statement.node != nullptr && !is_plannable(statement.node)) {
    const auto columns = utility_columns(state, statement.node, formats);
    if (!columns.empty()) {
      sink.row_description(columns);
      return;
    }
  }
  sink.no_data();
}

}  // namespace

Outcome Session::describe_statement(std::string_view name, ResultSink& sink) {
  return guarded(*state_, sink, {}, [&] {
    const StatementPtr statement = find_statement(*state_, name);
    if (state_->transaction.is_failed() && statement->returns_rows)
      state_->check_not_failed(statement->node);
    if (is_plannable(statement->node)) state_->plans.analyze(*statement);
    std::vector<std::uint32_t> types;
    for (const TypeId type : statement->parameter_types) types.push_back(raw(type));
    sink.parameter_description(types);
    describe(*state_, *statement, {}, sink);
  });
}

Outcome Session::describe_portal(std::string_view name, ResultSink& sink) {
  return guarded(*state_, sink, {}, [&] {
    const PortalPtr portal = find_portal(*state_, name);
    if (state_->transaction.is_failed() && portal->statement->returns_rows) {
      state_->check_not_failed(portal->statement->node);
    }
    describe(*state_, *portal->statement, portal->formats, sink);
  });
}

Outcome Session::execute(std::string_view name, std::uint64_t max_rows, ResultSink& sink) {
  PortalPtr portal = state_->portals.find(name);
  // Keeps the text for error positions.
  const StatementPtr executed = portal ? portal->statement : nullptr;
  const std::string_view text = executed ? std::string_view{executed->text()} : std::string_view{};
  Outcome outcome = guarded(*state_, sink, text, [&] {
    State& state = *state_;
    if (!portal) find_portal(state, name);
    Statement& statement = *executed;
    state.note_query(statement.text());
    if (statement.node == nullptr) {
      sink.empty_query();
      return;
    }
    state.check_not_failed(statement.node);
    if (const auto* control = ast::try_as<ast::TransactionStmt>(statement.node)) {
      state.transaction.run(*control, sink);
      return;
    }
    if (!state.transaction) state.transaction.begin(SessionTransaction::Block::implicit);
    if (portal->use) {
      state.portals.run(*portal, max_rows, sink);
    } else {
      state.bound_formats = portal->formats;
      ExecuteSink undescribed{sink};
      state.run_utility(statement.node, statement, portal->parameters, undescribed);
    }
  });
  // The statement may have closed its own portal: COMMIT.
  state_->portals.recycle(std::move(portal));
  return outcome;
}

Outcome Session::close_statement(std::string_view name) {
  if (const auto found = state_->statements.find(name); found != state_->statements.end()) {
    state_->statements.erase(found);
  }
  return {};
}

Outcome Session::close_portal(std::string_view name) {
  state_->portals.close(name);
  return {};
}

Outcome Session::sync(ResultSink& sink) {
  if (!state_->transaction || state_->transaction.in_explicit_block()) return {};
  return guarded(*state_, sink, {}, [&] { state_->transaction.commit(); });
}

}  // namespace swizzle::sql
