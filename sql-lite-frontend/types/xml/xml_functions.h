#pragma once

#include <memory>
#include <span>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql::xml {

/// xpath(path, value [, namespaces]).
Value xpath(FunctionContext& context, std::span<const Value> arguments);
Value xpath_exists(FunctionContext& context, std::span<const Value> arguments);

/// XMLTABLE as a function over: the document, the rows' path, an array of prefixes and one of
/// addresses of namespaces; then, for each column of the call's row shape, its path and its
/// default as a text; behind them, one letter for each: 'o' for FOR ORDINALITY, 'n' for NOT NULL.
const Function& table_function();

}  // namespace swizzle::sql::xml
