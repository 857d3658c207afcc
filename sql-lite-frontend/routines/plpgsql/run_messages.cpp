#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/routines/plpgsql/frame.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Runs RAISE, ASSERT and GET DIAGNOSTICS.
namespace swizzle::sql::plpgsql {
namespace {

constexpr SqlState kRaised{"P0001"};
constexpr SqlState kAssertFailed{"P0004"};

std::string formatted(Frame& frame, const RaiseStep& raise) {
  std::string message;
  std::size_t next = 0;
  for (std::size_t i = 0; i < raise.format.size(); ++i) {
    const char letter = raise.format[i];
    if (letter != '%') {
      message += letter;
    } else if (i + 1 < raise.format.size() && raise.format[i + 1] == '%') {
      message += '%';
      ++i;
    } else {
      message += frame.text_of(*raise.arguments[next++]).value_or("<NULL>");
    }
  }
  return message;
}

Severity severity_of(std::string_view level) {
  if (level == "debug") return Severity::debug;
  if (level == "log") return Severity::log;
  if (level == "info") return Severity::info;
  if (level == "notice") return Severity::notice;
  return level == "warning" ? Severity::warning : Severity::error;
}

/// All parts of a RAISE.
struct Message {
  std::optional<std::string> text;
  std::optional<std::string> code;
  std::string detail;
  std::string hint;
  ErrorFields fields;
};

void set_once(std::optional<std::string>& to, std::string value, std::string_view option) {
  if (to) throw_error(sqlstate::syntax_error, "RAISE option already specified: {}", option);
  to = std::move(value);
}

void apply_option(Message& message, const RaiseStep::Option& option, std::string value) {
  if (option.name == "message") return set_once(message.text, std::move(value), "MESSAGE");
  if (option.name == "errcode") {
    if (!read_sqlstate(value)) {
      const std::vector<std::string> codes = codes_of_condition(value);
      if (codes.empty()) {
        throw_error(sqlstate::undefined_object, "unrecognized exception condition \"{}\"", value);
      }
      value = codes[0];
    }
    return set_once(message.code, std::move(value), "ERRCODE");
  }
  const auto set = [&](std::string& to, std::string_view name) {
    if (!to.empty())
      throw_error(sqlstate::syntax_error, "RAISE option already specified: {}", name);
    to = std::move(value);
  };
  if (option.name == "detail") return set(message.detail, "DETAIL");
  if (option.name == "hint") return set(message.hint, "HINT");
  if (option.name == "column") return set(message.fields.column, "COLUMN");
  if (option.name == "constraint") return set(message.fields.constraint, "CONSTRAINT");
  if (option.name == "datatype") return set(message.fields.data_type, "DATATYPE");
  if (option.name == "table") return set(message.fields.table, "TABLE");
  set(message.fields.schema, "SCHEMA");
}

}  // namespace

Flow RaiseStep::run(Frame& frame) {
  if (is_again) {
    if (frame.caught.empty()) {
      throw SqlError{SqlState{"0Z002"},
                     "RAISE without parameters cannot be used outside an exception handler"};
    }
    frame.context_told = true;
    throw frame.caught.back()->as_error();
  }
  Message message;
  if (has_format) message.text = formatted(frame, *this);
  if (!code.empty()) message.code = code;
  if (!condition.empty()) message.code = codes_of_condition(condition)[0];
  for (const Option& option : options) {
    std::optional<std::string> value = frame.text_of(*option.value);
    if (!value) {
      throw SqlError{sqlstate::null_value_not_allowed, "RAISE statement option cannot be null"};
    }
    apply_option(message, option, std::move(*value));
  }
  const Severity severity = severity_of(level);
  SqlState state = severity == Severity::error ? kRaised : SqlState{"00000"};
  if (severity == Severity::warning) state = SqlState{"01000"};
  if (message.code) state = *read_sqlstate(*message.code);
  std::string text =
      message.text ? *message.text : (!condition.empty() ? condition : std::string{state.code()});
  if (severity == Severity::error) {
    SqlError error = SqlError{state, std::move(text)}
                         .with_detail(std::move(message.detail))
                         .with_hint(std::move(message.hint));
    error.fields() = std::move(message.fields);
    throw std::move(error);
  }
  StatementContext& session = frame.session;
  if (session.sink_for_notices == nullptr) return Flow::next;
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.state = state;
  diagnostic.message = std::move(text);
  diagnostic.detail = std::move(message.detail);
  diagnostic.hint = std::move(message.hint);
  diagnostic.column = std::move(message.fields.column);
  diagnostic.constraint = std::move(message.fields.constraint);
  diagnostic.datatype = std::move(message.fields.data_type);
  diagnostic.table = std::move(message.fields.table);
  diagnostic.schema = std::move(message.fields.schema);
  session.send_notice(*session.sink_for_notices, std::move(diagnostic));
  return Flow::next;
}

Flow AssertStep::run(Frame& frame) {
  const bool asserts = frame.session.settings.boolean("plpgsql.check_asserts");
  if (!asserts || frame.is_true(*condition)) return Flow::next;
  std::optional<std::string> said;
  if (message) said = frame.text_of(*message);
  throw SqlError{kAssertFailed, said.value_or("assertion failed")};
}

Flow DiagnosticsStep::run(Frame& frame) {
  if (is_stacked && frame.caught.empty()) {
    throw SqlError{SqlState{"0Z002"},
                   "GET STACKED DIAGNOSTICS cannot be used outside an exception handler"};
  }
  for (const Item& item : items) {
    const RowScope scope{frame.execution};
    if (item.what == "row_count") {
      frame.assign(item.target, Value::from_int(frame.row_count), TypeId::int8);
      continue;
    }
    if (item.what == "pg_routine_oid") {
      frame.assign(item.target, Value::from_oid(frame.routine.oid), TypeId::oid);
      continue;
    }
    std::string text;
    if (item.what == "pg_context") {
      text = call_context(frame.session);
    } else {
      const Caught& error = *frame.caught.back();
      if (item.what == "returned_sqlstate") text = error.state.code();
      if (item.what == "column_name") text = error.fields.column;
      if (item.what == "constraint_name") text = error.fields.constraint;
      if (item.what == "pg_datatype_name") text = error.fields.data_type;
      if (item.what == "message_text") text = error.message;
      if (item.what == "table_name") text = error.fields.table;
      if (item.what == "schema_name") text = error.fields.schema;
      if (item.what == "pg_exception_detail") text = error.detail;
      if (item.what == "pg_exception_hint") text = error.hint;
      if (item.what == "pg_exception_context") text = error.fields.where;
    }
    frame.assign(item.target, make_text(frame.execution.row_arena, text), TypeId::text);
  }
  return Flow::next;
}

}  // namespace swizzle::sql::plpgsql
