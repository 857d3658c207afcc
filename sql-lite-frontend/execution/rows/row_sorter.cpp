#include "sql-lite-frontend/execution/rows/row_sorter.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Runs that are merged at once: each has a buffer.
std::size_t merge_width(const WorkMemory& memory) {
  return std::clamp<std::size_t>(memory.work_bytes / (2 * RowFile::kBufferBytes), 4, 64);
}

}  // namespace

RowSorter::RowSorter(std::span<const SortKey> keys, std::vector<Slot> slots)
    : slots_(std::move(slots)), width_(slots_.size()) {
  for (const SortKey& key : keys) {
    const CompareFunction compare = compare_function(key.expr->type());
    if (compare == nullptr) {
      throw sql_error(sqlstate::undefined_function,
                      "could not identify an ordering operator for type {}",
                      format_type(key.expr->type()))
          .with_hint("Use an explicit ordering operator or modify the query.");
    }
    const auto* slot = dynamic_cast<const SlotExpr*>(key.expr.get());
    const auto known = slot == nullptr ? slots_.end() : std::ranges::find(slots_, slot->slot());
    const bool is_kept_anyway = known != slots_.end();
    const std::size_t place =
        is_kept_anyway ? static_cast<std::size_t>(known - slots_.begin()) : width_++;
    keys_.push_back(
        {is_kept_anyway ? nullptr : key.expr.get(), place, compare, key.direction, key.nulls});
  }
  if (!keys.empty()) head_.emplace(keys);
  scratch_.resize(width_);
}

void RowSorter::start(Execution& execution, std::size_t wanted) {
  release();
  count_in(items_, execution.memory);
  arena_.count_in(execution.memory);
  wanted_ = wanted;
  report_ = {};
}

std::uint64_t RowSorter::head_of(const Value* row) const {
  return head_->of(row[keys_[0].place], row[keys_[head_->reads_two() ? 1 : 0].place]);
}

int RowSorter::compare_rows(const Value* left, const Value* right) const {
  for (const Key& key : keys_) {
    const Value& a = left[key.place];
    const Value& b = right[key.place];
    if (a.is_null() || b.is_null()) {
      if (a.is_null() && b.is_null()) continue;
      return a.is_null() == (key.nulls == NullsOrder::first) ? -1 : 1;
    }
    const int order = key.compare(a, b);
    if (order != 0) return key.direction == SortDirection::descending ? -order : order;
  }
  return 0;
}

bool RowSorter::before(const Item& left, const Item& right) const {
  if (left.head != right.head) return left.head < right.head;
  const int order = compare_rows(left.row, right.row);
  return order != 0 ? order < 0 : left.number < right.number;
}

std::size_t RowSorter::held_bytes() const noexcept {
  return arena_.reserved_bytes() + items_.size() * sizeof(Item);
}

void RowSorter::add(Execution& execution) {
  for (std::size_t i = 0; i < slots_.size(); ++i) scratch_[i] = execution.slots[slots_[i]];
  for (const Key& key : keys_) {
    if (key.expr != nullptr) scratch_[key.place] = key.expr->eval(execution);
  }
  const Item item{keys_.empty() ? 0 : head_of(scratch_.data()), scratch_.data(), arrived_++};
  if (wanted_ != kAllRows && files_.empty()) {
    keep_best(item);
  } else {
    Value* const row = arena_.allocate_array<Value>(width_);
    for (std::size_t i = 0; i < width_; ++i) row[i] = scratch_[i].copy_to(arena_);
    items_.push_back({item.head, row, item.number});
  }
  const WorkMemory* memory = execution.memory;
  if (memory->files == nullptr || held_bytes() <= memory->work_bytes) return;
  // Memory of rows that were removed from the heap is freed first.
  if (kept_since_compaction_ > items_.size()) compact();
  if (held_bytes() > memory->work_bytes && items_.size() > 1) write_run(execution);
}

/// Top-N sort: the worst row is at the heap's front, and is removed when the heap exceeds the
/// bound.
void RowSorter::keep_best(const Item& item) {
  const auto order = [this](const Item& left, const Item& right) { return before(left, right); };
  if (wanted_ == 0) return;
  if (items_.size() == wanted_) {
    report_.method = Report::Method::top_n;
    if (!before(item, items_.front())) return;
    std::ranges::pop_heap(items_, order);
    items_.pop_back();
  }
  Value* const row = arena_.allocate_array<Value>(width_);
  for (std::size_t i = 0; i < width_; ++i) row[i] = item.row[i].copy_to(arena_);
  items_.push_back({item.head, row, item.number});
  std::ranges::push_heap(items_, order);
  if (++kept_since_compaction_ > 2 * wanted_ + 1000) compact();
}

