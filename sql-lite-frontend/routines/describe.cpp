#include "sql-lite-frontend/routines/describe.h"

#include <fmt/format.h>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/body.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"

namespace swizzle::sql {
namespace {

std::string shown_type(StatementContext& session, TypeId type) {
  return session.names.name_of(TypeId::regtype, raw(type)).value_or(format_type(type));
}

std::string_view word_of(ParameterMode mode, RoutineKind kind) {
  switch (mode) {
    case ParameterMode::out:
      return "OUT ";
    case ParameterMode::inout:
      return "INOUT ";
    case ParameterMode::variadic:
      return "VARIADIC ";
    case ParameterMode::in:
      return kind == RoutineKind::procedure ? "IN " : "";
    case ParameterMode::table:
      break;
  }
  return "";
}

std::string shown_columns(StatementContext& session, const Routine& routine) {
  std::string list;
  for (const RoutineParameter& parameter : routine.parameters) {
    if (parameter.mode != ParameterMode::table) continue;
    if (!list.empty()) list += ", ";
    if (!parameter.name.empty()) list += quote_identifier(parameter.name) + " ";
    list += shown_type(session, parameter.type);
  }
  return list;
}

/// A string that no part of the body ends.
std::string dollar_quoted(const std::string& body, RoutineKind kind) {
  std::string tag = kind == RoutineKind::procedure ? "$procedure" : "$function";
  while (body.contains(tag)) tag += 'x';
  tag += '$';
  return tag + body + tag;
}

/// Returns the end of a list's name, which may be quoted.
std::size_t end_of_listed(std::string_view list, std::size_t at) {
  bool quoted = false;
  while (at < list.size() && (quoted || list[at] != ',')) {
    if (list[at] == '"') quoted = !quoted;
    ++at;
  }
  return at;
}

std::string listed_name(std::string_view written) {
  const std::size_t from = written.find_first_not_of(' ');
  if (from == std::string_view::npos) return {};
  written = written.substr(from, written.find_last_not_of(' ') - from + 1);
  if (!written.starts_with('"')) return std::string{written};
  std::string name;
  for (std::size_t i = 1; i + 1 < written.size(); ++i) {
    name += written[i];
    if (written[i] == '"') ++i;
  }
  return name;
}

std::string shown_setting(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const std::string value = setting.substr(equals + 1);
  const bool is_list = name == "search_path";
  std::string shown;
  for (std::size_t at = 0; is_list && at < value.size();) {
    const std::size_t end = end_of_listed(value, at);
    if (!shown.empty()) shown += ", ";
    shown += quote_literal(listed_name(std::string_view{value}.substr(at, end - at)));
    at = end + 1;
  }
  return fmt::format(" SET {} TO {}\n", quote_identifier(name),
                     is_list && !shown.empty() ? shown : quote_literal(value));
}

}  // namespace

std::string shown_default(StatementContext& session, const RoutineParameter& parameter) {
  if (parameter.default_sql.empty()) return {};
  Arena arena;
  Binder binder{session.names, arena};
  const ExprPtr expr = binder.bind_stored_expression(parameter.default_sql);
  ExprPrinter printer{.out = {}, .context = &session.session_context};
  printer.print(*expr);
  return std::move(printer.out);
}

std::string shown_arguments(StatementContext& session, const Routine& routine,
                            ShownDefaults defaults) {
  std::string list;
  for (const RoutineParameter& parameter : routine.parameters) {
    if (parameter.mode == ParameterMode::table) continue;
    if (!list.empty()) list += ", ";
    list += word_of(parameter.mode, routine.kind);
    if (!parameter.name.empty()) list += quote_identifier(parameter.name) + " ";
    list += shown_type(session, parameter.type);
    if (defaults == ShownDefaults::shown && !parameter.default_sql.empty()) {
      list += " DEFAULT " + shown_default(session, parameter);
    }
  }
  return list;
}

std::string shown_result(StatementContext& session, const Routine& routine) {
  if (routine.kind == RoutineKind::procedure) return {};
  const std::string set = routine.returns_set ? "SETOF " : "";
  if (routine.result_relation != kNoOid) {
    return set + session.names.name_of(TypeId::regclass, routine.result_relation).value_or("???");
  }
  if (const std::string columns = shown_columns(session, routine); !columns.empty()) {
    return "TABLE(" + columns + ")";
  }
  return set + shown_type(session, routine.result);
}

std::string shown_atomic_body(StatementContext& session, const Routine& routine) {
  Relation names;
  names.view_names = routine.body_names;
  const std::vector<BodyPart> parts = body_parts(routine);
  const bool is_return = routine.body.starts_with('R') || routine.body.starts_with('r');
  if (is_return) {
    names.view_sql = parts.front().text;
    constexpr std::size_t kSelect = 6;
    return "RETURN" + with_present_names(session, names).substr(kSelect);
  }
  std::string text = "BEGIN ATOMIC\n";
  for (const BodyPart& part : parts) {
    names.view_sql = part.text;
    text += " " + with_present_names(session, names) + ";\n";
  }
  return text + "END";
}

std::string shown_definition(StatementContext& session, const Routine& routine) {
  const bool is_procedure = routine.kind == RoutineKind::procedure;
  std::string text = fmt::format(
      "CREATE OR REPLACE {} {}.{}({})\n", is_procedure ? "PROCEDURE" : "FUNCTION",
      quote_identifier(session.names.schema_name(routine.schema)), quote_identifier(routine.name),
      shown_arguments(session, routine, ShownDefaults::shown));
  if (!is_procedure) text += " RETURNS " + shown_result(session, routine) + "\n";
  text += " LANGUAGE " + quote_identifier(routine.language) + "\n";
  std::string options;
  if (routine.volatility == 'i') options += " IMMUTABLE";
  if (routine.volatility == 's') options += " STABLE";
  if (routine.parallel == 's') options += " PARALLEL SAFE";
  if (routine.parallel == 'r') options += " PARALLEL RESTRICTED";
  if (routine.strict) options += " STRICT";
  if (routine.security_definer) options += " SECURITY DEFINER";
  if (routine.leakproof) options += " LEAKPROOF";
  // Calls of native routines cost one unit.
  const bool is_native = routine.language == "c" || routine.language == "internal";
  const float usual_cost = is_native ? 1.0F : 100.0F;
  constexpr float kUsualRows = 1000;
  if (routine.cost != usual_cost) options += fmt::format(" COST {}", routine.cost);
  if (routine.rows > 0 && routine.rows != kUsualRows) {
    options += fmt::format(" ROWS {}", routine.rows);
  }
  if (!options.empty()) text += options + "\n";
  for (const std::string& setting : routine.settings) text += shown_setting(setting);
  if (routine.form == BodyForm::atomic) return text + shown_atomic_body(session, routine) + "\n";
  if (!routine.object_file.empty()) {
    return text + fmt::format("AS {}, $function${}$function$\n", quote_literal(routine.object_file),
                              routine.body);
  }
  return text + "AS " + dollar_quoted(routine.body, routine.kind) + "\n";
}

}  // namespace swizzle::sql
