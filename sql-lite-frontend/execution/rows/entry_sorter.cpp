#include "sql-lite-frontend/execution/rows/entry_sorter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

/// Chunks are an eighth of the memory, if that is less.
constexpr std::size_t kLargestChunk = std::size_t{1} << 20U;
/// Each has a buffer and an open file.
constexpr std::size_t kMostRuns = 64;
/// Sorting or moving more entries than this would block other fibers of the reactor for too long.
constexpr std::size_t kManyItems = 8192;
constexpr std::size_t kSizeBytes = 2 * sizeof(std::uint32_t);

std::uint64_t head_of(std::string_view key) noexcept {
  std::byte bytes[sizeof(std::uint64_t)]{};
  if (!key.empty()) std::memcpy(bytes, key.data(), std::min(key.size(), sizeof bytes));
  return load_big_endian<std::uint64_t>(bytes);
}

}  // namespace

EntrySorter::Entry EntrySorter::entry_at(const char* at) noexcept {
  std::uint32_t sizes[2];
  std::memcpy(sizes, at, sizeof sizes);
  return {{at + kSizeBytes, sizes[0]}, {at + kSizeBytes + sizes[0], sizes[1]}};
}

bool EntrySorter::less(const Item& a, const Item& b) noexcept {
  if (a.head != b.head) return a.head < b.head;
  return entry_at(a.at).key < entry_at(b.at).key;
}

std::size_t EntrySorter::held_bytes() const noexcept {
  return chunk_bytes_ + (items_.size() + (is_sorted_ ? 0 : items_.size())) * sizeof(Item);
}

char* EntrySorter::take(std::size_t bytes) {
  if (bytes > left_in_chunk_) {
    // Chunks of a run that has been written are used again, except for rows that they are too small
    // for.
    while (chunks_used_ < chunks_.size() && chunks_[chunks_used_].size < bytes) ++chunks_used_;
    if (chunks_used_ == chunks_.size()) {
      const std::size_t size = std::max(bytes, std::min(kLargestChunk, space_.memory_bytes / 8));
      chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    }
    const Chunk& chunk = chunks_[chunks_used_++];
    chunk_bytes_ += chunk.size;
    left_in_chunk_ = chunk.size;
    next_ = chunk.memory.get();
  }
  char* const taken = next_;
  next_ += bytes;
  left_in_chunk_ -= bytes;
  return taken;
}

void EntrySorter::add(std::string_view key, std::string_view value) {
  char* const at = take(kSizeBytes + key.size() + value.size());
  const std::uint32_t sizes[2]{static_cast<std::uint32_t>(key.size()),
                               static_cast<std::uint32_t>(value.size())};
  std::memcpy(at, sizes, sizeof sizes);
  if (!key.empty()) std::memcpy(at + kSizeBytes, key.data(), key.size());
  if (!value.empty()) std::memcpy(at + kSizeBytes + key.size(), value.data(), value.size());
  const Item item{head_of(key), at};
  is_sorted_ = is_sorted_ && (items_.empty() || less(items_.back(), item));
  if (items_.size() == items_.capacity() && items_.size() >= kManyItems) grow_items();
  items_.push_back(item);
  if (space_.files != nullptr && held_bytes() > space_.memory_bytes) write_run();
}

void EntrySorter::grow_items() {
  Runtime::current().run_aside([this] { items_.reserve(2 * items_.size()); });
}

/// Radix sort by the bytes of the heads, the last byte first. Skips bytes that are equal in all
/// heads, so short keys and small numbers need few passes.
void EntrySorter::sort_by_heads() {
  constexpr std::size_t kBytes = sizeof(std::uint64_t);
  std::array<std::array<std::uint32_t, 256>, kBytes> counts{};
  for (const Item& item : items_)
    for (std::size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][item.head >> 8 * byte & 0xffU];
  scratch_.resize(items_.size());
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    std::array<std::uint32_t, 256>& places = counts[byte];
    if (places[items_.front().head >> 8 * byte & 0xffU] == items_.size()) continue;
    std::uint32_t before = 0;
    for (std::uint32_t& place : places) before += std::exchange(place, before);
    for (const Item& item : items_) scratch_[places[item.head >> 8 * byte & 0xffU]++] = item;
    items_.swap(scratch_);
  }
}

