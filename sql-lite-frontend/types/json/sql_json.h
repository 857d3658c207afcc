#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/json/json_parts.h"

/// Operations on values of which SQL/JSON's expressions consist: IS JSON, RETURNING and others.
namespace swizzle::sql {

/// Kind of value that IS JSON tests for.
enum class JsonItemKind : std::uint8_t { any, object, array, scalar };
enum class JsonKeys : std::uint8_t { any, unique };
/// Treatment of the quotes of a string that JSON_QUERY returns.
enum class JsonQuotes : std::uint8_t { kept, omitted };

/// Returns true if the text is one JSON value of the kind and, if `keys` requires it, no object in
/// it has a key twice.
bool is_json(std::string_view text, JsonItemKind kind, JsonKeys keys, MemoryAccount* account);
/// Returns true if an object in the JSON value has a key twice. Pre: the text is valid.
bool has_repeated_keys(std::string_view json, MemoryAccount* account);
/// Throws SqlError 22030. The message names the key if it is known.
[[noreturn]] void refuse_repeated_key();
[[noreturn]] void refuse_repeated_key(std::string_view key);

/// Converts a JSON value to any type: arrays and rows part by part, other types by the input
/// function from its text.
Value populate_from_json(FunctionContext& context, TypeId type, std::int32_t typmod,
                         std::string_view json, JsonQuotes quotes);

/// Returns the aggregate of JSON_OBJECTAGG: as json_object_agg, but with another error for a NULL
/// key. Pre: `function` is json_object_agg.
const Function& standard_object_agg(const Function& function);

}  // namespace swizzle::sql
