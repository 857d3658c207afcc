// Cursor: iteration over a tree, leaf by leaf.
#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/rows/leaf_scan.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/rows/scan_ahead.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

std::vector<std::byte> copy_of(Bytes bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Returns the lowest key above `key`.
std::vector<std::byte> successor(Bytes key) {
  std::vector<std::byte> next = copy_of(key);
  next.push_back(std::byte{0});
  return next;
}

LeafScan::Which read_by(const TransactionState& transaction, WaitPolicy policy) noexcept {
  if (!transaction.locks_reads()) return LeafScan::Which::visible;
  return policy == WaitPolicy::skip ? LeafScan::Which::newest_lockable
                                    : LeafScan::Which::newest_locked;
}

}  // namespace

/// State of a cursor. The remaining range is [low, high) and shrinks from the side where the scan
/// began.
struct Cursor::State {
  State(Transaction& of, AnyTree& in, ReadMode how, WaitPolicy policy, ScanHint hint)
      : transaction(of),
        working(TransactionAccess::state(of)),
        tree(in),
        mode(how),
        wait(policy),
        leaf(working, in.id(), read_by(working, policy)),
        ahead(in, hint) {}

  Transaction& transaction;
  TransactionState& working;
  AnyTree& tree;
  ReadMode mode;
  WaitPolicy wait;
  Direction direction = Direction::forward;
  std::optional<std::vector<std::byte>> low;
  std::optional<std::vector<std::byte>> high;

  LeafScan leaf;
  ScanAhead ahead;
  bool is_new_leaf = true;
  bool is_loaded = false;
  bool is_last_leaf = false;
  /// Leaves that the scan may still tidy itself; others are reported to the background task.
  int may_tidy = 1;
  std::size_t row = 0;  ///< rows of the leaf returned so far
  std::uint64_t leaf_requests = 0;
  /// Records looked up at a time: few at first, since many scans stop early.
  std::uint16_t most = 8;
  /// Copied on demand, since many scans want values only.
  std::optional<Bytes> key;
  std::size_t at = 0;  ///< the leaf's row returned last
  Bytes value;
  ValueBuffer large;

  Result<bool> next();
  Result<std::size_t> pass();
  Result<> load();
  Result<> load_visible();
  Result<> load_leaf();
  Result<> pass_over(Bytes from, Error&& why);
  void tidy_leaf();
  void move_on();
  Result<bool> hand_out(std::size_t index);
  Bytes key_here() noexcept;
  [[nodiscard]] bool is_empty_range() const noexcept {
    return low && high && compare(*low, *high) >= 0;
  }
};

Result<> Cursor::State::load() {
  if (!working.locks_reads()) return load_visible();
  // Between leaves, since key locks may escalate here. With WaitPolicy::skip, wait for a holder of
  // the whole tree all the same: skipping would skip everything.
  RETURN_IF_ERROR(working.intend(tree.id(), lock::TableMode::intent_shared,
                                 wait == WaitPolicy::skip ? WaitPolicy::wait : wait));
  RETURN_IF_ERROR(tree.birth().require_loaded());
  leaf.set_view(working.newest_view_of(tree.birth()));
  return load_leaf();
}

/// A bulk load may begin during the read; then the result is discarded.
Result<> Cursor::State::load_visible() {
  while (true) {
    const std::uint32_t loads = tree.birth().loads();
    const TransactionState::TreeView view = working.view_of(tree.birth());
    if (view != TransactionState::TreeView::whole) [[unlikely]] {
      if (tree.birth().is_closed()) {
        RETURN_IF_ERROR(working.wait_for_losers(tree.id(), RestartLosers::Changed::many_rows));
        continue;
      }
      // The tree was opened meanwhile.
      if (tree.birth().loads() != loads) continue;
    }
    if (view == TransactionState::TreeView::nothing) {
      is_last_leaf = true;
      return working.check_snapshot();
    }
    leaf.set_view(view);
    auto loaded = load_leaf();
    if (tree.birth().loads() == loads) [[likely]]
      return loaded;
    // The last leaf of a load need not cover the searched key if more leaves follow.
    working.hint_for(tree.id()).forget();
    is_loaded = false;
  }
}

Result<> Cursor::State::load_leaf() {
  const lock::LockMark before = working.locks.mark();
  static constexpr std::array<std::byte, 1> kLowest{};
  const Bytes from = low ? Bytes(*low) : Bytes(kLowest);
  const KeyBound below = high ? KeyBound::at(*high) : KeyBound::infinite();
  const std::optional<Bytes> lower = low ? std::optional<Bytes>(*low) : std::nullopt;
  const std::optional<Bytes> upper = high ? std::optional<Bytes>(*high) : std::nullopt;
  if (std::exchange(is_new_leaf, false)) {
    if (auto read = direction == Direction::forward ? ahead.come_to(from, upper)
                                                    : ahead.come_below(below, lower);
        !read)
      return pass_over(from, std::move(read).error());
  }
  while (true) {
    ++working.leaf_requests;
    ++leaf_requests;
    leaf.want(lower, upper, direction, most);
    if (auto read = direction == Direction::forward
                        ? tree.read(from, leaf, ahead.interest(), &working.hint_for(tree.id()))
                        : tree.read_below(below, leaf, ahead.interest());
        !read)
      return pass_over(from, std::move(read).error());
    if (leaf.swapped_out_key())
      working.engine.versions.page_in(*leaf.swapped_out_key(), leaf.leaf().id());
    else if (leaf.blocked_by())
      RETURN_IF_ERROR(working.locks.wait_for_transaction(*leaf.blocked_by(), working.wait(wait)));
    else if (leaf.blocked())
      RETURN_IF_ERROR(
          working.locks.acquire(*leaf.blocked(), lock::kReadKeyAndGap, working.wait(wait)));
    else
      break;
  }
  if (planted(PlantedFault::lock_released_early)) working.locks.release_to(before);
  if (leaf.looked_up()) RETURN_IF_ERROR(working.check_snapshot());
  RETURN_IF_ERROR(working.check_conflicts());
  is_loaded = true;
  row = 0;
  most = static_cast<std::uint16_t>(std::min(most * 4, int{Node::kMaxSlots}));
  return {};
}