void EntrySorter::sort_items() {
  if (is_sorted_) return;
  if (items_.size() < kManyItems)
    sort_in_memory();
  else
    Runtime::current().run_aside([this] { sort_in_memory(); });
}

void EntrySorter::sort_in_memory() {
  is_sorted_ = true;
  sort_by_heads();
  for (auto begin = items_.begin(); begin != items_.end();) {
    const auto end = std::find_if(begin + 1, items_.end(),
                                  [&](const Item& item) { return item.head != begin->head; });
    if (end - begin > 1 && !std::is_sorted(begin, end, less)) std::sort(begin, end, less);
    begin = end;
  }
}

void EntrySorter::write_run() {
  sort_items();
  if (runs_.size() == kMostRuns) merge_runs();
  Run& run = runs_.emplace_back(*space_.files);
  for (const Item& item : items_) {
    const Entry entry = entry_at(item.at);
    const std::array<Value, 2> record{Value::from_text(entry.key), Value::from_text(entry.value)};
    run.file->append(record);
  }
  forget_items();
}

void EntrySorter::forget_items() noexcept {
  items_.clear();
  is_sorted_ = true;
  chunks_used_ = 0;
  chunk_bytes_ = 0;
  left_in_chunk_ = 0;
}

void EntrySorter::restart() {
  STATEMENT_INVARIANT(runs_.empty());
  forget_items();
  position_ = 0;
}

/// All of them become one.
void EntrySorter::merge_runs() {
  begin_merge();
  Run merged{*space_.files};
  while (const auto entry = next()) {
    const std::array<Value, 2> record{Value::from_text(entry->key), Value::from_text(entry->value)};
    merged.file->append(record);
  }
  runs_.clear();
  runs_.push_back(std::move(merged));
}

void EntrySorter::begin_merge() {
  for (std::size_t i = 0; i < runs_.size(); ++i) advance(i);
}

void EntrySorter::finish() {
  if (runs_.empty()) {
    sort_items();
    return;
  }
  if (!items_.empty()) write_run();
  items_ = std::vector<Item>{};
  scratch_ = std::vector<Item>{};
  chunks_.clear();
  begin_merge();
}

bool EntrySorter::later(std::size_t left, std::size_t right) const {
  return runs_[right].record[0].as_text() < runs_[left].record[0].as_text();
}

/// Puts the run back into the heap with its next record, if it has one.
void EntrySorter::advance(std::size_t run) {
  if (!runs_[run].reader.next(runs_[run].record)) return;
  heap_.push_back(run);
  std::ranges::push_heap(
      heap_, [this](std::size_t left, std::size_t right) { return later(left, right); });
}

std::optional<EntrySorter::Entry> EntrySorter::ahead(std::size_t calls) const noexcept {
  if (!runs_.empty() || items_.size() - position_ <= calls) return std::nullopt;
  // In key order the entries are scattered in memory, so a later one is prefetched.
  if (items_.size() - position_ > 2 * calls) __builtin_prefetch(items_[position_ + 2 * calls].at);
  return entry_at(items_[position_ + calls].at);
}

std::optional<EntrySorter::Entry> EntrySorter::next() {
  if (runs_.empty()) {
    if (position_ == items_.size()) return std::nullopt;
    return entry_at(items_[position_++].at);
  }
  if (std::exchange(has_handed_out_, true)) {
    std::ranges::pop_heap(
        heap_, [this](std::size_t left, std::size_t right) { return later(left, right); });
    const std::size_t run = heap_.back();
    heap_.pop_back();
    advance(run);
  }
  if (heap_.empty()) {
    has_handed_out_ = false;
    return std::nullopt;
  }
  const auto& record = runs_[heap_.front()].record;
  return Entry{record[0].as_text(), record[1].as_text()};
}

}  // namespace swizzle::sql
