#include "storage/txn/undo/undo_log.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/invariant.h"
#include "base/memory/huge_pages.h"
#include "base/runtime/runtime.h"
#include "storage/txn/versions/removed_runs.h"

namespace swizzle {
namespace {

// Small, since a transaction of one change may have to be kept for long, and there may be many
// such.
constexpr std::size_t kFirstChunk = 512;
// So large that it comes in huge pages: the first touch of small pages is a good part of the cost
// of a bulk change.
constexpr std::size_t kLargestChunk = std::size_t{8} << 20U;
// Enough for usual transactions to allocate nothing.
constexpr std::size_t kKeptForReuse = std::size_t{8} << 10U;
// Stretches of scratch files are at least so large: a transaction of many gigabytes then has few of
// them.
constexpr std::size_t kSmallestSpill = std::size_t{64} << 10U;
constexpr std::size_t kLargestSpill = std::size_t{16} << 20U;
// Steps in which amounts are reported to the log.
constexpr std::uint64_t kLeastOwed = std::uint64_t{64} << 10U;
constexpr std::uint64_t kMostOwedAhead = std::uint64_t{4} << 20U;
// Older stretches whose memory is freed again when one more is needed.
constexpr std::size_t kFreedAgain = 8;
// Step in which the shared memory is lent.
constexpr std::size_t kLoan = std::size_t{16} << 20U;

}  // namespace

bool UndoLog::borrow(std::size_t least) noexcept {
  // Records in files do not return to memory.
  if (has_scratch_ || least > kLoan) return false;
  std::size_t lent = space_.lent_bytes.load(std::memory_order_relaxed);
  do {
    if (lent + kLoan > space_.shared_bytes) return false;
  } while (!space_.lent_bytes.compare_exchange_weak(lent, lent + kLoan, std::memory_order_relaxed));
  limit_ += kLoan;
  return true;
}

void UndoLog::give_back() noexcept {
  const std::size_t borrowed = std::exchange(limit_, space_.memory_bytes) - space_.memory_bytes;
  space_.lent_bytes.fetch_sub(borrowed, std::memory_order_relaxed);
}

Result<> UndoLog::prepare_more(std::size_t least, std::uint64_t logged) {
  if (to_undo_ + logged > owed_ + kOwedUnsaid) RETURN_IF_ERROR(owe(logged));
  return bytes_ + least <= limit_ ? Result<>{} : prepare_spill(least);
}

Result<> UndoLog::owe(std::uint64_t logged) {
  // Report more than is needed, and the more, the longer the log gets, so that reports are rare.
  const std::uint64_t ahead = std::clamp(to_undo_ / 4, kLeastOwed, kMostOwedAhead);
  const std::uint64_t more = to_undo_ + logged + ahead - owed_;
  RETURN_IF_ERROR(space_.log.reserve_rollback_space(more));
  set_owed(owed_ + more);
  return {};
}

void UndoLog::release_space() noexcept {
  to_undo_ = 0;
  reported_ = nullptr;
  if (owed_ != 0) space_.log.release_rollback_space(std::exchange(owed_, 0));
}

std::uint64_t UndoLog::logged_bytes(const UndoRecord& record) noexcept {
  if (record.kind == UndoRecord::Kind::removed_run) {
    const RemovedRun run(record);
    return run.count() * kLoggedBytes + run.bytes();
  }
  return kLoggedBytes + record.key_size + record.old_size + record.new_size;
}

Result<> UndoLog::prepare_spill(std::size_t least) {
  if (borrow(least)) return {};
  if (fits(least)) return {};
  if (chunks_used_ < chunks_.size() && chunks_.back().size >= least) return {};
  const std::size_t wanted = std::clamp(space_.memory_bytes / 4, kSmallestSpill, kLargestSpill);
  const std::size_t at_least = std::max(wanted, least);
  ASSIGN_OR_RETURN(auto scratch, space_.files.scratch(space_.directory, at_least));
  const std::size_t size = scratch->bytes().size();
  space_.spilled_bytes.fetch_add(size, std::memory_order_relaxed);
  // During this the system frees and writes pages one by one.
  Runtime::current().run_aside([this] { leave_memory(); });
  std::byte* const begin = scratch->bytes().data();
  chunks_.push_back({nullptr, std::move(scratch), begin, size});
  bytes_ += size;
  scratch_bytes_ += size;
  has_scratch_ = true;
  return {};
}

/// Writes the newest stretch while the next one fills, and frees its memory when that is full. The
/// memory of older stretches is freed again, since linking a record to them touches them: of some
/// of them by turns, so that the cost of a stretch does not grow with their number.
void UndoLog::leave_memory() noexcept {
  if (chunks_.empty()) return;
  const std::size_t older = chunks_.size() - 1;
  const auto swapped_out = [this](std::size_t at) {
    if (chunks_[at].scratch) chunks_[at].scratch->swap_out();
  };
  if (older != 0) swapped_out(older - 1);
  for (std::size_t i = 0; i < std::min(older, kFreedAgain); ++i) {
    next_freed_ = next_freed_ + 1 < older ? next_freed_ + 1 : 0;
    swapped_out(next_freed_);
  }
  if (chunks_.back().scratch) chunks_.back().scratch->write_back();
}

void UndoLog::page_in_slowly(const UndoRecord* record) {
  const auto chunk = std::ranges::find_if(
      chunks_, [&](const Chunk& one) { return lies_in({one.begin, one.size}, record); });
  INVARIANT(chunk != chunks_.end());
  at_hand_ = {chunk->begin, chunk->size};
  if (chunk->scratch) Runtime::current().run_aside([&] { chunk->scratch->page_in(); });
}

std::byte* UndoLog::take(std::size_t bytes) {
  while (!fits(bytes)) {
    if (chunks_used_ == chunks_.size()) {
      const std::size_t grown =
          chunks_.empty() ? kFirstChunk : std::min(chunks_.back().size * 2, kLargestChunk);
      const std::size_t size = std::max(grown, bytes);
      auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
      std::byte* const begin = memory.get();
      prefer_huge_pages(begin, size);
      chunks_.push_back({std::move(memory), nullptr, begin, size});
      bytes_ += size;
    }
    ++chunks_used_;
    used_in_last_ = 0;
  }
  std::byte* const memory = chunks_[chunks_used_ - 1].begin + used_in_last_;
  used_in_last_ += bytes;
  return memory;
}

UndoRecord& UndoLog::add(const Change& change) {
  UndoRecord& record = make(change, change.key.size() + change.old_value.size());
  to_undo_ += logged_bytes(record);
  auto* const after = reinterpret_cast<std::byte*>(&record + 1);
  if (!change.key.empty()) std::memcpy(after, change.key.data(), change.key.size());
  if (!change.old_value.empty())
    std::memcpy(after + change.key.size(), change.old_value.data(), change.old_value.size());
  return record;
}

UndoRecord& UndoLog::add_run(const Change& change, std::size_t bytes, std::size_t removals) {
  to_undo_ += removals * kLoggedBytes + bytes;
  return make(change, bytes);
}

UndoRecord& UndoLog::make(const Change& change, std::size_t bytes) {
  std::byte* const memory = take(record_bytes(bytes));
  // Zero the padding byte first. The bit-field stores below read it; on a fresh page that read
  // faults in the shared zero page and the store then faults again.
  static_cast<volatile std::byte*>(memory)[sizeof(UndoRecord) - 1] = std::byte{};
  auto* record = new (memory) UndoRecord;
  record->previous = newest_;
  record->log = this;
  record->previous_lsn = change.previous_lsn;
  record->key_hash = change.key_hash;
  record->tree = change.tree;
  record->statement = change.statement;
  record->old_size = static_cast<std::uint16_t>(change.old_value.size());
  record->new_size = static_cast<std::uint16_t>(change.new_bytes);
  record->key_size = static_cast<std::uint16_t>(change.key.size());
  record->kind = change.kind;
  record->old_overflow = change.old_overflow;
  record->takes_key = change.takes_key;
  if (change.kind == UndoRecord::Kind::moved || change.kind == UndoRecord::Kind::removed_run)
    has_fixed_ = true;
  newest_ = record;
  ++count_;
  return *record;
}

void UndoLog::drop_newest() noexcept {
  const auto* const at = reinterpret_cast<const std::byte*>(newest_);
  to_undo_ -= logged_bytes(*newest_);
  if (owed_ > to_undo_ + 2 * kMostOwedAhead) {
    const std::uint64_t less = owed_ - to_undo_ - kMostOwedAhead;
    set_owed(owed_ - less);
    space_.log.release_rollback_space(less);
  }
  newest_ = newest_->previous;
  --count_;
  const auto holds = [](const Chunk& chunk, const std::byte* record) {
    return record >= chunk.begin && record < chunk.begin + chunk.size;
  };
  while (!holds(chunks_[chunks_used_ - 1], at)) --chunks_used_;
  used_in_last_ = static_cast<std::size_t>(at - chunks_[chunks_used_ - 1].begin);
  // Keep one chunk for the next records.
  while (chunks_.size() > chunks_used_ + 1) drop_last_chunk();
}

void UndoLog::drop_last_chunk() noexcept {
  const Chunk& last = chunks_.back();
  bytes_ -= last.size;
  if (last.scratch) scratch_bytes_ -= last.size;
  chunks_.pop_back();
}

void UndoLog::clear() noexcept {
  release_space();
  give_back();
  has_scratch_ = false;
  has_fixed_ = false;
  at_hand_ = {};
  while (bytes_ > kKeptForReuse) drop_last_chunk();
  chunks_used_ = 0;
  used_in_last_ = 0;
  newest_ = nullptr;
  count_ = 0;
  outcome.store(kActive, std::memory_order_relaxed);
  covers.store(lock::TransactionLock::none, std::memory_order_relaxed);
}

}  // namespace swizzle
