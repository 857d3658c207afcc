#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ids.h"
#include "lock/internal/mode_code.h"
#include "lock/relation_modes.h"

namespace swizzle::lock {

struct Seat;

enum class Scope : std::uint8_t { key, table, database, relation, relation_rows, transaction };

/// Name of a lockable object. Two keys with one hash share their locks: a false conflict, never a
/// missed one.
class LockName {
 public:
  constexpr LockName() noexcept = default;
  constexpr LockName(std::uint64_t hash, TreeId tree, Scope scope) noexcept
      : hash_(hash), place_(std::uint64_t{raw(tree)} << 8 | std::to_underlying(scope)) {}

  [[nodiscard]] constexpr std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] constexpr TreeId tree() const noexcept {
    return TreeId{static_cast<std::uint32_t>(place_ >> 8)};
  }
  [[nodiscard]] constexpr Scope scope() const noexcept {
    return Scope{static_cast<std::uint8_t>(place_ & 0xFF)};
  }
  /// Pre: the scope is a relation's; its number is stored in place of a tree's.
  [[nodiscard]] constexpr RelationId relation() const noexcept { return RelationId{raw(tree())}; }
  /// Hash for buckets and private tables. Mixes the caller's hash, which may be weak in some bits.
  /// Eight consecutive hashes stay together, so that locks on neighbouring keys share cache lines.
  [[nodiscard]] constexpr std::uint64_t spread() const noexcept {
    const std::uint64_t mixed =
        ((hash_ >> 3) ^ (place_ * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
    return (mixed ^ mixed >> 32) << 3 | (hash_ & 7);
  }
  friend constexpr bool operator==(const LockName&, const LockName&) = default;

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t place_ = 0;
};

/// The life of a request, in this order; a conditional one may go from `requested` to `obsolete`.
enum class EntryState : std::uint8_t {
  requested,  // in the list, its owner is still reading older entries
  waiting,    // its owner can be woken through its seat
  active,     // granted
  obsolete,   // released or given up; blocks no request
};

/// One request for one lock. Written by its owner only. Other owners may read it while it is
/// linked, and until the readers of that time have left (ReaderEpochs). An upgrade is another
/// entry.
struct Entry {
  /// The next older entry of the bucket. The lowest bit set: this entry is being unlinked.
  std::atomic<std::uintptr_t> next{0};
  // Immutable from the moment the entry is linked.
  LockName name;
  Seat* seat = nullptr;
  /// The owner's entry of the same name before this one.
  Entry* older_of_same_name = nullptr;
  // Private to the owner.
  Entry* previous = nullptr;       // the acquisition before this one
  std::uint32_t ordinal = 0;       // number of the acquisition
  ModeCode mode = ModeCode::none;  // public; immutable, too
  std::atomic<EntryState> state{EntryState::obsolete};
  ModeCode total = ModeCode::none;  // this mode and those of older entries of the name, combined
  bool until_end = false;
};
static_assert(sizeof(Entry) == 56);

}  // namespace swizzle::lock
