#include "storage/txn/undo_log.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace swizzle {
namespace {

// A transaction of one change may have to be kept for long, and there may be many.
constexpr std::size_t kFirstChunk = 512;
constexpr std::size_t kLargestChunk = std::size_t{1} << 20U;
// Enough that a usual transaction allocates nothing.
constexpr std::size_t kKeptForReuse = std::size_t{8} << 10U;

}  // namespace

std::byte* UndoLog::take(std::size_t bytes) {
  bytes = (bytes + alignof(UndoRecord) - 1) & ~(alignof(UndoRecord) - 1);
  while (chunks_used_ == 0 || chunks_[chunks_used_ - 1].size - used_in_last_ < bytes) {
    if (chunks_used_ == chunks_.size()) {
      const std::size_t grown =
          chunks_.empty() ? kFirstChunk : std::min(chunks_.back().size * 2, kLargestChunk);
      const std::size_t size = std::max(grown, bytes);
      chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
      bytes_ += size;
    }
    ++chunks_used_;
    used_in_last_ = 0;
  }
  std::byte* memory = chunks_[chunks_used_ - 1].memory.get() + used_in_last_;
  used_in_last_ += bytes;
  return memory;
}

UndoRecord& UndoLog::add(const Change& change) {
  std::byte* memory = take(sizeof(UndoRecord) + change.key.size() + change.old_value.size());
  auto* record = new (memory) UndoRecord;
  record->previous = newest_;
  record->log = this;
  record->previous_lsn = change.previous_lsn;
  record->key_hash = change.key_hash;
  record->tree = change.tree;
  record->statement = change.statement;
  record->old_size = static_cast<std::uint32_t>(change.old_value.size());
  record->key_size = static_cast<std::uint16_t>(change.key.size());
  record->kind = change.kind;
  record->old_overflow = change.old_overflow;
  std::byte* after = memory + sizeof(UndoRecord);
  if (!change.key.empty()) std::memcpy(after, change.key.data(), change.key.size());
  if (!change.old_value.empty())
    std::memcpy(after + change.key.size(), change.old_value.data(), change.old_value.size());
  newest_ = record;
  ++count_;
  return *record;
}

void UndoLog::drop_newest() noexcept {
  newest_ = newest_->previous;
  --count_;
}

void UndoLog::clear() noexcept {
  while (bytes_ > kKeptForReuse) {
    bytes_ -= chunks_.back().size;
    chunks_.pop_back();
  }
  chunks_used_ = 0;
  used_in_last_ = 0;
  newest_ = nullptr;
  count_ = 0;
  outcome.store(kActive, std::memory_order_relaxed);
}

}  // namespace swizzle
