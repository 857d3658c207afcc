#include "sql-lite-frontend/execution/joins/hash_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizzle::sql {

HashJoin::HashJoin(JoinKind kind, PlanPtr probe, PlanPtr build, Keys keys,
                   std::vector<ExprPtr> conditions)
    : JoinOperator(kind, std::move(probe), std::move(build), std::move(conditions)),
      keys_(std::move(keys)),
      table_(expression_types(keys_->build)) {
  store_.set_slots(inner_slots());
}

HashJoin::HashJoin(const HashJoin& of, StepCopies& copies)
    : JoinOperator(of, copies), keys_(of.keys_), table_(expression_types(keys_->build)) {
  store_.set_slots(of.store_.slots());
}

bool HashJoin::write_key(Execution& execution, std::span<const ExprPtr> exprs) {
  table_.start();
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const Value value = exprs[i]->eval(execution);
    if (value.is_null()) return false;
    table_.add(i, value);
  }
  return true;
}

void HashJoin::clear_table() {
  table_.clear();
  clear_for_next_run(previous_);
  clear_for_next_run(row_matched_);
  store_.clear();
}

/// Releases the table with its memory. Otherwise the memory of a table of many rows would be
/// charged to the next ones, and they would be split again, however few they are.
void HashJoin::release_table() {
  table_.release();
  sql::release(previous_);
  store_.release();
}

bool HashJoin::next_build_row(Execution& execution) {
  if (!reading_) return inner().next(execution);
  execution.tick();
  return reading_->build.next(execution, store_.slots());
}

bool HashJoin::next_outer(Execution& execution) {
  if (!reading_) return outer().next(execution);
  execution.tick();
  return reading_->probe.next(execution, outer_slots());
}

void HashJoin::keep_build_row(Execution& execution, bool has_key) {
  const bool one_is_enough = decides_outer() && !has_conditions();
  if (one_is_enough && table_.find() != ValueTable::kAbsent) return;
  const auto row = static_cast<std::uint32_t>(store_.keep(execution));
  previous_.push_back(kNone);
  if (!has_key) return;
  std::uint32_t& last = table_.place();
  previous_[row] = last == ValueTable::kAbsent ? kNone : last;
  last = row;
}

bool HashJoin::must_split(const Execution& execution) const noexcept {
  const WorkMemory* memory = execution.memory;
  if (memory->files == nullptr || !splitting_.empty()) return false;
  if (reading_ && reading_->part.depth >= kDeepest) return false;
  return store_.size() > 1 && store_.held_bytes() + table_.held_bytes() > memory->hash_bytes();
}

void HashJoin::split_build_row(Execution& execution, bool has_key) {
  const std::size_t to =
      has_key ? KeyTable::part_of(table_.key(), splitting_.size(), splitting_[0].depth) : 0;
  splitting_[to].build->append(execution, store_.slots());
}

void HashJoin::begin_split(Execution& execution) {
  const unsigned depth = reading_ ? reading_->part.depth + 1 : 0;
  const std::size_t parts = partition_count(*execution.memory);
  TemporaryFiles& files = *execution.memory->files;
  for (std::size_t i = 0; i < parts; ++i) {
    splitting_.push_back({std::make_unique<RowFile>(files), nullptr, depth});
  }
  usage_.peak_bytes = std::max(usage_.peak_bytes, store_.held_bytes() + table_.held_bytes());
  RowScope scope{execution};
  for (std::size_t row = 0; row < store_.size(); ++row) {
    execution.tick();
    store_.restore(execution, row);
    split_build_row(execution, write_key(execution, keys_->build));
    scope.rewind();
  }
  release_table();
}

void HashJoin::fill(Execution& execution) {
  clear_table();
  table_.count_in(execution.memory);
  count_in(previous_, execution.memory);
  count_in(row_matched_, execution.memory);
  RowScope scope{execution};
  while (next_build_row(execution)) {
    const bool has_key = write_key(execution, keys_->build);
    if (has_key || keeps_inner()) {
      if (splitting_.empty()) {
        keep_build_row(execution, has_key);
      } else {
        split_build_row(execution, has_key);
      }
    }
    scope.rewind();
    if (must_split(execution)) begin_split(execution);
  }
  usage_.peak_bytes = std::max(usage_.peak_bytes, store_.held_bytes() + table_.held_bytes());
  usage_.buckets = std::max<std::size_t>(std::bit_ceil(store_.size()), 1024);
}

