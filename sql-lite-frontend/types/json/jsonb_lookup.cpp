#include "sql-lite-frontend/types/json/jsonb_lookup.h"

#include <algorithm>
#include <cstring>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/jsonb_parts.h"

namespace swizzle::sql {
namespace {

enum class Order : std::uint8_t { before, same, after };

/// How the key as it is written, in its quotes, stands to another.
Order order_of(std::string_view quoted, std::string_view key) {
  const std::string_view written = quoted.substr(1, quoted.size() - 2);
  // An escape takes more bytes than what it means.
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

}  // namespace

std::optional<std::string_view> jsonb_member(std::string_view json, std::string_view key) {
  if (json.empty() || json[0] != '{') return std::nullopt;
  std::optional<std::string_view> found;
  const char* end = json.data();
  for (JsonbParts has{json}; has.next();) {
    end = has.value().data();
    const Order order = order_of(has.key(), key);
    if (order == Order::before) continue;
    if (order == Order::same) found = has.value();
    break;
  }
  count_work(static_cast<std::size_t>(end - json.data()) / 4 + 1);
  return found;
}

std::optional<std::string_view> jsonb_element(std::string_view json, std::int32_t index) {
  if (json.empty() || json[0] != '[') return std::nullopt;
  count_work(json.size() / 4 + 1);
  std::int64_t wanted = index;
  if (wanted < 0) {
    for (JsonbParts has{json}; has.next();) ++wanted;
    if (wanted < 0) return std::nullopt;
  }
  for (JsonbParts has{json}; has.next();) {
    if (wanted-- == 0) return has.value();
  }
  return std::nullopt;
}

std::optional<JsonbPlace> jsonb_place(std::string_view object, std::string_view key) {
  if (!is_written_plainly(key)) return std::nullopt;
  count_work(object.size() / 4 + 1);
  for (JsonbParts has{object}; has.next();) {
    const Order order = order_of(has.key(), key);
    if (order == Order::before) continue;
    if (order == Order::same) return JsonbPlace{has.value(), true};
    return JsonbPlace{has.key().substr(0, 0), false};
  }
  return JsonbPlace{object.substr(object.size() - 1, 0), false};
}

}  // namespace swizzle::sql
