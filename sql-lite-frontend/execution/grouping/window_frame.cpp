#include "sql-lite-frontend/execution/grouping/window_frame.h"

namespace swizzle::sql {

std::optional<std::size_t> FrameRows::nth(std::size_t number) const noexcept {
  for (std::size_t place = whole.begin; place < whole.end; ++place) {
    if (hole.begin == hole.end) {
      // Without EXCLUDE, the rows are contiguous.
      return number < whole.end - whole.begin ? std::optional{whole.begin + number} : std::nullopt;
    }
    if (has(place) && number-- == 0) return place;
  }
  return std::nullopt;
}

std::optional<std::size_t> FrameRows::last() const noexcept {
  for (std::size_t place = whole.end; place > whole.begin; --place) {
    if (has(place - 1)) return place - 1;
  }
  return std::nullopt;
}

void PeerGroups::begin(std::size_t first_place) {
  first_ = first_place;
  starts_.clear();
  groups_.clear();
}

void PeerGroups::add(bool is_peer) {
  if (!is_peer) starts_.push_back(first_ + groups_.size());
  groups_.push_back(static_cast<std::uint32_t>(starts_.size() - 1));
}

}  // namespace swizzle::sql
