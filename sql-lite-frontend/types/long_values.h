#pragma once

#include <optional>
#include <span>
#include <utility>

#include "base/runtime/long_work.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/datum.h"

/// Helpers that keep work on long values from blocking other sessions' fibers. Such work runs on a
/// helper thread (Runtime::run_aside); work that builds long values from short ones counts its cost
/// (base/runtime/long_work.h).
namespace swizzle::sql {

/// Size from which work on a value takes longer than handing it to another thread.
inline constexpr std::size_t kLongBytes = std::size_t{256} << 10U;

inline std::size_t bytes_of(std::span<const Value> values) noexcept {
  std::size_t bytes = 0;
  for (const Value& value : values) {
    if (value.is_bytes()) bytes += value.as_bytes().size();
  }
  return bytes;
}

/// Runs `work`, which processes that many bytes, and returns its result.
template <class Work>
auto for_bytes(std::size_t bytes, Work&& work) -> decltype(work()) {
  if (bytes < kLongBytes) [[likely]]
    return work();
  std::optional<decltype(work())> result;
  Runtime::current().run_aside([&] { result.emplace(work()); });
  return std::move(*result);
}

/// Counts the approximate cost of copying, searching or comparing that many bytes.
inline void count_bytes(std::size_t bytes) {
  yield_point(bytes / 4);
}

/// Throws XX000 if `count` items exceed a gigabyte, for data that PostgreSQL allocates as one
/// block, e.g. a template's letters.
void require_room_for(std::size_t count, std::size_t bytes_each);

/// memcpy() in pieces, between which other fibers may run.
void copy_long(std::byte* to, Bytes from);
/// std::string_view::find, but in linear time even for repetitive texts.
std::size_t find_long(std::string_view text, std::string_view part, std::size_t from = 0);
/// The same as count_characters() and bytes_of_characters(), in pieces.
std::size_t count_long_characters(std::string_view text);
std::size_t bytes_of_long_characters(std::string_view text, std::size_t count);

}  // namespace swizzle::sql
