#include "sql-lite-frontend/execution/access/inverted_access.h"

#include <fmt/format.h>

#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

void InvertedAccess::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  for (InvertedBounds::Condition& condition : bounds_.change().conditions) visit(condition.value);
}

void InvertedAccess::make_queries(Execution& execution) {
  queries_.clear();
  query_arena_.reset();
  query_arena_.count_in(execution.memory);
  for (const InvertedBounds::Condition& condition : bounds_->conditions) {
    const Value value = condition.value->eval(execution);
    queries_.push_back(element_query(bounds_->index->classes[condition.column], condition.op,
                                     condition.side, value, query_arena_));
  }
}

void InvertedAccess::open(Execution& execution) {
  close();
  is_counted_ = false;
  done_ = false;
  make_queries(execution);
  const ElementEntries entries{&*bounds_->index->tree, wait_, table_->expected_rows()};
  std::vector<ColumnQuery> wanted;
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    wanted.push_back({bounds_->conditions[i].column, &queries_[i]});
  }
  const std::uint64_t leaves_before = execution.transaction->leaf_requests();
  keys_ = row_keys_of(entries, wanted, execution);
  note_index_leaves(execution, leaves_before);
  if (keys_) return;
  all_ = value_of(tree_->scan(*execution.transaction, {}, Direction::forward, ReadMode::snapshot,
                              wait_, ScanHint::large));
}

bool InvertedAccess::next_of_table(Execution& execution) {
  execution.tick();
  if (!found_or_fail(all_->next(), wait_)) return false;
  found(execution, all_->value());
  ++counts_.rows;
  return true;
}

void InvertedAccess::note_index_leaves(Execution& execution, std::uint64_t before) noexcept {
  counts_.index_leaves += execution.transaction->leaf_requests() - before;
}

bool InvertedAccess::next_key(Execution& execution) {
  const std::uint64_t before = execution.transaction->leaf_requests();
  const bool is_there = keys_->next(execution);
  note_index_leaves(execution, before);
  return is_there;
}

bool InvertedAccess::next(Execution& execution) {
  if (done_) return false;
  if (all_) {
    done_ = !next_of_table(execution);
    return !done_;
  }
  while (next_key(execution)) {
    key_ = keys_->key();
    ++counts_.table_leaves;
    const bool is_there = found_or_fail(
        tree_->get(*execution.transaction, as_bytes(key_), row_, ReadMode::snapshot, wait_), wait_);
    if (!is_there) continue;
    found(execution, row_.bytes());
    ++counts_.rows;
    return true;
  }
  done_ = true;
  return false;
}

void InvertedAccess::tell_counters() noexcept {
  if (all_) counts_.table_leaves += all_->leaf_requests();
  if (!is_counted_) note_scan(bounds_->index, counts_);
  is_counted_ = true;
  counts_ = {};
}

void InvertedAccess::close() {
  tell_counters();
  keys_.reset();
  all_.reset();
  queries_.clear();
  clear_for_next_run(query_arena_);
  done_ = true;
}

Bytes InvertedAccess::key() const noexcept {
  return all_ ? all_->key() : as_bytes(key_);
}

Bytes InvertedAccess::row() const noexcept {
  return all_ ? all_->value() : row_.bytes();
}

PlanNote InvertedAccess::note(ExprPrinter::Columns /*columns*/) const {
  PlanNote note{fmt::format("Index Scan using {} {}", quote_identifier(bounds_->index->index->name),
                            table_title()),
                {}};
  if (!condition_text.empty()) note.properties.emplace_back("Index Cond", condition_text);
  return note;
}

}  // namespace swizzle::sql
