#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "storage/btree/node.h"

namespace swizzle {

/// Cache of the leaves that a transaction with many changes has changed. For most records of these
/// leaves the transaction need not look up whether others need, or have, an older version (T17):
/// none did when it reached the leaf, no other transaction has changed the leaf since, and it has
/// not changed the record itself. What the cache has forgotten is looked up.
class SettledLeaves {
 public:
  enum class Change : std::uint8_t {
    any,
    removal,  ///< of a record that is there
  };

  /// Makes the cache once the transaction has made many changes.
  void prepare(std::uint64_t changes) {
    const std::size_t wanted = changes < kMany ? kFewPlaces : kPlaces;
    if (places_.size() < wanted) [[unlikely]]
      places_.assign(wanted, {});
  }

  /// Returns true if the transaction has changed the leaf, no other has changed it since, and the
  /// transaction has not changed the record in a way that matters for `wanted`. Pre: the leaf is
  /// latched, or validated afterwards.
  [[nodiscard]] bool has(const Node& leaf, std::uint16_t index, Change wanted) const noexcept {
    if (places_.empty()) return false;
    const Place& place = places_[place_of(leaf)];
    // Every change of a leaf gives it another LSN, and no two leaves have the same.
    if (place.last == Lsn::none || place.last != leaf.lsn()) return false;
    return index > place.last_index || (wanted == Change::removal && place.only_removals);
  }

  /// Notes a change at `lsn`, which the leaf does not show yet, of a record that was settled. Does
  /// nothing before prepare().
  void note(const Node& leaf, std::uint16_t index, Change made, Lsn lsn) noexcept {
    if (places_.empty()) return;
    Place& place = places_[place_of(leaf)];
    const bool goes_on = place.last != Lsn::none && place.last == leaf.lsn();
    place.only_removals = made == Change::removal && (!goes_on || place.only_removals);
    place.last_index = goes_on ? std::max(place.last_index, index) : index;
    place.last = lsn;
  }

  void clear() noexcept { places_ = {}; }

 private:
  struct Place {
    Lsn last = Lsn::none;          ///< of the transaction's last change there
    std::uint16_t last_index = 0;  ///< no record with a higher index has been changed
    bool only_removals = false;    ///< so existing records have not been changed
  };
  /// The places take two megabytes, enough for the leaves of a gigabyte. So a table's leaves, which
  /// are visited once, do not replace those of an index, to which each batch of changes returns.
  static constexpr std::size_t kPlaces = std::size_t{1} << 17U;
  static constexpr std::size_t kFewPlaces = 64;
  static constexpr std::uint64_t kMany = 10'000;
  [[nodiscard]] std::size_t place_of(const Node& leaf) const noexcept {
    return raw(leaf.id()) % places_.size();
  }

  std::vector<Place> places_;
};

}  // namespace swizzle
