#pragma once

#include <span>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

/// Conversions between hstore and rows or JSON.
namespace swizzle::sql {

Value hstore_from_record(FunctionContext& context, std::span<const Value> arguments);
/// Returns the row with the fields that the hstore contains replaced.
Value hstore_populate_record(FunctionContext& context, std::span<const Value> arguments);
Value hstore_to_json(FunctionContext& context, std::span<const Value> arguments);
/// Converts strings that look like numbers or booleans to JSON numbers and booleans.
Value hstore_to_json_loose(FunctionContext& context, std::span<const Value> arguments);
Value hstore_to_jsonb(FunctionContext& context, std::span<const Value> arguments);
Value hstore_to_jsonb_loose(FunctionContext& context, std::span<const Value> arguments);

}  // namespace swizzle::sql
