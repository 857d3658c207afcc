#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace swizzle::lock {

/// What a lock allows on one thing: a key, the gap after it, or (with the intents) a whole table.
enum class TableMode : std::uint8_t {
  none,
  intent_shared,
  intent_exclusive,
  shared,
  shared_intent_exclusive,
  exclusive,
};
inline constexpr std::size_t kTableModes = 6;

/// The modes without intents: below a key or a gap there is nothing to intend.
enum class Access : std::uint8_t { none, shared, exclusive };
inline constexpr std::size_t kAccesses = 3;

/// A lock on a key is two locks: on the key, and on the open interval from it to the next key.
struct KeyMode {
  Access key = Access::none;
  Access gap = Access::none;

  friend constexpr bool operator==(const KeyMode&, const KeyMode&) = default;
};

inline constexpr KeyMode kReadKey{Access::shared, Access::none};
inline constexpr KeyMode kWriteKey{Access::exclusive, Access::none};
inline constexpr KeyMode kReadGap{Access::none, Access::shared};
inline constexpr KeyMode kInsertIntoGap{Access::none, Access::exclusive};
inline constexpr KeyMode kReadKeyAndGap{Access::shared, Access::shared};
inline constexpr KeyMode kWriteKeyAndGap{Access::exclusive, Access::exclusive};

namespace detail {

/// A mode is the set of what its holder may do. `below` means: through further locks on parts.
using Rights = std::uint8_t;
inline constexpr Rights kReadBelow = 1;
inline constexpr Rights kWriteBelow = 2;
inline constexpr Rights kReadAll = 4;
inline constexpr Rights kWriteAll = 8;

/// The one table of modes (rule L1); everything below is derived from it.
inline constexpr std::array<Rights, kTableModes> kRights{
    0,
    kReadBelow,
    kReadBelow | kWriteBelow,
    kReadBelow | kReadAll,
    kReadBelow | kWriteBelow | kReadAll,
    kReadBelow | kWriteBelow | kReadAll | kWriteAll,
};

constexpr Rights rights(TableMode mode) noexcept {
  return kRights[std::to_underlying(mode)];
}

/// Whoever reads everything tolerates no writer; whoever writes everything tolerates nobody.
constexpr bool disturbs(Rights holder, Rights other) noexcept {
  return ((holder & kReadAll) != 0 && (other & kWriteBelow) != 0) ||
         ((holder & kWriteAll) != 0 && other != 0);
}

}  // namespace detail

constexpr bool compatible(TableMode a, TableMode b) noexcept {
  return !detail::disturbs(detail::rights(a), detail::rights(b)) &&
         !detail::disturbs(detail::rights(b), detail::rights(a));
}

/// Whoever holds `held` needs no further lock for `wanted`.
constexpr bool implies(TableMode held, TableMode wanted) noexcept {
  return (detail::rights(wanted) & ~detail::rights(held)) == 0;
}

/// The weakest mode that implies both.
constexpr TableMode combine(TableMode a, TableMode b) noexcept {
  const auto both = static_cast<detail::Rights>(detail::rights(a) | detail::rights(b));
  std::uint8_t mode = 0;
  while (detail::kRights[mode] != both) ++mode;  // the table is closed under union
  return TableMode{mode};
}

constexpr TableMode as_table_mode(Access access) noexcept {
  constexpr std::array<TableMode, kAccesses> modes{TableMode::none, TableMode::shared,
                                                   TableMode::exclusive};
  return modes[std::to_underlying(access)];
}

constexpr bool compatible(Access a, Access b) noexcept {
  return compatible(as_table_mode(a), as_table_mode(b));
}
constexpr bool implies(Access held, Access wanted) noexcept {
  return implies(as_table_mode(held), as_table_mode(wanted));
}
constexpr Access combine(Access a, Access b) noexcept {
  return implies(a, b) ? a : b;
}

constexpr bool compatible(KeyMode a, KeyMode b) noexcept {
  return compatible(a.key, b.key) && compatible(a.gap, b.gap);
}
constexpr bool implies(KeyMode held, KeyMode wanted) noexcept {
  return implies(held.key, wanted.key) && implies(held.gap, wanted.gap);
}
constexpr KeyMode combine(KeyMode a, KeyMode b) noexcept {
  return {combine(a.key, b.key), combine(a.gap, b.gap)};
}

/// A lock on the whole table makes locks on its keys and gaps unnecessary.
constexpr bool covers(TableMode table, KeyMode key) noexcept {
  return implies(table, as_table_mode(combine(key.key, key.gap)));
}

constexpr bool is_intent(TableMode mode) noexcept {
  return mode == TableMode::intent_shared || mode == TableMode::intent_exclusive;
}

constexpr std::string_view name(TableMode mode) noexcept {
  constexpr std::array<std::string_view, kTableModes> names{"N", "IS", "IX", "S", "SIX", "X"};
  return names[std::to_underlying(mode)];
}
constexpr std::string_view name(Access access) noexcept {
  return name(as_table_mode(access));
}

}  // namespace swizzle::lock
