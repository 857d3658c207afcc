#pragma once

#include "sql-lite-frontend/types/functions/type_functions.h"

namespace swizzle::sql {

/// Functions over anyrange and anymultirange.
extern const FunctionsOfType kRangeFunctions;
extern const FunctionsOfType kMultirangeFunctions;

// range_hashes.cpp: PostgreSQL's results, with or without a seed as second argument.
Value hash_range_of(FunctionContext& context, std::span<const Value> a);
Value hash_multirange_of(FunctionContext& context, std::span<const Value> a);

// Constructors and functions of one range type and its multirange.
extern const FunctionsOfType k_int4range_functions;
extern const FunctionsOfType k_int8range_functions;
extern const FunctionsOfType k_numrange_functions;
extern const FunctionsOfType k_daterange_functions;
extern const FunctionsOfType k_tsrange_functions;
extern const FunctionsOfType k_tstzrange_functions;

/// Constructors of a range from two bounds, optionally with a text like "[)". The call determines
/// the type.
Value construct_range(FunctionContext& context, std::span<const Value> arguments);
/// Constructor of a multirange from an array of ranges, or without arguments.
Value construct_multirange(FunctionContext& context, std::span<const Value> arguments);

}  // namespace swizzle::sql
