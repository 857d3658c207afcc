#include "sql-lite-frontend/execution/grouping/distinct.h"

namespace swizzle::sql {

Distinct::Distinct(PlanPtr input, std::vector<ExprPtr> keys)
    : input_(std::move(input)),
      keys_(std::move(keys)),
      slots_(input_->output_slots()),
      writer_(expression_types(*keys_)) {}

void Distinct::open(Execution& execution) {
  seen_.clear();
  seen_.count_in(execution.memory);
  later_.clear();
  part_.reset();
  usage_ = {};
  input_->open(execution);
}

bool Distinct::next_row(Execution& execution) {
  for (;;) {
    if (part_) {
      if (part_->reader.next(execution, slots_)) return true;
    } else if (input_->next(execution)) {
      return true;
    }
    usage_.note_memory(seen_.held_bytes());
    part_ = later_.take();
    if (!part_) return false;
    // clear() would not do: the memory it keeps counts towards the limit, so every key would be
    // spilled again.
    seen_.release();
    usage_.note_part(part_->file->bytes());
  }
}

bool Distinct::is_new(Execution& execution) {
  writer_.clear();
  for (std::size_t i = 0; i < keys_.size(); ++i) writer_.add(i, keys_[i]->eval(execution));
  const WorkMemory* memory = execution.memory;
  const bool is_full =
      memory->files != nullptr && seen_.size() > 0 && seen_.held_bytes() > memory->hash_bytes();
  if (is_full) {
    if (seen_.find(writer_.key()) != KeyTable::kAbsent) return false;
    later_.add(execution, slots_, writer_.key(), part_ ? part_->depth + 1 : 0);
    return false;
  }
  std::uint32_t& seen = seen_[writer_.key()];
  if (seen != KeyTable::kAbsent) return false;
  seen = 1;
  return true;
}

bool Distinct::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (next_row(execution)) {
    execution.tick();
    if (is_new(execution)) return true;
    execution.row_arena.rewind(mark);
  }
  return false;
}

void Distinct::close() {
  input_->close();
  seen_.clear();
  part_.reset();
  later_.clear();
}

Unique::Unique(PlanPtr input, std::vector<ExprPtr> keys)
    : input_(std::move(input)), keys_(std::move(keys)), writer_(expression_types(*keys_)) {}

void Unique::open(Execution& execution) {
  any_ = false;
  input_->open(execution);
}

bool Unique::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (input_->next(execution)) {
    writer_.clear();
    for (std::size_t i = 0; i < keys_.size(); ++i) writer_.add(i, keys_[i]->eval(execution));
    if (!any_ || writer_.key() != last_) {
      any_ = true;
      last_ = writer_.key();
      return true;
    }
    execution.row_arena.rewind(mark);
  }
  return false;
}

}  // namespace swizzle::sql