/// Spills the probe rows. Rows without a match are dropped unless the join returns them.
void HashJoin::split_probe(Execution& execution) {
  TemporaryFiles& files = *execution.memory->files;
  const unsigned depth = splitting_[0].depth;
  RowScope scope{execution};
  while (next_outer(execution)) {
    const bool has_key = write_key(execution, keys_->probe);
    if (has_key || keeps_outer()) {
      Part& part =
          splitting_[has_key ? KeyTable::part_of(table_.key(), splitting_.size(), depth) : 0];
      if (part.build->rows() > 0 || keeps_outer()) {
        if (!part.probe) part.probe = std::make_unique<RowFile>(files);
        part.probe->append(execution, outer_slots());
      }
    }
    scope.rewind();
  }
  usage_.parts += splitting_.size() - 1;
  reading_.reset();
  for (Part& part : splitting_) {
    const bool matters = part.probe != nullptr || (keeps_inner() && part.build->rows() > 0);
    if (!matters) continue;
    if (!part.probe) part.probe = std::make_unique<RowFile>(files);
    waiting_.push_front(std::move(part));
  }
  splitting_.clear();
}

bool HashJoin::next_part(Execution& execution) {
  while (!waiting_.empty()) {
    reading_.emplace(std::move(waiting_.front()));
    waiting_.pop_front();
    release_table();
    fill(execution);
    if (splitting_.empty()) {
      forget_matches();
      leave_outer_row();
      probing_ = true;
      unmatched_ = 0;
      return true;
    }
    split_probe(execution);
  }
  reading_.reset();
  return false;
}

void HashJoin::open(Execution& execution) {
  splitting_.clear();
  waiting_.clear();
  reading_.reset();
  usage_ = {};
  inner().open(execution);
  fill(execution);
  inner().close();
  forget_matches();
  leave_outer_row();
  unmatched_ = 0;
  outer().open(execution);
  probing_ = splitting_.empty();
  if (probing_) return;
  split_probe(execution);
  outer().close();
  // The hash table is empty, so next() continues with the first part.
  row_matched_.clear();
}

void HashJoin::forget_matches() {
  row_matched_.assign(keeps_inner() || decides_inner() ? store_.size() : 0, 0);
}

bool HashJoin::next_match(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (candidate_ != kNone) {
    const std::uint32_t row = candidate_;
    candidate_ = previous_[row];
    if (decides_inner() && row_matched_[row] != 0) continue;
    store_.restore(execution, row);
    if (!matches(execution)) {
      execution.row_arena.rewind(mark);
      continue;
    }
    if (!row_matched_.empty()) row_matched_[row] = 1;
    return true;
  }
  return false;
}

bool HashJoin::next_unmatched(Execution& execution) {
  if (!keeps_inner()) return false;
  while (unmatched_ < row_matched_.size()) {
    const std::size_t row = unmatched_++;
    if (row_matched_[row] != 0) continue;
    set_null(execution, outer_slots());
    store_.restore(execution, row);
    return true;
  }
  return false;
}

void HashJoin::come_to(Execution& execution) {
  candidate_ = kNone;
  if (!write_key(execution, keys_->probe)) return;
  const std::uint32_t found = table_.find();
  candidate_ = found == ValueTable::kAbsent ? kNone : found;
}

bool HashJoin::next_of_part(Execution& execution) {
  if (probing_ && next_with_outer(*this, execution)) return true;
  probing_ = false;
  return next_unmatched(execution);
}

bool HashJoin::next(Execution& execution) {
  do {
    if (next_of_part(execution)) return true;
  } while (next_part(execution));
  return false;
}

void HashJoin::close() {
  close_inputs();
  clear_table();
  splitting_.clear();
  waiting_.clear();
  reading_.reset();
}

PlanNote HashJoin::note(ExprPrinter::Columns columns) const {
  return note_of("Hash", columns, "Hash Cond", keys_->probe, keys_->build);
}

std::vector<PlanMeasure> HashJoin::measured() const {
  const std::uint64_t kilobytes = (usage_.peak_bytes + 1023) / 1024;
  return {{fmt::format("Buckets: {}  Batches: {}  Memory Usage: {}kB", usage_.buckets, usage_.parts,
                       kilobytes),
           {{"Hash Buckets", std::uint64_t{usage_.buckets}},
            {"Hash Batches", usage_.parts},
            {"Peak Memory Usage", kilobytes}}}};
}

}  // namespace swizzle::sql
