#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

/// Records of the logical log, kinds change_noted and changes_taken_back (docs/log-format.md).
namespace swizzle::payload {

/// A change noted for logical decoding. A large one is split over several records.
struct NotedChange {
  /// Number of undo records of the transaction at that time.
  std::uint64_t undo_position = 0;
  enum class Part : std::uint8_t { last = 0, more = 1 } part = Part::last;
  Bytes body;
};
inline constexpr std::size_t kNotedHeadBytes = 9;
/// Largest part of a body in one record.
inline constexpr std::size_t kMostNotedBytes = std::size_t{256} << 10U;

void encode_noted(const NotedChange& change, std::byte* head) noexcept;
std::optional<NotedChange> decode_noted(Bytes payload) noexcept;

/// Decodes the undo position: changes noted at a higher position have been rolled back.
std::optional<std::uint64_t> decode_taken_back(Bytes payload) noexcept;

}  // namespace swizzle::payload
