#include "sql-lite-frontend/execution/grouping/set_operation.h"

#include <utility>

#include "sql-lite-frontend/execution/rows/row_partitions.h"

namespace swizzle::sql {

SetOperation::SetOperation(Kind kind, PlanPtr left, std::vector<Slot> left_slots, PlanPtr right,
                           std::vector<Slot> right_slots, std::vector<TypeId> types)
    : kind_(kind),
      left_(std::move(left)),
      left_slots_(std::move(left_slots)),
      right_(std::move(right)),
      right_slots_(std::move(right_slots)),
      writer_(types) {}

void SetOperation::write_key(const Execution& execution, std::span<const Slot> slots) {
  writer_.clear();
  for (std::size_t i = 0; i < slots.size(); ++i) writer_.add(i, execution.slots[slots[i]]);
}

/// Once it is, it stays so until the next part: a key is counted in memory from its first row on,
/// or not at all.
bool SetOperation::is_full(const Execution& execution) const noexcept {
  const WorkMemory* memory = execution.memory;
  return memory->files != nullptr && counts_.size() > 0 &&
         counts_.held_bytes() > memory->hash_bytes();
}

SetOperation::Part& SetOperation::part_of_key(const Execution& execution) {
  if (open_.empty()) {
    open_.resize(partition_count(*execution.memory));
    for (Part& part : open_) part.depth = reading_ ? reading_->part.depth + 1 : 0;
  }
  return open_[KeyTable::part_of(writer_.key(), open_.size(), open_[0].depth)];
}

void SetOperation::put_aside(const Execution& execution, std::unique_ptr<RowFile>& file,
                             std::span<const Slot> slots) const {
  if (!file) file = std::make_unique<RowFile>(*execution.memory->files);
  file->append(execution, slots);
}

void SetOperation::count_right(Execution& execution) {
  write_key(execution, right_slots_);
  if (is_full(execution) && counts_.find(writer_.key()) == KeyTable::kAbsent) {
    put_aside(execution, part_of_key(execution).right, right_slots_);
    return;
  }
  std::uint32_t& count = counts_[writer_.key()];
  count = count == KeyTable::kAbsent ? 1 : count + 1;
}

void SetOperation::open(Execution& execution) {
  forget();
  counts_.count_in(execution.memory);
  right_->open(execution);
  RowScope scope{execution};
  while (right_->next(execution)) {
    execution.tick();
    count_right(execution);
    scope.rewind();
  }
  right_->close();
  left_->open(execution);
}

bool SetOperation::next_left(Execution& execution) {
  return reading_ ? reading_->left.next(execution, left_slots_) : left_->next(execution);
}

bool SetOperation::next_part(Execution& execution) {
  // Every row that is returned is one of the left side.
  for (Part& part : open_) {
    if (part.left) waiting_.push_front(std::move(part));
  }
  open_.clear();
  reading_.reset();
  if (waiting_.empty()) return false;
  // clear() would not do: the memory it keeps counts towards the limit, so every key would be
  // spilled again.
  counts_.release();
  reading_.emplace(std::move(waiting_.front()));
  waiting_.pop_front();
  if (reading_->part.right) {
    RowFile::Reader right{*reading_->part.right};
    while (right.next(execution, right_slots_)) {
      execution.tick();
      count_right(execution);
    }
  }
  return true;
}

/// Decides about a left row whose key is not in memory.
bool SetOperation::is_wanted_uncounted(Execution& execution) {
  if (!open_.empty()) {
    Part& part = part_of_key(execution);
    if (part.right) {
      put_aside(execution, part.left, left_slots_);
      return false;
    }
  }
  if (kind_ != Kind::except) return kind_ == Kind::except_all;
  if (is_full(execution)) {
    put_aside(execution, part_of_key(execution).left, left_slots_);
    return false;
  }
  counts_[writer_.key()] = 0;
  return true;
}

bool SetOperation::is_wanted(Execution& execution) {
  write_key(execution, left_slots_);
  if (kind_ == Kind::except && open_.empty() && !is_full(execution)) {
    // While all keys fit in memory, a single look-up both tests and records the key.
    std::uint32_t& count = counts_[writer_.key()];
    return std::exchange(count, 0U) == KeyTable::kAbsent;
  }
  const bool is_counted = counts_.find(writer_.key()) != KeyTable::kAbsent;
  if (!is_counted) return is_wanted_uncounted(execution);
  std::uint32_t& count = counts_[writer_.key()];
  const bool has_more = count > 0;
  switch (kind_) {
    case Kind::intersect:
      // Count 0 marks keys that were returned already.
      count = 0;
      return has_more;
    case Kind::intersect_all:
      if (has_more) --count;
      return has_more;
    case Kind::except:
      return false;
    case Kind::except_all:
      if (has_more) --count;
      return !has_more;
  }
  return false;
}

bool SetOperation::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  do {
    while (next_left(execution)) {
      execution.tick();
      if (is_wanted(execution)) return true;
      execution.row_arena.rewind(mark);
    }
  } while (next_part(execution));
  return false;
}

void SetOperation::forget() {
  counts_.clear();
  reading_.reset();
  open_.clear();
  waiting_.clear();
}

void SetOperation::close() {
  left_->close();
  right_->close();
  forget();
}

PlanNote SetOperation::note(ExprPrinter::Columns /*columns*/) const {
  const bool intersect = kind_ == Kind::intersect || kind_ == Kind::intersect_all;
  const bool all = kind_ == Kind::intersect_all || kind_ == Kind::except_all;
  return {std::string{"HashSetOp "} + (intersect ? "Intersect" : "Except") + (all ? " All" : ""),
          {}};
}

}  // namespace swizzle::sql
