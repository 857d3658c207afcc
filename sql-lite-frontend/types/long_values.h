#pragma once

#include <optional>
#include <span>
#include <utility>

#include "base/runtime/long_work.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/datum.h"

/// Helpers that keep work on long values from delaying other sessions. Such work runs aside
/// (Runtime::run_aside); work that makes long values out of short ones counts its cost
/// (base/runtime/long_work.h).
namespace swizzle::sql {

/// Size from which on a value is worth a thread of its own: it takes longer to work on than to hand
/// over.
inline constexpr std::size_t kLongBytes = std::size_t{256} << 10U;

inline std::size_t bytes_of(std::span<const Value> values) noexcept {
  std::size_t bytes = 0;
  for (const Value& value : values) {
    if (value.is_bytes()) bytes += value.as_bytes().size();
  }
  return bytes;
}

/// Runs `work`, which goes through so many bytes, and returns its result.
template <class Work>
auto for_bytes(std::size_t bytes, Work&& work) -> decltype(work()) {
  if (bytes < kLongBytes) [[likely]]
    return work();
  std::optional<decltype(work())> result;
  Runtime::current().run_aside([&] { result.emplace(work()); });
  return std::move(*result);
}

/// Counts roughly the cost of copying, searching or comparing so many bytes.
inline void count_bytes(std::size_t bytes) {
  count_work(bytes / 4);
}

/// Throws XX000 for a `count` that takes more than a gigabyte at so many bytes each: PostgreSQL
/// keeps such data in one piece, a template's letters for example.
void require_room_for(std::size_t count, std::size_t bytes_each);

/// memcpy() in pieces.
void copy_long(std::byte* to, Bytes from);
/// The same as std::string_view::find, but in linear time whatever repeats itself.
std::size_t find_long(std::string_view text, std::string_view part, std::size_t from = 0);
/// The same as count_characters() and bytes_of_characters(), in pieces.
std::size_t count_long_characters(std::string_view text);
std::size_t bytes_of_long_characters(std::string_view text, std::size_t count);

}  // namespace swizzle::sql
