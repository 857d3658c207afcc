#include "sql-lite-frontend/types/json/jsonb_lookup.h"

#include <algorithm>
#include <cstring>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/jsonb_directory.h"
#include "sql-lite-frontend/types/json/jsonb_parts.h"

namespace swizzle::sql {
namespace {

enum class Order : std::uint8_t { before, same, after };

/// Compares a key as written, in its quotes, with an unescaped one.
Order order_of(std::string_view quoted, std::string_view key) {
  const std::string_view written = quoted.substr(1, quoted.size() - 2);
  // An escape is longer than its character, so a shorter spelling means a shorter key.
  if (written.size() < key.size()) return Order::before;
  const int order =
      written.size() > key.size() ? 1 : std::memcmp(written.data(), key.data(), key.size());
  if (order < 0) return Order::before;
  if (!written.contains('\\')) return order == 0 ? Order::same : Order::after;
  const std::string meant = json_string_value(quoted);
  if (meant.size() != key.size()) {
    return meant.size() < key.size() ? Order::before : Order::after;
  }
  const int exact = meant.compare(key);
  if (exact == 0) return Order::same;
  return exact < 0 ? Order::before : Order::after;
}

bool is_written_plainly(std::string_view key) noexcept {
  return std::ranges::none_of(key, [](char c) {
    constexpr unsigned char kFirstPrintable = 0x20;
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < kFirstPrintable;
  });
}

/// Returns the position from which a key is searched: that of the last entry not after it, or of
/// the first member.
std::size_t begin_for(const Jsonb& object, std::string_view key) {
  if (object.directory.empty()) return 1;
  const JsonbDirectory directory{object};
  const std::uint32_t head = jsonb_key_head(key);
  std::uint32_t low = directory.first_with_head(head);
  std::uint32_t high = low;
  if (low < directory.entries() && directory.head(low) == head) {
    high = directory.first_with_head(head + 1);
    constexpr std::uint32_t kMostAhead = 16;
    if (high - low <= kMostAhead) directory.prefetch(low, high);
  }
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (order_of(directory.key(middle), key) == Order::after) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == 0 ? 1 : directory.place(low - 1);
}

Jsonb part_of(const Jsonb& whole, std::string_view value) {
  const bool may_have_directory = value[0] == '{' || value[0] == '[';
  if (whole.directory.empty() || !may_have_directory) return Jsonb{value};
  return JsonbDirectory{whole}.part(value);
}

std::optional<Jsonb> element_from(const Jsonb& json, std::size_t place, std::uint32_t behind) {
  const char* end = json.text.data() + place;
  std::optional<Jsonb> found;
  for (JsonbParts has{json.text, place}; !found && has.next();) {
    end = has.value().data();
    if (behind-- == 0) found = part_of(json, has.value());
  }
  yield_point(static_cast<std::size_t>(end - json.text.data()) - place);
  return found;
}

std::uint32_t count_elements(std::string_view array) {
  std::uint32_t count = 0;
  for (JsonbParts has{array}; has.next();) ++count;
  yield_point(array.size() / 4 + 1);
  return count;
}

}  // namespace

std::optional<Jsonb> jsonb_member(const Jsonb& json, std::string_view key) {
  if (json.text.empty() || json.text[0] != '{') return std::nullopt;
  const std::size_t begin = begin_for(json, key);
  const char* end = json.text.data() + begin;
  std::optional<Jsonb> found;
  for (JsonbParts has{json.text, begin}; has.next();) {
    end = has.value().data();
    const Order order = order_of(has.key(), key);
    if (order == Order::before) continue;
    if (order == Order::same) found = part_of(json, has.value());
    break;
  }
  yield_point((static_cast<std::size_t>(end - json.text.data()) - begin) / 4 + 1);
  return found;
}

std::uint32_t jsonb_size(const Jsonb& array) {
  return array.directory.empty() ? count_elements(array.text) : JsonbDirectory{array}.size();
}

std::optional<Jsonb> jsonb_element(const Jsonb& json, std::int32_t index) {
  if (json.text.empty() || json.text[0] != '[') return std::nullopt;
  std::int64_t wanted = index;
  if (wanted < 0) wanted += jsonb_size(json);
  if (wanted < 0) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(wanted);
  if (json.directory.empty()) return element_from(json, 1, number);
  const JsonbDirectory directory{json};
  std::uint32_t low = 0;
  for (std::uint32_t high = directory.entries(); low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (directory.number(middle) > number) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == 0) return element_from(json, 1, number);
  return element_from(json, directory.place(low - 1), number - directory.number(low - 1));
}

std::optional<JsonbPlace> jsonb_place(const Jsonb& object, std::string_view key) {
  if (!is_written_plainly(key)) return std::nullopt;
  const std::string_view text = object.text;
  const std::size_t begin = begin_for(object, key);
  const char* end = text.data() + begin;
  JsonbPlace place{Jsonb{text.substr(text.size() - 1, 0)}, false};
  for (JsonbParts has{text, begin}; has.next();) {
    end = has.value().data();
    const Order order = order_of(has.key(), key);
    if (order == Order::before) continue;
    place = order == Order::same ? JsonbPlace{part_of(object, has.value()), true}
                                 : JsonbPlace{Jsonb{has.key().substr(0, 0)}, false};
    break;
  }
  yield_point((static_cast<std::size_t>(end - text.data()) - begin) / 4 + 1);
  return place;
}

}  // namespace swizzle::sql
