#include "sql-lite-frontend/statement/names/procedure_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/extension/extension_operators.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

// Input and output of regproc, regprocedure, regoper and regoperator: functions and operators by
// name, or by name and types.
namespace swizzle::sql {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(' ');
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

[[noreturn]] void malformed(std::string_view problem) {
  throw SqlError{sqlstate::invalid_text_representation, std::string{problem}};
}

/// Splits a list at commas outside of parentheses and quotes: numeric(10,2) is one type.
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
      if (list[i] == '(' || list[i] == '[') ++depth;
      if (list[i] == ')' || list[i] == ']') --depth;
      if (list[i] != ',' || depth != 0) continue;
    } else if (quoted || depth != 0) {
      malformed("improper type name");
    }
    types.push_back(trimmed(list.substr(from, i - from)));
    from = i + 1;
  }
  return types;
}

/// Returns the position of the first '(' outside quotes.
std::size_t open_parenthesis(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '(' && !quoted) return i;
  }
  malformed("expected a left parenthesis");
}

bool is_none(std::string_view type) {
  return std::ranges::equal(type, std::string_view{"none"}, {},
                            [](char c) { return static_cast<char>(c | 0x20); });
}

TypeId type_written(StatementContext& session, std::string_view type) {
  if (type.empty()) throw SqlError{sqlstate::syntax_error, "invalid type name \"\""};
  if (const auto found = parse_type_name(type)) return found->type;
  if (const auto made = session.names.find_user_type_written(type)) return *made;
  throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", type);
}

struct QualifiedName {
  std::string schema;  ///< empty if it is not given
  std::string name;

  [[nodiscard]] bool may_be_builtin() const { return schema.empty() || schema == "pg_catalog"; }
};

QualifiedName qualified_name(StatementContext& session, std::string_view text) {
  text = trimmed(text);
  std::vector<std::string> parts = split_identifier(text);
  if (parts.size() > 3) {
    throw_error(sqlstate::syntax_error, "improper qualified name (too many dotted names): {}",
                text);
  }
  if (parts.size() == 3 && parts[0] != session.names.current_database()) {
    throw_error(sqlstate::feature_not_supported,
                "cross-database references are not implemented: {}", text);
  }
  QualifiedName name;
  if (parts.size() > 1) name.schema = std::move(parts[parts.size() - 2]);
  name.name = std::move(parts.back());
  return name;
}

/// abs(integer): a name and, in parentheses, types.
struct Signature {
  std::string_view name;
  std::vector<TypeId> types;
};

Signature read_signature(StatementContext& session, std::string_view text, bool allows_none) {
  const std::size_t open = open_parenthesis(text);
  const std::string_view name = text.substr(0, open);
  static_cast<void>(split_identifier(name));  // reports a malformed name first
  const std::string_view rest = trimmed(text.substr(open + 1));
  if (!rest.ends_with(')')) malformed("expected a right parenthesis");
  Signature found{name, {}};
  const std::vector<std::string_view> types = split_types(rest.substr(0, rest.size() - 1));
  for (const std::string_view& type : types) {
    if (type.empty() && &type == &types.back()) malformed("expected a type name");
    found.types.push_back(allows_none && is_none(type) ? TypeId::none
                                                       : type_written(session, type));
  }
  return found;
}

/// True if PostgreSQL has several built-in operators of that name.
bool is_ambiguous_operator(std::string_view name) {
  return operators_not_of_extensions(name).size() + (is_unsupported_operator(name) ? 1 : 0) > 1;
}

const FunctionName* internal_function(std::string_view name) {
  const auto found = std::ranges::find(internal_function_names(), name, &FunctionName::name);
  return found == internal_function_names().end() ? nullptr : &*found;
}

bool is_hidden(StatementContext& session, const Function& function) {
  const auto found = session.names.find_routines({}, function.name);
  return std::ranges::any_of(found, [&](const NameSource::FoundRoutine& one) {
    return one.before_builtin &&
           std::ranges::equal(one.callable->routine->argument_types(), function.arguments);
  });
}

bool is_hidden(StatementContext& session, const Operator& op) {
  const auto found = session.names.find_operators({}, op.name);
  return std::ranges::any_of(found, [&](const NameSource::FoundOperator& one) {
    return one.before_builtin && one.op->left == op.left && one.op->right == op.right;
  });
}

/// "abs(integer)".
std::string signature(std::string_view name, std::span<const TypeId> arguments) {
  std::string text = quote_identifier(name) + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) text += ',';
    text += format_type(arguments[i]);
  }
  return text + ")";
}

