#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Options in the parentheses of CREATE AGGREGATE and CREATE OPERATOR, and the functions that they
/// name.
namespace swizzle::sql {

/// Throws 42601 if the option has no value.
ast::NodeList option_names(const ast::DefElem& option);
std::string option_text(const ast::DefElem& option);
bool option_boolean(const ast::DefElem& option);
/// True if the option is NONE.
bool option_is_none(const ast::DefElem& option);
const ast::TypeName& option_type(const ast::DefElem& option);

/// Function that a definition names, found by its argument types.
struct FoundFunction {
  Oid oid = kNoOid;
  std::string name;
  std::vector<TypeId> arguments;  ///< as declared
  TypeId result = TypeId::none;
  bool strict = false;
  bool returns_set = false;
  RoutinePtr routine;  ///< null: it is built in
};
enum class Match : std::uint8_t { exact, by_call };
/// Throws 42883 "function f(integer) does not exist", 0A000 for a function of PostgreSQL that is
/// not supported, 42501 without EXECUTE.
FoundFunction require_function(StatementContext& session, ast::NodeList names,
                               std::span<const TypeId> types, Match match);
/// Returns the function with that oid, which exists.
FoundFunction function_by_number(StatementContext& session, Oid oid);
/// True if values of the first type are values of the second without a conversion.
bool is_binary_coercible(TypeId source, TypeId target);
/// "f(integer, text)".
std::string function_signature(StatementContext& session, ast::NodeList names,
                               std::span<const TypeId> types);

/// Returns the schema for an object of that name, in which the session may create it.
Oid place_of_definition(StatementContext& session, ast::NodeList names);

}  // namespace swizzle::sql
