#include "sql-lite-frontend/definitions/routines/definition_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

std::string joined(ast::NodeList names) {
  std::string text;
  for (const ast::Node* name : names) {
    if (!text.empty()) text += ".";
    text += ast::string_of(name);
  }
  return text;
}

[[noreturn]] void refuse_option_form(const ast::DefElem& option, std::string_view wanted) {
  throw_error(sqlstate::syntax_error, "{} requires {}", option.defname, wanted);
}

std::string_view schema_in(ast::NodeList names) {
  return names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
}

}  // namespace

ast::NodeList option_names(const ast::DefElem& option) {
  if (option.arg == nullptr) refuse_option_form(option, "a parameter");
  if (const auto* type = ast::try_as<ast::TypeName>(option.arg)) return type->names;
  if (const auto* list = ast::try_as<ast::List>(option.arg)) return list->items;
  if (ast::try_as<ast::String>(option.arg) != nullptr) return ast::NodeList::of(option.arg);
  throw_error(sqlstate::syntax_error, "argument of {} must be a name", option.defname);
}

std::string option_text(const ast::DefElem& option) {
  if (option.arg == nullptr) refuse_option_form(option, "a parameter");
  if (const auto* text = ast::try_as<ast::String>(option.arg)) return std::string{text->sval};
  if (const auto* number = ast::try_as<ast::Integer>(option.arg)) {
    return std::to_string(number->ival);
  }
  if (const auto* number = ast::try_as<ast::Float>(option.arg)) return std::string{number->fval};
  if (const auto* flag = ast::try_as<ast::Boolean>(option.arg)) {
    return flag->boolval ? "true" : "false";
  }
  return joined(option_names(option));
}

bool option_boolean(const ast::DefElem& option) {
  if (option.arg == nullptr) return true;
  std::string text = option_text(option);
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  if (text == "true" || text == "on" || text == "1") return true;
  if (text == "false" || text == "off" || text == "0") return false;
  refuse_option_form(option, "a Boolean value");
}

bool option_is_none(const ast::DefElem& option) {
  if (option.arg == nullptr) return true;
  const auto* text = ast::try_as<ast::String>(option.arg);
  return text != nullptr && text->sval == "none";
}

const ast::TypeName& option_type(const ast::DefElem& option) {
  if (option.arg == nullptr) refuse_option_form(option, "a parameter");
  const auto* type = ast::try_as<ast::TypeName>(option.arg);
  if (type == nullptr) {
    throw_error(sqlstate::syntax_error, "argument of {} must be a type name", option.defname);
  }
  return *type;
}

std::string function_signature(StatementContext& session, ast::NodeList names,
                               std::span<const TypeId> types) {
  std::string text = joined(names) + "(";
  for (std::size_t i = 0; i < types.size(); ++i) {
    text += (i > 0 ? ", " : "") + session.names.type_name_of(types[i]);
  }
  return text + ")";
}

bool is_binary_coercible(TypeId source, TypeId target) {
  if (source == target || target == TypeId::any || target == TypeId::anyelement) return true;
  if (base_type(source) == target) return true;
  if (target == TypeId::anyarray) return element_type(source) != TypeId::none;
  if (target == TypeId::anyenum) return is_enum(source);
  const auto cast = find_cast(source, target, CastContext::implicit);
  return cast && cast->method == CastMethod::relabel;
}

FoundFunction require_function(StatementContext& session, ast::NodeList names,
                               std::span<const TypeId> types, Match match) {
  const std::string_view schema = schema_in(names);
  const std::string_view name = ast::string_of(names.back());
  if (!schema.empty() && !session.names.schema_exists(schema)) {
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
  }
  const bool may_be_builtin = schema.empty() || schema == "pg_catalog";
  std::vector<const Function*> candidates;
  const auto found = session.names.find_routines(schema, name);
  for (const auto& one : found) candidates.push_back(&one.callable->function);
  if (may_be_builtin) {
    for (const Function* function : functions_named(name)) candidates.push_back(function);
  }
  const Function* chosen = nullptr;
  TypeId result = TypeId::none;
  for (const Function* candidate : candidates) {
    if (!std::ranges::equal(candidate->arguments, types)) continue;
    chosen = candidate;
    result = candidate->result;
    break;
  }
  if (chosen == nullptr && match == Match::by_call) {
    FunctionCall call{.name = name, .argument_types = types};
    call.candidates = candidates;
    if (const auto resolved = try_resolve_function(call)) {
      chosen = resolved->function;
      result = resolved->result;
    }
  }
  if (chosen == nullptr) {
    if (may_be_builtin && (!unsupported_functions(name).empty() || is_missing_function(name))) {
      throw_error(sqlstate::feature_not_supported, "function {} is not supported",
                  function_signature(session, names, types));
    }
    throw_error(sqlstate::undefined_function, "function {} does not exist",
                function_signature(session, names, types));
  }
  FoundFunction function;
  function.oid = chosen->oid;
  function.name = chosen->name;
  function.arguments.assign(chosen->arguments.begin(), chosen->arguments.end());
  function.result = result;
  function.strict = chosen->strict;
  function.returns_set = chosen->returns_set;
  if (chosen->routine != nullptr) {
    function.routine = chosen->routine->routine;
    session.rights.require_execute(*function.routine);
  } else if (chosen->scalar == nullptr) {
    throw_error(sqlstate::feature_not_supported, "function {} in a definition is not supported",
                function_signature(session, names, types));
  }
  return function;
}

FoundFunction function_by_number(StatementContext& session, Oid oid) {
  FoundFunction function;
  function.oid = oid;
  if (const RoutinePtr routine = session.catalog.routine(oid)) {
    function.name = routine->name;
    function.arguments = routine->argument_types();
    function.result = routine->result;
    function.strict = routine->strict;
    function.routine = routine;
  } else if (const Function* builtin = find_function(oid)) {
    function.name = builtin->name;
    function.arguments.assign(builtin->arguments.begin(), builtin->arguments.end());
    function.result = builtin->result;
    function.strict = builtin->strict;
  }
  return function;
}

Oid place_of_definition(StatementContext& session, ast::NodeList names) {
  ast::RangeVar where;
  where.schemaname = schema_in(names);
  where.relname = ast::string_of(names.back());
  where.location = -1;
  const Oid place = session.names.creation_schema(where);
  if (const SchemaPtr schema = session.catalog.schema(place)) {
    session.rights.require(*schema, privilege::kCreate);
  }
  return place;
}

}  // namespace swizzle::sql
