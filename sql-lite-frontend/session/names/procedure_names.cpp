#include "sql-lite-frontend/session/names/procedure_names.h"

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/functions/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(' ');
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// What commas outside of parentheses and quotes separate: numeric(10,2) is one.
std::vector<std::string_view> split_types(std::string_view list) {
  std::vector<std::string_view> types;
  if (trimmed(list).empty()) return types;
  int depth = 0;
  bool quoted = false;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) {
      if (list[i] == '"') quoted = !quoted;
      if (quoted) continue;
      if (list[i] == '(') ++depth;
      if (list[i] == ')') --depth;
      if (list[i] != ',' || depth > 0) continue;
    }
    types.push_back(trimmed(list.substr(from, i - from)));
    from = i + 1;
  }
  return types;
}

}  // namespace

std::optional<std::uint32_t> find_procedure(Session::State& session, std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) {
    throw SqlError{sqlstate::invalid_text_representation, "expected a left parenthesis"};
  }
  const std::string_view rest = trimmed(text.substr(open + 1));
  if (!rest.ends_with(')')) {
    throw SqlError{sqlstate::invalid_text_representation, "expected a right parenthesis"};
  }
  std::vector<TypeId> wanted;
  for (const std::string_view type : split_types(rest.substr(0, rest.size() - 1))) {
    if (const auto found = parse_type_name(type)) {
      wanted.push_back(found->type);
      continue;
    }
    const auto made = session.names.find_user_type_written(type);
    if (!made) throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", type);
    wanted.push_back(*made);
  }
  const std::vector<std::string> parts = split_identifier(trimmed(text.substr(0, open)));
  const std::string_view schema =
      parts.size() > 1 ? std::string_view{parts[parts.size() - 2]} : std::string_view{};
  for (const auto& one : session.names.find_routines(schema, parts.back())) {
    if (one.callable->routine->argument_types() == wanted) return one.callable->routine->oid;
  }
  if (!schema.empty() && schema != "pg_catalog") return std::nullopt;
  for (const Function* function : functions_named(parts.back())) {
    if (std::ranges::equal(function->arguments, wanted)) return function->oid;
  }
  return std::nullopt;
}

std::string procedure_name(const Function& function) {
  std::string text = quote_identifier(function.name) + "(";
  for (std::size_t i = 0; i < function.arguments.size(); ++i) {
    if (i > 0) text += ',';
    text += format_type(function.arguments[i]);
  }
  return text + ")";
}

}  // namespace swizzle::sql
