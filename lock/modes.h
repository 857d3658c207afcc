#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace swizzle::lock {

/// The rights that a lock gives on one thing: a key, the gap after it, or (with the intents) a
/// whole table.
enum class TableMode : std::uint8_t {
  none,
  intent_shared,
  intent_exclusive,
  shared,
  shared_intent_exclusive,
  exclusive,
};
inline constexpr std::size_t kTableModes = 6;

/// The rights that a lock gives on a key or a gap, which have no parts that an intent could
/// announce. Each gives all rights of the ones before it. The two about a key alone are for keys,
/// never for gaps.
enum class Access : std::uint8_t {
  none,
  key_shared,         ///< the key exists: its value may change
  shared,             ///< reads the value
  content_exclusive,  ///< changes the value; the key stays
  exclusive,          ///< everything: the key may come or go
};
inline constexpr std::size_t kAccesses = 5;

/// A lock on a key is two locks: on the key, and on the open interval from it to the next key.
struct KeyMode {
  Access key = Access::none;
  Access gap = Access::none;

  friend constexpr bool operator==(const KeyMode&, const KeyMode&) = default;
};

inline constexpr KeyMode kKeepKey{Access::key_shared, Access::none};
inline constexpr KeyMode kReadKey{Access::shared, Access::none};
inline constexpr KeyMode kChangeContent{Access::content_exclusive, Access::none};
inline constexpr KeyMode kWriteKey{Access::exclusive, Access::none};
inline constexpr KeyMode kReadGap{Access::none, Access::shared};
inline constexpr KeyMode kInsertIntoGap{Access::none, Access::exclusive};
inline constexpr KeyMode kReadKeyAndGap{Access::shared, Access::shared};
inline constexpr KeyMode kWriteKeyAndGap{Access::exclusive, Access::exclusive};

namespace detail {

/// A mode is the set of rights of its holder. `below` means: through further locks on parts.
using Rights = std::uint8_t;
inline constexpr Rights kReadBelow = 1;
inline constexpr Rights kWriteBelow = 2;
inline constexpr Rights kReadAll = 4;
inline constexpr Rights kWriteAll = 8;

/// The table of modes (rule L1); everything below is derived from it, and from the one of accesses.
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

/// True if the rights conflict: a reader of everything tolerates no writer, a writer of everything
/// tolerates no other owner.
constexpr bool disturbs(Rights holder, Rights other) noexcept {
  return ((holder & kReadAll) != 0 && (other & kWriteBelow) != 0) ||
         ((holder & kWriteAll) != 0 && other != 0);
}

/// Rights on a key, which has two parts: its presence, and its value.
inline constexpr Rights kReadPresence = 1;
inline constexpr Rights kReadContent = 2;
inline constexpr Rights kWriteContent = 4;
inline constexpr Rights kWritePresence = 8;
inline constexpr std::array<Rights, kAccesses> kAccessRights{
    0,
    kReadPresence,
    kReadPresence | kReadContent,
    kReadPresence | kReadContent | kWriteContent,
    kReadPresence | kReadContent | kWriteContent | kWritePresence,
};

constexpr Rights rights(Access access) noexcept {
  return kAccessRights[std::to_underlying(access)];
}

/// True if the reader reads a part that the writer writes.
constexpr bool disturbs_access(Rights reader, Rights writer) noexcept {
  return ((reader & kReadPresence) != 0 && (writer & kWritePresence) != 0) ||
         ((reader & kReadContent) != 0 && (writer & kWriteContent) != 0);
}

}  // namespace detail

constexpr bool compatible(TableMode a, TableMode b) noexcept {
  return !detail::disturbs(detail::rights(a), detail::rights(b)) &&
         !detail::disturbs(detail::rights(b), detail::rights(a));
}

/// True if an owner of `held` needs no further lock for `wanted`.
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

/// The weakest lock on a whole table that makes this access to all of its keys needless.
constexpr TableMode as_table_mode(Access access) noexcept {
  constexpr std::array<TableMode, kAccesses> modes{TableMode::none, TableMode::shared,
                                                   TableMode::shared, TableMode::exclusive,
                                                   TableMode::exclusive};
  return modes[std::to_underlying(access)];
}

constexpr bool compatible(Access a, Access b) noexcept {
  return !detail::disturbs_access(detail::rights(a), detail::rights(b)) &&
         !detail::disturbs_access(detail::rights(b), detail::rights(a));
}
constexpr bool implies(Access held, Access wanted) noexcept {
  return (detail::rights(wanted) & ~detail::rights(held)) == 0;
}
/// Accesses are a chain, so the stronger of the two is both.
constexpr Access combine(Access a, Access b) noexcept {
  return implies(a, b) ? a : b;
}
/// True if the holder may have changed something.
constexpr bool may_write(Access access) noexcept {
  return (detail::rights(access) & (detail::kWriteContent | detail::kWritePresence)) != 0;
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
  constexpr std::array<std::string_view, kAccesses> names{"N", "KS", "S", "CX", "X"};
  return names[std::to_underlying(access)];
}

}  // namespace swizzle::lock