/// Frees the memory of rows that were removed from the heap.
void RowSorter::compact() {
  Arena fresh;
  fresh.count_in(arena_.account());
  for (Item& item : items_) {
    Value* const row = fresh.allocate_array<Value>(width_);
    for (std::size_t i = 0; i < width_; ++i) row[i] = item.row[i].copy_to(fresh);
    item.row = row;
  }
  arena_ = std::move(fresh);
  kept_since_compaction_ = 0;
}

constexpr std::size_t kWorkOfOrdering = 10;

void RowSorter::sort_items() {
  std::ranges::sort(items_, [this](const Item& left, const Item& right) {
    yield_point(kWorkOfOrdering);
    return before(left, right);
  });
}

void RowSorter::write_run(Execution& execution) {
  sort_items();
  auto file = std::make_unique<RowFile>(*execution.memory->files);
  const std::size_t rows = std::min(items_.size(), wanted_);
  for (std::size_t i = 0; i < rows; ++i) {
    execution.tick();
    file->append(std::span{items_[i].row, width_});
  }
  files_.push_back(std::move(file));
  items_.clear();
  arena_.release();
}

bool RowSorter::later(std::size_t left, std::size_t right) const {
  const Run& a = runs_[left];
  const Run& b = runs_[right];
  if (a.head != b.head) return a.head > b.head;
  const int order = compare_rows(a.row.data(), b.row.data());
  // Runs are numbered as their rows came.
  return order != 0 ? order > 0 : left > right;
}

bool RowSorter::advance(std::size_t index) {
  Run& run = runs_[index];
  if (!run.reader.next(run.row)) return false;
  if (!keys_.empty()) run.head = head_of(run.row.data());
  return true;
}

const std::vector<Value>* RowSorter::next_merged(Execution& execution) {
  const auto order = [this](std::size_t left, std::size_t right) { return later(left, right); };
  execution.tick();
  if (handed_out_) {
    if (advance(*handed_out_)) {
      heap_.push_back(*handed_out_);
      std::ranges::push_heap(heap_, order);
    }
    handed_out_.reset();
  }
  if (heap_.empty()) return nullptr;
  std::ranges::pop_heap(heap_, order);
  handed_out_ = heap_.back();
  heap_.pop_back();
  return &runs_[*handed_out_].row;
}

void RowSorter::merge_runs(std::span<std::unique_ptr<RowFile>> files) {
  runs_.clear();
  heap_.clear();
  handed_out_.reset();
  for (const auto& file : files) {
    runs_.emplace_back(*file);
    runs_.back().row.resize(width_);
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (advance(i)) heap_.push_back(i);
  }
  std::ranges::make_heap(
      heap_, [this](std::size_t left, std::size_t right) { return later(left, right); });
}

void RowSorter::finish(Execution& execution) {
  position_ = 0;
  if (files_.empty()) {
    sort_items();
    report_.bytes = held_bytes();
    return;
  }
  if (!items_.empty()) write_run(execution);
  report_.method = Report::Method::external_merge;
  for (const auto& file : files_) report_.bytes += file->bytes();
  const std::size_t most = merge_width(*execution.memory);
  while (files_.size() > most) {
    // Neighbours, so that equal rows keep their order.
    std::vector<std::unique_ptr<RowFile>> merged;
    for (std::size_t begin = 0; begin < files_.size(); begin += most) {
      const std::size_t count = std::min(most, files_.size() - begin);
      merge_runs(std::span{files_}.subspan(begin, count));
      auto file = std::make_unique<RowFile>(*execution.memory->files);
      while (const std::vector<Value>* row = next_merged(execution)) file->append(*row);
      merged.push_back(std::move(file));
      for (std::size_t i = 0; i < count; ++i) files_[begin + i].reset();
    }
    runs_.clear();
    files_ = std::move(merged);
  }
  merge_runs(files_);
}

bool RowSorter::next(Execution& execution) {
  const Value* row = nullptr;
  if (!files_.empty()) {
    const std::vector<Value>* merged = position_++ < wanted_ ? next_merged(execution) : nullptr;
    if (merged == nullptr) return false;
    row = merged->data();
  } else {
    if (position_ == items_.size()) return false;
    execution.tick();
    row = items_[position_++].row;
  }
  for (const Slot slot : slots_) execution.slots[slot] = *row++;
  return true;
}

void RowSorter::release() {
  runs_.clear();
  heap_.clear();
  handed_out_.reset();
  files_.clear();
  position_ = 0;
  arrived_ = 0;
  kept_since_compaction_ = 0;
  clear_for_next_run(items_);
  clear_for_next_run(arena_);
}

}  // namespace swizzle::sql
