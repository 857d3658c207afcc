#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Parses PostgreSQL's text form. Bytes of the result are in context.arena (never in `text`).
/// `typmod` is enforced as by input functions: longer strings are an error unless only blanks are
/// lost; numbers are rounded. Throws SqlError (22P02, 22003, 22007, 22008, 22001, …).
Value input_text(FunctionContext& context, TypeId type, std::int32_t typmod, std::string_view text);

/// Appends PostgreSQL's text form of a value that is not NULL, as the session's settings say.
void output_text(FunctionContext& context, TypeId type, const Value& value, std::string& out);
std::string to_text(FunctionContext& context, TypeId type, const Value& value);

/// Reads the binary form of the protocol. Throws SqlError (22P03, 22021, …).
Value receive_binary(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes);

/// Appends the binary form of a value that is not NULL, without length word.
void send_binary(FunctionContext& context, TypeId type, const Value& value, std::string& out);

/// True if the type has input and output functions (most pseudo-types have none).
bool has_io(TypeId type) noexcept;

/// Coerces a value of `type` to `typmod`. `assignment` throws for values that do not fit (22001,
/// 22003), except that trailing blanks are cut; `explicit_cast` truncates strings silently.
enum class Coercion : std::uint8_t { assignment, explicit_cast };
Value coerce_length(FunctionContext& context, TypeId type, std::int32_t typmod, const Value& value,
                    Coercion coercion);

/// Converts a value of the domain's base type, perhaps NULL, to the domain: coerces it to the
/// domain's length and checks the constraints (23502, 23514).
Value enter_domain(FunctionContext& context, TypeId domain, const Value& value, Coercion coercion);

/// False if coerce_length has no effect, e.g. without a typmod.
bool needs_length_coercion(TypeId type, std::int32_t typmod) noexcept;

}  // namespace swizzle::sql
