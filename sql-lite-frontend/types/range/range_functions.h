#pragma once

#include "sql-lite-frontend/types/functions/type_functions.h"

namespace swizzle::sql {

/// Over anyrange and anymultirange.
extern const FunctionsOfType kRangeFunctions;
extern const FunctionsOfType kMultirangeFunctions;

// range_hashes.cpp: PostgreSQL's numbers, with a seed as the second argument or without one.
Value hash_range_of(FunctionContext& context, std::span<const Value> a);
Value hash_multirange_of(FunctionContext& context, std::span<const Value> a);

// Constructors and functions of one range type and its multirange.
extern const FunctionsOfType k_int4range_functions;
extern const FunctionsOfType k_int8range_functions;
extern const FunctionsOfType k_numrange_functions;
extern const FunctionsOfType k_daterange_functions;
extern const FunctionsOfType k_tsrange_functions;
extern const FunctionsOfType k_tstzrange_functions;

/// The functions that make a range of two bounds, and of two bounds and a text as "[)". The call
/// says of which type.
Value construct_range(FunctionContext& context, std::span<const Value> arguments);
/// A multirange of an array of ranges, or of none.
Value construct_multirange(FunctionContext& context, std::span<const Value> arguments);

}  // namespace swizzle::sql
