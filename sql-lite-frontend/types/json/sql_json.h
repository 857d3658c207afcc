#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/json/json_parts.h"

/// Operations on values that SQL/JSON's expressions consist of: IS JSON, RETURNING and the like.
namespace swizzle::sql {

/// Kind that IS JSON asks for.
enum class JsonItemKind : std::uint8_t { any, object, array, scalar };
enum class JsonKeys : std::uint8_t { any, unique };
/// Quotes of a string that JSON_QUERY returns.
enum class JsonQuotes : std::uint8_t { kept, omitted };

/// Returns true if the text is one JSON value of the kind, and no object in it has a key twice
/// where keys are to be unique.
bool is_json(std::string_view text, JsonItemKind kind, JsonKeys keys, MemoryAccount* account);
/// Returns true if an object in the JSON value has a key twice. Pre: the text is valid.
bool has_repeated_keys(std::string_view json, MemoryAccount* account);
/// Throws SqlError 22030. `key` is named if it is known.
[[noreturn]] void refuse_repeated_key();
[[noreturn]] void refuse_repeated_key(std::string_view key);

/// Makes a value of any type of a JSON value: arrays and rows part by part, others of its text.
Value populate_from_json(FunctionContext& context, TypeId type, std::int32_t typmod,
                         std::string_view json, JsonQuotes quotes);

/// Returns the aggregate of JSON_OBJECTAGG, whose NULL key is another error than that of
/// json_object_agg. Pre: `function` is json_object_agg.
const Function& standard_object_agg(const Function& function);

}  // namespace swizzle::sql
