#pragma once

#include <span>

#include "sql-lite-frontend/types/function_context.h"

/// to_char and to_number for numbers, with arguments (value, template).
namespace swizzle::sql {

Value integer_to_char(FunctionContext& context, std::span<const Value> arguments);
Value numeric_to_char(FunctionContext& context, std::span<const Value> arguments);
Value float4_to_char(FunctionContext& context, std::span<const Value> arguments);
Value float8_to_char(FunctionContext& context, std::span<const Value> arguments);
Value text_to_number(FunctionContext& context, std::span<const Value> arguments);

}  // namespace swizzle::sql
