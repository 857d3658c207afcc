#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swizzle::sql {

struct Function;
struct FunctionName;
struct Operator;
struct StatementContext;
struct UserOperator;

/// Returns the function that regproc's text names: "abs". Nothing if there is none; 42725 if there
/// are several.
std::optional<std::uint32_t> find_function_named(StatementContext& session, std::string_view text);
/// The function that regprocedure's text names with its argument types: "abs(integer)". Nothing
/// where there is none; 42704 for an unknown type, 22P02 for a text without parentheses.
std::optional<std::uint32_t> find_procedure(StatementContext& session, std::string_view text);
/// The same for regoper, "+", and regoperator: "+(integer,integer)", "-(NONE,integer)".
std::optional<std::uint32_t> find_operator_named(StatementContext& session, std::string_view text);
std::optional<std::uint32_t> find_operator_written(StatementContext& session,
                                                   std::string_view text);

/// "abs(integer)".
std::string procedure_name(const Function& function);
std::string procedure_name(const FunctionName& internal);
/// Returns the signature as regprocedure shows it: with the schema if a user's function hides it.
std::string procedure_signature(StatementContext& session, const Function& function);
/// Return the name as regproc and regoper show it: with the schema if the name alone would be
/// ambiguous.
std::string function_name(StatementContext& session, const Function& function);
std::string operator_name(StatementContext& session, const Operator& op);
std::string operator_name(StatementContext& session, const UserOperator& op);
/// Returns "+(integer,integer)", with the schema if a user's operator hides it.
std::string operator_signature(StatementContext& session, const Operator& op);

/// True if the search path finds it by its name and its arguments' types. Nothing if there is no
/// such object.
std::optional<bool> is_function_visible(StatementContext& session, std::uint32_t oid);
std::optional<bool> is_operator_visible(StatementContext& session, std::uint32_t oid);

}  // namespace swizzle::sql