/// For numbers unknown here: pg_proc and pg_operator have more than can be called.
std::optional<bool> is_visible_unlisted(Oid oid) {
  return oid < kFirstUserOid ? std::optional{true} : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> find_function_named(StatementContext& session, std::string_view text) {
  const QualifiedName name = qualified_name(session, text);
  const auto made = session.names.find_routines(name.schema, name.name);
  const auto builtin =
      name.may_be_builtin() ? functions_named(name.name) : std::span<const Function* const>{};
  const bool is_ambiguous =
      made.size() + builtin.size() > 1 || (!builtin.empty() && is_ambiguous_function(name.name));
  if (is_ambiguous) {
    throw_error(sqlstate::ambiguous_function, "more than one function named \"{}\"", text);
  }
  if (!made.empty()) return made.front().callable->routine->oid;
  if (!builtin.empty()) return builtin[0]->oid;
  const FunctionName* internal = name.may_be_builtin() ? internal_function(name.name) : nullptr;
  return internal != nullptr ? std::optional{internal->oid} : std::nullopt;
}

std::optional<std::uint32_t> find_procedure(StatementContext& session, std::string_view text) {
  const Signature wanted = read_signature(session, text, false);
  const QualifiedName name = qualified_name(session, wanted.name);
  std::optional<std::uint32_t> builtin;
  if (name.may_be_builtin()) {
    for (const Function* function : functions_named(name.name)) {
      if (std::ranges::equal(function->arguments, wanted.types)) builtin = function->oid;
    }
    for (const FunctionName& internal : internal_function_names()) {
      const bool is_it =
          internal.name == name.name && std::ranges::equal(internal.arguments(), wanted.types);
      if (is_it) builtin = internal.oid;
    }
  }
  for (const auto& one : session.names.find_routines(name.schema, name.name)) {
    if (builtin && !one.before_builtin) continue;
    if (one.callable->routine->argument_types() == wanted.types) return one.callable->routine->oid;
  }
  return builtin;
}

std::optional<std::uint32_t> find_operator_named(StatementContext& session, std::string_view text) {
  const QualifiedName name = qualified_name(session, text);
  const auto made = session.names.find_operators(name.schema, name.name);
  const auto builtin = name.may_be_builtin() ? operators_not_of_extensions(name.name)
                                             : std::vector<const Operator*>{};
  const bool is_ambiguous =
      made.size() + builtin.size() > 1 || (!builtin.empty() && is_ambiguous_operator(name.name));
  if (is_ambiguous) {
    throw_error(sqlstate::ambiguous_function, "more than one operator named {}", text);
  }
  if (!made.empty()) return made.front().op->oid;
  return builtin.empty() ? std::nullopt : std::optional{builtin[0]->oid};
}

std::optional<std::uint32_t> find_operator_written(StatementContext& session,
                                                   std::string_view text) {
  const Signature wanted = read_signature(session, text, true);
  if (wanted.types.size() == 1) {
    throw SqlError{sqlstate::undefined_parameter, "missing argument"}.with_hint(
        "Use NONE to denote the missing argument of a unary operator.");
  }
  if (wanted.types.size() != 2) {
    throw SqlError{sqlstate::too_many_arguments, "too many arguments"}.with_hint(
        "Provide two argument types for operator.");
  }
  const QualifiedName name = qualified_name(session, wanted.name);
  const auto is_wanted = [&](TypeId left, TypeId right) {
    return left == wanted.types[0] && right == wanted.types[1];
  };
  std::optional<std::uint32_t> builtin;
  if (name.may_be_builtin()) {
    for (const Operator* op : operators_not_of_extensions(name.name)) {
      if (is_wanted(op->left, op->right)) builtin = op->oid;
    }
  }
  for (const auto& one : session.names.find_operators(name.schema, name.name)) {
    if (builtin && !one.before_builtin) continue;
    if (is_wanted(one.op->left, one.op->right)) return one.op->oid;
  }
  return builtin;
}

std::string procedure_name(const Function& function) {
  return signature(function.name, function.arguments);
}

std::string procedure_name(const FunctionName& internal) {
  return signature(internal.name, internal.arguments());
}

std::string function_name(StatementContext& session, const Function& function) {
  // Alone, the name would not say which.
  const bool is_alone = !is_ambiguous_function(function.name) &&
                        session.names.find_routines({}, function.name).empty();
  return (is_alone ? "" : "pg_catalog.") + quote_identifier(function.name);
}

std::string operator_name(StatementContext& session, const Operator& op) {
  const bool is_alone =
      !is_ambiguous_operator(op.name) && session.names.find_operators({}, op.name).empty();
  return fmt::format("{}{}", is_alone ? "" : "pg_catalog.", op.name);
}

std::string operator_name(StatementContext& session, const UserOperator& op) {
  const auto found = session.names.find_operators({}, op.name);
  const bool is_alone = found.size() == 1 && found.front().op->oid == op.oid &&
                        operators_not_of_extensions(op.name).empty();
  if (is_alone) return op.name;
  return fmt::format("{}.{}", quote_identifier(session.names.schema_name(op.schema)), op.name);
}

std::string procedure_signature(StatementContext& session, const Function& function) {
  return (is_hidden(session, function) ? "pg_catalog." : "") + procedure_name(function);
}

std::string operator_signature(StatementContext& session, const Operator& op) {
  return fmt::format("{}{}({},{})", is_hidden(session, op) ? "pg_catalog." : "", op.name,
                     session.names.type_name_of(op.left), session.names.type_name_of(op.right));
}

std::optional<bool> is_function_visible(StatementContext& session, std::uint32_t oid) {
  if (const RoutinePtr made = session.catalog.routine(oid)) return session.names.is_visible(*made);
  if (const Function* function = find_function(oid)) return !is_hidden(session, *function);
  return is_visible_unlisted(oid);
}

std::optional<bool> is_operator_visible(StatementContext& session, std::uint32_t oid) {
  if (const OperatorPtr made = session.names.made_operator(oid)) {
    for (const auto& one : session.names.find_operators({}, made->name)) {
      if (one.op->oid != oid) continue;
      return one.before_builtin ||
             std::ranges::none_of(operators_not_of_extensions(made->name), [&](const Operator* op) {
               return op->left == made->left && op->right == made->right;
             });
    }
    return false;
  }
  if (const Operator* op = find_operator(oid)) return !is_hidden(session, *op);
  return is_visible_unlisted(oid);
}

}  // namespace swizzle::sql
