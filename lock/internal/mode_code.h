#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "lock/modes.h"

namespace swizzle::lock {

/// One byte for every mode that an entry of a lock table can have: the key modes, the five table
/// modes, and the two modes that only await holders. The first two kinds have `none` at 0.
enum class ModeCode : std::uint8_t { none = 0 };

inline constexpr std::uint8_t kKeyModeCodes = kAccesses * kAccesses;
/// The first mode that awaits the holders of what excludes SHARED; the next one is for EXCLUSIVE.
inline constexpr std::uint8_t kFirstAwaiting = kKeyModeCodes + kTableModes - 1;
inline constexpr std::uint8_t kModeCodes = kFirstAwaiting + 2;

constexpr ModeCode code(KeyMode mode) noexcept {
  return ModeCode{static_cast<std::uint8_t>(kAccesses * std::to_underlying(mode.key) +
                                            std::to_underlying(mode.gap))};
}
constexpr ModeCode code(TableMode mode) noexcept {
  return mode == TableMode::none
             ? ModeCode::none
             : ModeCode{static_cast<std::uint8_t>(kKeyModeCodes - 1 + std::to_underlying(mode))};
}

/// Returns the mode of a request that waits as one for `mode` does, and excludes no later request.
/// Pre: SHARED or EXCLUSIVE.
constexpr ModeCode awaiting(TableMode mode) noexcept {
  return ModeCode{
      static_cast<std::uint8_t>(kFirstAwaiting + (mode == TableMode::exclusive ? 1 : 0))};
}
constexpr bool is_awaiting(ModeCode mode) noexcept {
  return std::to_underlying(mode) >= kFirstAwaiting;
}

/// Pre: the code came from a KeyMode.
constexpr KeyMode key_mode(ModeCode mode) noexcept {
  const std::uint8_t raw = std::to_underlying(mode);
  return {Access{static_cast<std::uint8_t>(raw / kAccesses)},
          Access{static_cast<std::uint8_t>(raw % kAccesses)}};
}
/// Pre: the code came from a TableMode, also by awaiting().
constexpr TableMode table_mode(ModeCode mode) noexcept {
  if (is_awaiting(mode))
    return mode == awaiting(TableMode::shared) ? TableMode::shared : TableMode::exclusive;
  return mode == ModeCode::none
             ? TableMode::none
             : TableMode{static_cast<std::uint8_t>(std::to_underlying(mode) - (kKeyModeCodes - 1))};
}

namespace detail {

constexpr bool is_key_code(std::uint8_t raw) noexcept {
  return raw < kKeyModeCodes;
}

/// Bit b of element a: a request for b waits for an earlier one for a. Key modes never meet table
/// modes.
inline constexpr auto kConflicts = [] {
  std::array<std::uint32_t, kModeCodes> conflicts{};
  static_assert(kModeCodes <= 32);
  for (std::uint8_t a = 0; a < kModeCodes; ++a) {
    for (std::uint8_t b = 0; b < kModeCodes; ++b) {
      if (is_key_code(a) != is_key_code(b) || is_awaiting(ModeCode{a})) continue;
      const bool fine = is_key_code(a)
                            ? compatible(key_mode(ModeCode{a}), key_mode(ModeCode{b}))
                            : compatible(table_mode(ModeCode{a}), table_mode(ModeCode{b}));
      if (!fine) conflicts[a] |= std::uint32_t{1} << b;
    }
  }
  return conflicts;
}();

inline constexpr auto kCombined = [] {
  std::array<std::array<ModeCode, kModeCodes>, kModeCodes> combined{};
  for (std::uint8_t a = 0; a < kModeCodes; ++a) {
    for (std::uint8_t b = 0; b < kModeCodes; ++b) {
      const bool keys = is_key_code(a) && is_key_code(b);
      combined[a][b] =
          keys     ? code(combine(key_mode(ModeCode{a}), key_mode(ModeCode{b})))
          : a == 0 ? ModeCode{b}
          : b == 0 ? ModeCode{a}
          : is_key_code(a) != is_key_code(b) || is_awaiting(ModeCode{a}) || is_awaiting(ModeCode{b})
              ? ModeCode::none
              : code(combine(table_mode(ModeCode{a}), table_mode(ModeCode{b})));
    }
  }
  return combined;
}();

/// Bit a: the mode a allows writing.
inline constexpr auto kWriting = [] {
  std::uint32_t writing = 0;
  for (std::uint8_t a = 0; a < kModeCodes; ++a) {
    const ModeCode mode{a};
    const bool writes =
        is_awaiting(mode) ? false
        : is_key_code(a)
            ? may_write(key_mode(mode).key) || may_write(key_mode(mode).gap)
            : table_mode(mode) != TableMode::intent_shared && table_mode(mode) != TableMode::shared;
    if (writes) writing |= std::uint32_t{1} << a;
  }
  return writing;
}();

}  // namespace detail

/// True if a request for `later` waits for one for `earlier`.
constexpr bool conflict(ModeCode earlier, ModeCode later) noexcept {
  return (detail::kConflicts[std::to_underlying(earlier)] >> std::to_underlying(later) & 1U) != 0;
}
constexpr ModeCode combine(ModeCode a, ModeCode b) noexcept {
  return detail::kCombined[std::to_underlying(a)][std::to_underlying(b)];
}
constexpr bool implies(ModeCode held, ModeCode wanted) noexcept {
  return combine(held, wanted) == held;
}

/// True if a holder may have changed the object that the lock covers, so that its commit LSN
/// matters to the next holder.
constexpr bool may_write(ModeCode mode) noexcept {
  return (detail::kWriting >> std::to_underlying(mode) & 1U) != 0;
}

/// A lock on a whole table that is more than an intent.
constexpr bool is_strong(ModeCode mode) noexcept {
  return !detail::is_key_code(std::to_underlying(mode)) && !is_intent(table_mode(mode));
}

std::string name(ModeCode mode);

}  // namespace swizzle::lock
