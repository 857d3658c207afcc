#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Reads PostgreSQL's text form. Bytes of the result live in context.arena (never in `text`).
/// `typmod` is enforced as input functions do: longer strings are an error unless only blanks are
/// lost, numbers are rounded. Throws SqlError (22P02, 22003, 22007, 22008, 22001, …).
Value input_text(FunctionContext& context, TypeId type, std::int32_t typmod, std::string_view text);

/// Appends PostgreSQL's text form of a value that is not NULL, as the session's settings say.
void output_text(FunctionContext& context, TypeId type, const Value& value, std::string& out);
std::string to_text(FunctionContext& context, TypeId type, const Value& value);

/// Reads the binary form of the protocol. Throws SqlError (22P03, 22021, …).
Value receive_binary(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes);

/// Appends the binary form of a value that is not NULL, without length word.
void send_binary(FunctionContext& context, TypeId type, const Value& value, std::string& out);

/// True if values of the type can be read and written at all (not so for most pseudo-types).
bool has_io(TypeId type) noexcept;

/// Fits a value of `type` to `typmod`. `assignment` refuses values that do not fit (22001, 22003),
/// except that trailing blanks go; `explicit_cast` truncates strings silently.
enum class Coercion : std::uint8_t { assignment, explicit_cast };
Value coerce_length(FunctionContext& context, TypeId type, std::int32_t typmod, const Value& value,
                    Coercion coercion);

/// Turns a value of the domain's base type, perhaps NULL, into one of the domain: fitted to the
/// domain's length, and checked (23502, 23514).
Value enter_domain(FunctionContext& context, TypeId domain, const Value& value, Coercion coercion);

/// True if coerce_length could change anything: no typmod, no work.
bool needs_length_coercion(TypeId type, std::int32_t typmod) noexcept;

}  // namespace swizzle::sql
