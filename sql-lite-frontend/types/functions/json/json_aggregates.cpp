#include <algorithm>

#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/json/json_building.h"
#include "sql-lite-frontend/types/json/sql_json.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

/// json_agg, json_object_agg and the same for jsonb, and their variants that omit NULL values or
/// reject repeated keys.
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

/// Adapter through which add_json() appends to a group's text.
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

enum class Absent : std::uint8_t { shown, skipped };

template <Spelling spelling, Absent absent = Absent::shown>
struct List {
  Text text;
  void step(FunctionContext& context, Arena& arena, Arguments a) {
    // Create the state even if the value is skipped: without any state the result would be NULL,
    // not an empty array.
    if (absent == Absent::skipped && a[0].is_null()) {
      is_there = true;
      return;
    }
    const TypeId type = context.call.arguments[0];
    std::string item = text.size == 0 ? "[" : ", ";
    // json_agg starts arrays and rows on a new line, as in PostgreSQL.
    const bool structured = shape_of(type) == Shape::record || is_array(type);
    if (structured && text.size != 0 && !a[0].is_null()) item += "\n ";
    text.append(arena, item);
    AppendedText out{text, arena};
    add_json(context, type, a[0], out);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (text.size == 0 && is_there) {
      return spelling == Spelling::json ? make_text(context.arena, "[]")
                                        : make_jsonb(context.arena, "[]");
    }
    return finished<spelling>(context, text, "]");
  }
  bool is_there = false;
};

/// Keys of a group, allocated in its arena: a hash set with linear probing.
struct KeysSeen {
  std::string_view* places = nullptr;
  std::size_t capacity = 0;
  std::size_t size = 0;

  /// Adds the key; returns false if it exists.
  bool add(Arena& arena, std::string_view key) {
    constexpr std::size_t kFirst = 16;
    if (2 * (size + 1) > capacity) {
      KeysSeen larger;
      larger.capacity = std::max(2 * capacity, kFirst);
      larger.places = arena.allocate_array<std::string_view>(larger.capacity);
      std::fill_n(larger.places, larger.capacity, std::string_view{});
      for (std::size_t i = 0; i < capacity; ++i) {
        if (places[i].data() != nullptr) larger.place_of(places[i]) = places[i];
      }
      larger.size = size;
      *this = larger;
    }
    std::string_view& place = place_of(key);
    if (place.data() != nullptr) return false;
    place = arena.copy(key);
    ++size;
    return true;
  }
  std::string_view& place_of(std::string_view key) {
    std::size_t at = hash_bytes(as_bytes(key), 0) % capacity;
    while (places[at].data() != nullptr && places[at] != key) at = (at + 1) % capacity;
    return places[at];
  }
};

/// Error of a NULL key: 22023 of the older functions, or 22004 of SQL/JSON's constructors.
enum class NullKey : std::uint8_t { of_functions, of_standard };

template <Spelling spelling, NullKey null_key, Absent absent = Absent::shown,
          JsonKeys keys = JsonKeys::any>
struct Members {
  Text text;
  KeysSeen seen;
  bool is_there = false;
  void step(FunctionContext& context, Arena& arena, Arguments a) {
    if (a[0].is_null()) {
      if (null_key == NullKey::of_standard || spelling == Spelling::json) {
        throw SqlError{sqlstate::null_value_not_allowed, "null value not allowed for object key"};
      }
      throw SqlError{sqlstate::invalid_parameter_value, "field name must not be null"};
    }
    std::string key;
    json_key_text(context, context.call.arguments[0], a[0], key);
    if (keys == JsonKeys::unique && !seen.add(arena, key)) {
      if (spelling == Spelling::jsonb) refuse_repeated_key();
      refuse_repeated_key(key);
    }
    if (absent == Absent::skipped && a[1].is_null()) {
      is_there = true;
      return;
    }
    // json keeps this spelling; jsonb's is made at the end from the whole text.
    std::string item = text.size == 0 ? "{ " : ", ";
    append_json_string(key, item);
    item += " : ";
    text.append(arena, item);
    AppendedText out{text, arena};
    add_json(context, context.call.arguments[1], a[1], out);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (text.size == 0 && is_there) {
      return spelling == Spelling::json ? make_text(context.arena, "{  }")
                                        : make_jsonb(context.arena, "{}");
    }
    return finished<spelling>(context, text, " }");
  }
};

constexpr AggregateEntry kJsonAggregatesEntries[] = {
    {"json_agg(anyelement)", aggregate_of<List<Spelling::json>>(Nulls::taken)},
    {"jsonb_agg(anyelement)", aggregate_of<List<Spelling::jsonb>>(Nulls::taken)},
    {"json_object_agg(any,any)",
     aggregate_of<Members<Spelling::json, NullKey::of_functions>>(Nulls::taken)},
    {"jsonb_object_agg(any,any)",
     aggregate_of<Members<Spelling::jsonb, NullKey::of_functions>>(Nulls::taken)},
    {"json_agg_strict(anyelement)",
     aggregate_of<List<Spelling::json, Absent::skipped>>(Nulls::taken)},
    {"jsonb_agg_strict(anyelement)",
     aggregate_of<List<Spelling::jsonb, Absent::skipped>>(Nulls::taken)},
    {"json_object_agg_strict(any,any)",
     aggregate_of<Members<Spelling::json, NullKey::of_standard, Absent::skipped>>(Nulls::taken)},
    {"jsonb_object_agg_strict(any,any)",
     aggregate_of<Members<Spelling::jsonb, NullKey::of_functions, Absent::skipped>>(Nulls::taken)},
    {"json_object_agg_unique(any,any)",
     aggregate_of<Members<Spelling::json, NullKey::of_standard, Absent::shown, JsonKeys::unique>>(
         Nulls::taken)},
    {"jsonb_object_agg_unique(any,any)",
     aggregate_of<Members<Spelling::jsonb, NullKey::of_functions, Absent::shown, JsonKeys::unique>>(
         Nulls::taken)},
    {"json_object_agg_unique_strict(any,any)",
     aggregate_of<Members<Spelling::json, NullKey::of_standard, Absent::skipped, JsonKeys::unique>>(
         Nulls::taken)},
    {"jsonb_object_agg_unique_strict(any,any)",
     aggregate_of<
         Members<Spelling::jsonb, NullKey::of_functions, Absent::skipped, JsonKeys::unique>>(
         Nulls::taken)},
};

}  // namespace

const Function& standard_object_agg(const Function& function) {
  static constexpr AggregateFunction kAggregate =
      aggregate_of<Members<Spelling::json, NullKey::of_standard>>(Nulls::taken);
  static const Function standard = [&] {
    Function out = function;
    out.aggregate = &kAggregate;
    return out;
  }();
  return standard;
}

std::span<const AggregateEntry> json_aggregates() {
  return kJsonAggregatesEntries;
}

}  // namespace swizzle::sql
