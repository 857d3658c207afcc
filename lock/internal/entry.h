#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "lock/internal/mode_code.h"

namespace swizzle::lock {

struct Seat;

enum class Scope : std::uint8_t { key, table, database };

/// What a lock is on. Two keys with one hash share their locks: a false conflict, never a missed
/// one.
struct LockName {
  std::uint64_t hash = 0;
  TreeId tree = TreeId::directory;
  Scope scope = Scope::key;

  friend constexpr bool operator==(const LockName&, const LockName&) = default;
};

/// Spreads names over buckets and private tables. The caller's hashes may be weak in some bits.
constexpr std::uint64_t spread(const LockName& name) noexcept {
  const std::uint64_t place =
      std::uint64_t{raw(name.tree)} * 4 + static_cast<std::uint64_t>(name.scope);
  const std::uint64_t mixed = (name.hash ^ (place * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
  return mixed ^ (mixed >> 32);
}

/// The life of a request, in this order; a conditional one may go from `requested` to `obsolete`.
enum class EntryState : std::uint8_t {
  requested,  // in the list, its owner is still reading what came before
  waiting,    // its owner can be woken through its seat
  active,     // granted
  obsolete,   // released or given up; blocks nobody
};

/// One request for one lock. Written by its owner only; everybody may look at it while it is linked
/// and until the readers of that time have left (ReaderEpochs). An upgrade is another entry.
struct Entry {
  /// The next older entry of the bucket. The lowest bit set: this entry is on its way out.
  std::atomic<std::uintptr_t> next{0};
  // Immutable from the moment the entry is linked.
  std::uint64_t hash = 0;
  TreeId tree = TreeId::directory;
  Scope scope = Scope::key;
  ModeCode mode = ModeCode::none;
  /// For the owner alone: this mode and those of its older entries of the same name, combined.
  ModeCode total = ModeCode::none;
  std::atomic<EntryState> state{EntryState::obsolete};
  Seat* seat = nullptr;
  /// The owner's entry of the same name before this one.
  Entry* older_of_same_name = nullptr;
  /// For the owner alone: the acquisition before this one, and which one this is.
  Entry* previous = nullptr;
  std::uint32_t ordinal = 0;
  bool until_end = false;

  [[nodiscard]] LockName name() const noexcept { return {hash, tree, scope}; }
  [[nodiscard]] bool is_for(const LockName& name) const noexcept {
    return hash == name.hash && tree == name.tree && scope == name.scope;
  }
};
static_assert(sizeof(Entry) == 56);

}  // namespace swizzle::lock
