#include "storage/txn/rows/scan_ahead.h"

#include <algorithm>

namespace swizzle {
namespace {

constexpr std::uint32_t kFirstWindow = 4;
/// A megabyte: neighbours on the disk become one large transfer, and half of it is read while the
/// other half is processed.
constexpr std::uint32_t kLargestWindow = 128;
/// Shares of the pool: the pages that a scan may read ahead, and the size from which it counts as
/// large. A small table is worth keeping although it is read whole now and then.
constexpr std::uint32_t kWindowShare = 16;
constexpr std::uint32_t kKeptShare = 32;

}  // namespace

ScanAhead::ScanAhead(AnyTree& tree, ScanHint hint) noexcept
    : tree_(tree),
      hint_(hint),
      most_(std::min(kLargestWindow, tree.pool().arena().count() / kWindowShare)),
      kept_leaves_(tree.pool().arena().count() / kKeptShare) {}

/// True if half of the requested leaves is used up. Then sets the next window.
bool ScanAhead::is_due() noexcept {
  ++leaves_;
  if (ahead_ > 0) --ahead_;
  // The first leaf may be the only one that is needed.
  if (hint_ == ScanHint::none || leaves_ == 1 || most_ < 2 || at_end_) return false;
  if (ahead_ > window_ / 2) return false;
  window_ = std::min(most_, std::max(kFirstWindow, 2 * window_));
  // Splits may have brought the scan beyond the requested leaves.
  if (ahead_ == 0) next_.reset();
  return true;
}

void ScanAhead::passed(LeavesAhead&& ahead) noexcept {
  ahead_ += ahead.leaves;
  next_ = std::move(ahead.next);
  at_end_ = !next_ || ahead.leaves == 0;
}

Result<> ScanAhead::come_to(Bytes from, std::optional<Bytes> until) {
  if (!is_due()) return {};
  while (ahead_ < window_ && !at_end_) {
    ASSIGN_OR_RETURN(LeavesAhead ahead,
                     tree_.read_ahead(next_ ? Bytes(*next_) : from, window_ - ahead_, interest()));
    passed(std::move(ahead));
    if (next_ && until && compare(*next_, *until) >= 0) at_end_ = true;
  }
  return {};
}

Result<> ScanAhead::come_below(const KeyBound& from, std::optional<Bytes> until) {
  if (!is_due()) return {};
  while (ahead_ < window_ && !at_end_) {
    const KeyBound bound = next_ ? KeyBound::at(*next_) : from;
    ASSIGN_OR_RETURN(LeavesAhead ahead,
                     tree_.read_ahead_below(bound, window_ - ahead_, interest()));
    passed(std::move(ahead));
    if (next_ && until && compare(*next_, *until) <= 0) at_end_ = true;
  }
  return {};
}

}  // namespace swizzle
