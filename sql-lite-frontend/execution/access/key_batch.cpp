#include "sql-lite-frontend/execution/access/key_batch.h"

#include <algorithm>

namespace swizzle::sql {

void KeyBatch::restart() {
  // Free the memory of a large batch: the next scan may not need it.
  if (most_ > kFirst * kGrowth) {
    sorter_.reset();
  } else if (sorter_) {
    sorter_->restart();
  }
  count_ = 0;
  most_ = kFirst;
}

void KeyBatch::add(std::string_view key) {
  if (!sorter_) sorter_ = std::make_unique<EntrySorter>(WorkSpace{.memory_bytes = kMemory});
  sorter_->add(key, {});
  ++count_;
}

bool KeyBatch::finish() {
  if (count_ == 0) return false;
  sorter_->finish();
  return true;
}

std::optional<std::string_view> KeyBatch::next() {
  if (count_ == 0) return std::nullopt;
  if (const auto entry = sorter_->next()) return entry->key;
  sorter_->restart();
  count_ = 0;
  most_ = std::min(most_ * kGrowth, kMost);
  return std::nullopt;
}

}  // namespace swizzle::sql
