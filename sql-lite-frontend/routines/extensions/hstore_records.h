#pragma once

#include <span>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

/// Conversions between hstore and rows or JSON.
namespace swizzle::sql {

Value hstore_from_record(FunctionContext& context, std::span<const Value> arguments);
/// The row with what the hstore has of its fields in their place.
Value hstore_populate_record(FunctionContext& context, std::span<const Value> arguments);
Value hstore_to_json(FunctionContext& context, std::span<const Value> arguments);
/// Converts with numbers and truth values where the texts are such.
Value hstore_to_json_loose(FunctionContext& context, std::span<const Value> arguments);
Value hstore_to_jsonb(FunctionContext& context, std::span<const Value> arguments);
Value hstore_to_jsonb_loose(FunctionContext& context, std::span<const Value> arguments);

}  // namespace swizzle::sql
