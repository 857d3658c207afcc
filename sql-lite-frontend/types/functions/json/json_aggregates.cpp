#include <algorithm>

#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json_building.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

/// json_agg, json_object_agg and the same for jsonb.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Text that grows in the group's arena.
struct Text {
  char* letters = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;

  void append(Arena& arena, std::string_view part) {
    if (size + part.size() > kMaxFieldBytes) {
      throw SqlError{sqlstate::program_limit_exceeded, "the JSON value is too long"};
    }
    if (size + part.size() > capacity) {
      const std::size_t wanted = std::max<std::size_t>({size + part.size(), capacity * 2, 64});
      auto* grown = reinterpret_cast<char*>(arena.allocate(wanted));
      copy_long(reinterpret_cast<std::byte*>(grown), as_bytes(std::string_view{letters, size}));
      letters = grown;
      capacity = wanted;
    }
    copy_long(reinterpret_cast<std::byte*>(letters + size), as_bytes(part));
    size += part.size();
  }
};

/// A group's text as what add_json() writes to.
struct AppendedText {
  Text& text;
  Arena& arena;
  void operator+=(std::string_view part) { text.append(arena, part); }
};

enum class Spelling : std::uint8_t { json, jsonb };

template <Spelling spelling>
Value finished(FunctionContext& context, const Text& text, std::string_view end) {
  if (text.size == 0) return Value::null();
  const std::size_t size = text.size + end.size();
  std::byte* const whole = context.arena.allocate(size, 1);
  copy_long(whole, as_bytes(std::string_view{text.letters, text.size}));
  std::ranges::copy(as_bytes(end), whole + text.size);
  if (spelling == Spelling::json) return Value::from_bytes({whole, size});
  return for_bytes(size, [&] { return as_jsonb_value(context, as_text({whole, size})); });
}

template <Spelling spelling>
struct List {
  Text text;
  void step(FunctionContext& context, Arena& arena, Arguments a) {
    const TypeId type = context.call.arguments[0];
    std::string item = text.size == 0 ? "[" : ", ";
    // Arrays and rows begin a line of their own.
    const bool structured = shape_of(type) == Shape::record || is_array(type);
    if (structured && text.size != 0 && !a[0].is_null()) item += "\n ";
    text.append(arena, item);
    AppendedText out{text, arena};
    add_json(context, type, a[0], out);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    return finished<spelling>(context, text, "]");
  }
};

template <Spelling spelling>
struct Members {
  Text text;
  void step(FunctionContext& context, Arena& arena, Arguments a) {
    if (a[0].is_null()) {
      throw SqlError{sqlstate::invalid_parameter_value, "field name must not be null"};
    }
    // json shows what it is made of; jsonb is spelled anew at the end.
    std::string item = text.size == 0 ? "{ " : ", ";
    std::string key;
    json_key_text(context, context.call.arguments[0], a[0], key);
    append_json_string(key, item);
    item += " : ";
    text.append(arena, item);
    AppendedText out{text, arena};
    add_json(context, context.call.arguments[1], a[1], out);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    return finished<spelling>(context, text, " }");
  }
};

constexpr AggregateEntry kJsonAggregatesEntries[] = {
    {"json_agg(anyelement)", aggregate_of<List<Spelling::json>>(Nulls::taken)},
    {"jsonb_agg(anyelement)", aggregate_of<List<Spelling::jsonb>>(Nulls::taken)},
    {"json_object_agg(any,any)", aggregate_of<Members<Spelling::json>>(Nulls::taken)},
    {"jsonb_object_agg(any,any)", aggregate_of<Members<Spelling::jsonb>>(Nulls::taken)},
};

}  // namespace

std::span<const AggregateEntry> json_aggregates() {
  return kJsonAggregatesEntries;
}

}  // namespace swizzle::sql
