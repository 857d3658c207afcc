#include "storage/txn/tidying/leaf_tidier.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/txn/rows/overflow.h"

namespace swizzle {
namespace {

constexpr Duration kTidierLooksEvery = std::chrono::milliseconds{100};
/// Pause before the second visit of a leaf. What kept its ghosts, such as a snapshot, has often
/// ended by then.
constexpr Duration kFirstLater = std::chrono::seconds{2};
constexpr Duration kLongestLater = std::chrono::seconds{64};
constexpr Duration kAfterFailedTidying = std::chrono::seconds{10};
constexpr Duration kPausedFor = std::chrono::milliseconds{10};
/// Absent leaves that one round may read. Tidying a table that is larger than memory must not fill
/// the device with reads.
constexpr std::uint32_t kReadsInRound = 64;
/// Leaves that one round may visit. In a large table coarse ranges name many leaves; this bounds
/// the work to a few hundredths of a processor.
constexpr std::uint32_t kVisitsInRound = 2000;

std::string text_of(const std::vector<std::byte>& key) {
  return std::string(as_text(key));
}

}  // namespace

void LeafTidier::start() {
  leftovers_.start();
  task_.start("leaf tidier", [this] { run(); });
}

void LeafTidier::hint(TreeId tree, Bytes low, Bytes high) noexcept {
  const std::lock_guard hold(hints_mutex_);
  try {
    hints_.add(tree, low, high);
  } catch (const std::bad_alloc&) {
    lost_hint();
  }
}

void LeafTidier::hint(KeyRanges&& ranges) noexcept {
  const std::lock_guard hold(hints_mutex_);
  try {
    while (const auto range = ranges.take_from({}, {})) hints_.add(*range);
  } catch (const std::bad_alloc&) {
    lost_hint();
    ranges.clear();
  }
}

std::size_t LeafTidier::hints() noexcept {
  const std::lock_guard hold(hints_mutex_);
  return hints_.size();
}

KeyRanges LeafTidier::take_hints() noexcept {
  const std::lock_guard hold(hints_mutex_);
  counters_.hints_lost.fetch_add(hints_.lost(), std::memory_order_relaxed);
  return std::exchange(hints_, KeyRanges{});
}

void LeafTidier::run() {
  Runtime& runtime = Runtime::current();
  while (!task_.is_stopping()) {
    reads_left_ = kReadsInRound;
    visits_left_ = kVisitsInRound;
    leftovers_.hint_some(*this);
    Outcome outcome = work_off(take_hints(), TidyEffort::light);
    if (outcome == Outcome::done && !later_.is_empty() && runtime.now() >= later_at_) {
      // The pause doubles while the obstacle stays, for instance a snapshot that is an hour old.
      later_pause_ = std::min(later_pause_ * 2, kLongestLater);
      later_at_ = runtime.now() + later_pause_;
      outcome = work_off(std::exchange(later_, KeyRanges{}), TidyEffort::thorough);
    }
    if (outcome == Outcome::failed)
      task_.pause_until(runtime.now() + kAfterFailedTidying);
    else
      task_.wait_until(runtime.now() + kTidierLooksEvery);
  }
}

void LeafTidier::visit_later(const KeyRanges::Range& leaf) {
  if (later_.is_empty()) {
    later_pause_ = std::max(later_pause_, kFirstLater);
    later_at_ = Runtime::current().now() + later_pause_;
  }
  later_.add(leaf);
}

void LeafTidier::put_back(KeyRanges&& ranges, TidyEffort effort) {
  if (effort == TidyEffort::light) return hint(std::move(ranges));
  while (const auto range = ranges.take_from({}, {})) later_.add(*range);
  later_at_ = Runtime::current().now();
}

LeafTidier::Outcome LeafTidier::work_off(KeyRanges ranges, TidyEffort effort) {
  while (auto range = ranges.take_from(tree_, visited_below_)) {
    if (task_.is_stopping()) return Outcome::done;
    const std::string low = range->low;
    const Outcome outcome = walk(*range, effort);
    if (outcome == Outcome::done) {
      // The leaf at the end of a range may also have keys of the ranges after it.
      ranges.remove(
          range->tree, low,
          tree_ == range->tree ? std::optional<std::string_view>(visited_below_) : std::nullopt);
      continue;
    }
    ranges.add(*range);
    put_back(std::move(ranges), effort);
    return outcome;
  }
  return Outcome::done;
}

/// Visits the leaves of a range one after the other, and yields between them. The part that is not
/// done stays in the range.
LeafTidier::Outcome LeafTidier::walk(KeyRanges::Range& range, TidyEffort effort) {
  Runtime& runtime = Runtime::current();
  while (!task_.is_stopping()) {
    if (visits_left_ == 0) return Outcome::tired;
    --visits_left_;
    auto may_visit = may_visit_now(range.tree, range.low_key());
    if (may_visit && !*may_visit) return Outcome::tired;
    auto tidied =
        may_visit
            ? visit(range.tree, range.low_key(), effort, copy_)
            : Result<std::optional<TidiedLeaf>>(std::unexpected(std::move(may_visit).error()));
    runtime.yield();
    tree_ = range.tree;
    visited_below_ = range.low;
    visited_below_ += '\0';
    if (!tidied) {
      // Readers of a damaged page are told of it.
      if (is_unreadable(tidied.error())) return Outcome::done;
      spdlog::debug("leaves of tree {} are not tidied now: {}", raw(range.tree),
                    tidied.error().message());
      return Outcome::failed;
    }
    if (!*tidied) return Outcome::done;
    TidiedLeaf& leaf = **tidied;
    if (leaf.ghosts_removed != 0 || leaf.pages_freed != 0) later_pause_ = kFirstLater;
    if (leaf.has_more) visit_later({range.tree, range.low, range.low});
    if (!leaf.next) {
      tree_ = TreeId{raw(range.tree) + 1};
      visited_below_.clear();
      return Outcome::done;
    }
    visited_below_ = text_of(*leaf.next);
    if (visited_below_ > range.high) return Outcome::done;
    range.low = visited_below_;
  }
  return Outcome::done;
}

/// Returns false if the leaf would have to be read and the round has read enough.
Result<bool> LeafTidier::may_visit_now(TreeId tree, Bytes key) {
  const std::lock_guard working(working_);
  AnyTree* const found = engine_.trees->find_open(tree);
  if (found == nullptr || !found->birth().may_be_tidied()) return true;
  ASSIGN_OR_RETURN(const bool is_absent, found->is_leaf_absent(key));
  if (!is_absent) return true;
  if (reads_left_ == 0) return false;
  --reads_left_;
  return true;
}

Result<std::optional<TidiedLeaf>> LeafTidier::visit(TreeId tree, Bytes key, TidyEffort effort,
                                                    LeafCopy& copy) {
  std::unique_lock working(working_);
  // A pause begins under the mutex, so that none begins unnoticed after the check.
  while (pauses_.load() != 0) {
    working.unlock();
    Runtime::current().sleep_until(Runtime::current().now() + kPausedFor);
    working.lock();
  }
  // The table forgets a tree before its pages go, and then waits for visits of it to end.
  AnyTree* const found = engine_.trees->find_open(tree);
  if (found == nullptr || !found->birth().may_be_tidied()) return std::nullopt;
  ASSIGN_OR_RETURN(TidiedLeaf tidied, found->tidy_leaf(key, effort, copy));
  counters_.leaves.fetch_add(1, std::memory_order_relaxed);
  counters_.ghosts_removed.fetch_add(tidied.ghosts_removed, std::memory_order_relaxed);
  counters_.pages_freed.fetch_add(tidied.pages_freed, std::memory_order_relaxed);
  return tidied;
}

Result<TidiedTree> LeafTidier::tidy(TreeId tree, const GoesOn& goes_on) {
  // Frees the versions that no snapshot needs first; otherwise their ghosts would still count as
  // needed.
  while (engine_.transactions->reclaim_some()) Runtime::current().yield();
  TidiedTree all;
  static constexpr char kAboveAll = '\xff';
  const std::string lowest(1, '\0');
  const std::string highest(Node::kMaxKeyBytes, kAboveAll);
  RETURN_IF_ERROR(tidy_between(tree, {tree, lowest, highest}, goes_on, all));
  // Chunks of large values do not count as records of the tree.
  TidiedTree chunks;
  RETURN_IF_ERROR(tidy_between(kOverflowTree, overflow_range_of(tree), goes_on, chunks));
  all.overflow_pages_freed = chunks.pages_freed;
  return all;
}

Result<> LeafTidier::tidy_between(TreeId tree, const KeyRanges::Range& range, const GoesOn& goes_on,
                                  TidiedTree& all) {
  const auto copy = std::make_unique<LeafCopy>();
  std::string from = range.low;
  while (true) {
    if (goes_on && !goes_on()) return fail(sqlstate::query_canceled, "tidying was canceled");
    ASSIGN_OR_RETURN(const std::optional<TidiedLeaf> tidied,
                     visit(tree, as_bytes(from), TidyEffort::thorough, *copy));
    if (!tidied) return {};
    ++all.leaves;
    all.ghosts_removed += tidied->ghosts_removed;
    all.ghosts_left += tidied->ghosts_left;
    all.pages_freed += tidied->pages_freed;
    if (!tidied->next) return {};
    from = text_of(*tidied->next);
    if (from > range.high) return {};
    Runtime::current().yield();
  }
}

Result<TidiedTree> Engine::tidy(TreeId id, const GoesOn& goes_on) {
  {
    const TreeTable::Hold hold(*parts_->trees);
    // Opens the tree if it has not been opened since the start.
    auto found = parts_->trees->find(id);
    // The tree was dropped after the caller had looked it up.
    if (!found && found.error().state() == sqlstate::internal_error) return TidiedTree{};
    if (!found) return fail(std::move(found).error());
  }
  return parts_->tidier->tidy(id, goes_on);
}

}  // namespace swizzle