/// Skips the unreadable part of the range. A backward scan cannot.
Result<> Cursor::State::pass_over(Bytes from, Error&& why) {
  if (direction == Direction::backward || !working.pass_over(why)) return fail(std::move(why));
  ASSIGN_OR_RETURN(auto next, tree.behind_unreadable(from));
  is_new_leaf = true;
  if (next)
    low = std::move(*next);
  else
    is_last_leaf = true;
  return {};
}

/// Sets the range to the part after the finished leaf.
void Cursor::State::move_on() {
  is_loaded = false;
  if (leaf.stopped_at()) {
    const Bytes last = leaf.key_of_slot(*leaf.stopped_at());
    if (direction == Direction::forward)
      low = successor(last);
    else
      high = copy_of(last);
    return;
  }
  is_new_leaf = true;
  if (direction == Direction::forward) {
    const KeyBound fence = leaf.leaf().high_fence();
    if (fence.is_infinite() || (high && compare(fence.key, *high) >= 0))
      is_last_leaf = true;
    else
      low = copy_of(fence.key);
  } else {
    const Bytes fence = leaf.leaf().low_fence();
    if (fence.empty() || (low && compare(fence, *low) <= 0))
      is_last_leaf = true;
    else
      high = copy_of(fence);
  }
}

/// Queue-like use leaves ghosts behind. A scan removes those of the first such leaf that it passes,
/// since the next scan would pass it as well; other leaves are left to the background task. Removal
/// needs log space: on a full disk ghosts stay, and the scan goes on.
void Cursor::State::tidy_leaf() {
  if (may_tidy < 0 || !leaf.wants_tidying()) return;
  const Bytes fence = leaf.leaf().low_fence();
  static constexpr std::array<std::byte, 1> kLowest{};
  const Bytes here = fence.empty() ? Bytes(kLowest) : fence;
  if (may_tidy == 0) return working.engine.tidier->hint(tree.id(), here, here);
  may_tidy = tree.tidy(here).has_value() ? may_tidy - 1 : -1;
}

Bytes Cursor::State::key_here() noexcept {
  if (!key) key = leaf.key(at);
  return *key;
}

Result<bool> Cursor::State::hand_out(std::size_t index) {
  at = index;
  key.reset();
  if (mode != ReadMode::snapshot) {
    // Lock the row's newest version; it may have been removed since the snapshot.
    Tree handle = TransactionAccess::handle(tree);
    ASSIGN_OR_RETURN(const bool still_there,
                     handle.get(transaction, key_here(), large, mode, wait));
    value = large.bytes();
    return still_there;
  }
  value = leaf.value(index);
  if (leaf.is_overflow(index)) {
    const MutableBytes address = large.prepare(value.size());
    std::copy(value.begin(), value.end(), address.begin());
    const PointRead::Which newest =
        working.hides_own() ? PointRead::Which::newest_before_statement : PointRead::Which::newest;
    auto read = read_overflow(working, tree.id(),
                              working.locks_reads() ? newest : PointRead::Which::visible, large);
    if (!read && working.pass_over(read.error())) return false;
    RETURN_IF_ERROR(std::move(read));
    value = large.bytes();
  }
  return true;
}

Result<bool> Cursor::State::next() {
  while (true) {
    if (!is_loaded) {
      if (is_last_leaf || is_empty_range()) return false;
      RETURN_IF_ERROR(load());
      if (!is_loaded) continue;
    }
    while (row < leaf.count()) {
      const std::size_t index = direction == Direction::forward ? row : leaf.count() - 1 - row;
      ++row;
      ASSIGN_OR_RETURN(const bool handed_out, hand_out(index));
      if (handed_out) return true;
    }
    tidy_leaf();
    move_on();
  }
}

Result<std::size_t> Cursor::State::pass() {
  while (true) {
    if (!is_loaded) {
      if (is_last_leaf || is_empty_range()) return 0;
      RETURN_IF_ERROR(load());
      if (!is_loaded) continue;
    }
    const std::size_t left = leaf.count() - std::exchange(row, leaf.count());
    tidy_leaf();
    move_on();
    if (left > 0) return left;
  }
}

Cursor::Cursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

Result<bool> Cursor::next() {
  return state_->next();
}
Result<std::size_t> Cursor::pass() {
  return state_->pass();
}
Bytes Cursor::key() const noexcept {
  return state_->key_here();
}
Bytes Cursor::value() const noexcept {
  return state_->value;
}
std::uint64_t Cursor::leaf_requests() const noexcept {
  return state_->leaf_requests;
}

Result<Cursor> Tree::scan(Transaction& transaction, const ScanRange& range, Direction direction,
                          ReadMode mode, WaitPolicy wait, ScanHint hint) const {
  auto state =
      std::make_unique<Cursor::State>(transaction, *static_cast<AnyTree*>(tree_), mode, wait, hint);
  state->direction = direction;
  if (range.low)
    state->low = range.low_bound == ScanRange::Bound::inclusive ? copy_of(*range.low)
                                                                : successor(*range.low);
  if (range.high)
    state->high = range.high_bound == ScanRange::Bound::exclusive ? copy_of(*range.high)
                                                                  : successor(*range.high);
  if (state->low && state->low->empty()) state->low.reset();
  return Cursor(std::move(state));
}

}  // namespace swizzle
