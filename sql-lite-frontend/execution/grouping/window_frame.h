#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/query_parts.h"

namespace swizzle::sql {

/// Range of row positions in a partition: [begin, end).
struct Places {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The rows of a frame: its positions without those that EXCLUDE removes.
struct FrameRows {
  Places whole;
  Places hole;
  std::optional<std::size_t> kept;  ///< of the hole: the row itself, under EXCLUDE TIES

  [[nodiscard]] bool has(std::size_t place) const noexcept {
    return place < hole.begin || place >= hole.end || place == kept;
  }
  /// Returns the position of the row with this number, counted from 0, or nothing if the frame has
  /// fewer.
  [[nodiscard]] std::optional<std::size_t> nth(std::size_t number) const noexcept;
  [[nodiscard]] std::optional<std::size_t> last() const noexcept;
};

/// Peer groups of a partition: rows that are equal in the window's ORDER BY.
class PeerGroups {
 public:
  /// Charges its memory to the account from now on.
  void count_in(MemoryAccount* account) {
    sql::count_in(starts_, account);
    sql::count_in(groups_, account);
  }
  /// Frees memory that exceeds the amount kept for the next run.
  void release() noexcept {
    clear_for_next_run(starts_);
    clear_for_next_run(groups_);
  }
  void begin(std::size_t first_place);
  /// Adds the next row, to the current peer group or as the first of a new one.
  void add(bool is_peer);

  [[nodiscard]] std::size_t count() const noexcept { return starts_.size(); }
  [[nodiscard]] std::size_t of(std::size_t place) const noexcept { return groups_[place - first_]; }
  [[nodiscard]] Places places(std::size_t group) const noexcept {
    return {starts_[group],
            group + 1 < starts_.size() ? starts_[group + 1] : first_ + groups_.size()};
  }
  [[nodiscard]] Places peers_of(std::size_t place) const noexcept { return places(of(place)); }

 private:
  std::size_t first_ = 0;
  CountedVector<std::size_t> starts_;
  CountedVector<std::uint32_t> groups_;
};

}  // namespace swizzle::sql
