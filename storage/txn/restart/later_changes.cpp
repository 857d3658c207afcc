#include "storage/txn/restart/later_changes.h"

#include <algorithm>
#include <utility>

#include "base/runtime/long_work.h"
#include "storage/txn/versions/version_index.h"

namespace swizzle {

std::size_t LaterChanges::place_of(std::uint64_t hash, TreeId tree, Bytes key) const noexcept {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = hash & mask;
  while (entries_[at].record != nullptr) {
    const UndoRecord& record = *entries_[at].record;
    if (((entries_[at].hash ^ hash) & ~kUnknown) == 0 && record.tree == tree &&
        compare(record.key(), key) == 0)
      break;
    at = (at + 1) & mask;
  }
  return at;
}

const UndoRecord* LaterChanges::find(TreeId tree, Bytes key) const noexcept {
  if (entries_.empty()) return nullptr;
  const Entry& entry = entries_[place_of(hash_of_key(tree, key), tree, key)];
  return (entry.hash & kUnknown) == 0 ? entry.record : nullptr;
}

Result<> LaterChanges::put(const UndoRecord& record) {
  return put(record, 0);
}

Result<> LaterChanges::put_unknown(const UndoRecord& record) {
  return put(record, kUnknown);
}

Result<> LaterChanges::put(const UndoRecord& record, std::uint64_t unknown) {
  if (2 * (count_ + 1) > entries_.size()) RETURN_IF_ERROR(grow());
  Entry& entry = entries_[place_of(record.key_hash, record.tree, record.key())];
  if (entry.record == nullptr) {
    if (record.kind == UndoRecord::Kind::inserted) return {};
    ++count_;
  }
  entry = {(record.key_hash & ~kUnknown) | unknown, &record};
  return {};
}

Result<> LaterChanges::grow() {
  const std::size_t size = std::max(kFirstEntries, 2 * entries_.size());
  const std::span<const Entry> old = entries_;
  std::vector<Entry> few;
  std::unique_ptr<ScratchMemory> many;
  if (size < kFewEntries) {
    few.resize(size);
    entries_ = few;
  } else {
    ASSIGN_OR_RETURN(many, files_.scratch(directory_, size * sizeof(Entry)));
    entries_ = {static_cast<Entry*>(static_cast<void*>(many->bytes().data())), size};
    std::ranges::fill(entries_, Entry{});
  }
  const std::size_t mask = size - 1;
  for (const Entry& entry : old) {
    unending_yield_point(kUnknownWork);
    if (entry.record == nullptr) continue;
    std::size_t at = entry.hash & mask;
    while (entries_[at].record != nullptr) at = (at + 1) & mask;
    entries_[at] = entry;
  }
  few_ = std::move(few);
  many_ = std::move(many);
  return {};
}

}  // namespace swizzle
