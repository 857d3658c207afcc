#include "sql-lite-frontend/execution/access/range_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/range/range_index.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

RangeAccess::RangeAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted,
                         IndexBounds bounds, Direction direction)
    : TableAccess(std::move(table), std::move(alias), std::move(wanted)),
      bounds_(std::move(bounds)),
      direction_(direction) {
  if (bounds_->only_index) find_key_columns();
}

/// Finds the positions of the wanted columns in an index entry.
void RangeAccess::find_key_columns() {
  const auto& columns = bounds_->index->index->columns;
  for (const Wanted& wanted : wanted_) {
    const auto number = static_cast<std::int16_t>(wanted.position + 1);
    const auto own = std::ranges::find(columns, number, &IndexColumn::column);
    std::size_t place = static_cast<std::size_t>(own - columns.begin());
    if (own == columns.end()) {
      const auto& key = table_->key_positions;
      place += static_cast<std::size_t>(std::ranges::find(key, wanted.position) - key.begin());
    }
    from_key_.push_back({place, wanted.slot});
  }
  std::ranges::sort(from_key_, {}, &FromKey::place);
}

void RangeAccess::take_from_key(Execution& execution) {
  if (from_key_.empty()) return;
  const IndexAccess& index = *bounds_->index;
  Bytes rest = cursor_->key();
  std::size_t place = 0;
  auto wanted = from_key_.begin();
  for (; place < index.columns.size() && wanted != from_key_.end(); ++place) {
    if (wanted->place == place) {
      execution.slots[wanted->slot] = take_key(rest, index.columns[place], execution.row_arena);
      ++wanted;
    } else {
      skip_key(rest, index.columns[place]);
    }
  }
  if (wanted == from_key_.end()) return;
  // The row's key: after the columns, or the entry's value.
  Bytes row_key = index.index->unique && !cursor_->value().empty() ? cursor_->value() : rest;
  for (std::size_t i = 0; wanted != from_key_.end(); ++i, ++place) {
    if (wanted->place == place) {
      execution.slots[wanted->slot] =
          take_key(row_key, table_->key_columns[i], execution.row_arena);
      ++wanted;
    } else {
      skip_key(row_key, table_->key_columns[i]);
    }
  }
}

RangeAccess::KeyRange& RangeAccess::add_range() {
  if (range_count_ == ranges_.size()) ranges_.emplace_back();
  KeyRange& range = ranges_[range_count_++];
  range.low.clear();
  range.high.clear();
  return range;
}

/// A bound on the column after the range's own prefix. In a descending column the low value is the
/// high key. NULLs sort beyond one end; comparisons never find them, so that end is bounded too.
bool RangeAccess::bound_range(Execution& execution, KeyRange& range, std::size_t place,
                              const Limits& limits) {
  const KeyColumn& column = bounds_->index->columns[place];
  const std::string prefix = range.low;
  const bool descending = column.direction == SortDirection::descending;
  const auto bound_key = [&](const Value& value) {
    std::string key = prefix;
    append_key(key, column, value);
    return key;
  };
  const auto set = [&](const Expr& expr, ScanRange::Bound bound, bool is_low) {
    const Value value = expr.eval(execution);
    if (value.is_null()) return false;
    const std::string key = bound_key(value);
    // Longer keys continue this one, so "above it" starts at its successor.
    if (is_low != descending) {
      range.low = bound == ScanRange::Bound::inclusive ? key : key_successor(key);
    } else {
      range.high = bound == ScanRange::Bound::inclusive ? key_successor(key) : key;
    }
    return true;
  };
  if (column.nulls != NullsOrder::absent) {
    const std::string null_key = bound_key(Value::null());
    if (column.nulls == NullsOrder::first) {
      range.low = key_successor(null_key);
    } else {
      range.high = null_key;
    }
  }
  if (limits.low != nullptr && !set(*limits.low, limits.low_bound, true)) return false;
  return limits.high == nullptr || set(*limits.high, limits.high_bound, false);
}

void RangeAccess::make_any_ranges(Execution& execution, const std::string& prefix) {
  const Value array = bounds_->any_of->eval(execution);
  if (array.is_null()) return;
  const ArrayView view{array};
  const std::size_t place = bounds_->equal.size();
  for (std::size_t i = 0; i < view.size(); ++i) {
    execution.tick();
    const Value element = view.element(i);
    if (element.is_null()) continue;
    KeyRange& range = add_range();
    range.low = prefix;
    append_key(range.low, bounds_->index->columns[place], element);
    range.high = key_successor(range.low);
    const Limits limits{bounds_->low.get(), bounds_->high.get(), bounds_->low_bound,
                        bounds_->high_bound};
    const bool is_limited = limits.low != nullptr || limits.high != nullptr;
    if (is_limited && !bound_range(execution, range, place + 1, limits)) --range_count_;
  }
  order_ranges();
}

void RangeAccess::make_alternative_ranges(Execution& execution, const std::string& prefix) {
  const std::size_t place = bounds_->equal.size();
  for (const IndexBounds::Alternative& alternative : bounds_->alternatives) {
    KeyRange& range = add_range();
    range.low = prefix;
    if (alternative.equal) {
      const Value value = alternative.equal->eval(execution);
      if (value.is_null()) {
        --range_count_;
        continue;
      }
      append_key(range.low, bounds_->index->columns[place], value);
      range.high = key_successor(range.low);
      continue;
    }
    if (!prefix.empty()) range.high = key_successor(prefix);
    const Limits limits{alternative.low.get(), alternative.high.get(), alternative.low_bound,
                        alternative.high_bound};
    if (!bound_range(execution, range, place, limits)) --range_count_;
  }
  order_ranges();
}

/// Sorts them, joins those that overlap, and turns them round for a scan backward.
void RangeAccess::order_ranges() {
  const auto begin = ranges_.begin();
  std::ranges::sort(std::span{ranges_}.first(range_count_), {}, &KeyRange::low);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < range_count_; ++i) {
    const bool is_empty = !ranges_[i].high.empty() && ranges_[i].low >= ranges_[i].high;
    if (is_empty) continue;
    if (kept > 0) {
      KeyRange& last = ranges_[kept - 1];
      if (last.high.empty() || ranges_[i].low <= last.high) {
        const bool reaches_farther =
            !last.high.empty() && (ranges_[i].high.empty() || ranges_[i].high > last.high);
        if (reaches_farther) last.high = ranges_[i].high;
        continue;
      }
    }
    if (kept != i) std::swap(ranges_[kept], ranges_[i]);
    ++kept;
  }
  range_count_ = kept;
  if (direction_ == Direction::backward) {
    std::reverse(begin, begin + static_cast<std::ptrdiff_t>(kept));
  }
}

void RangeAccess::make_range_pieces(Execution& execution) {
  const Value value = bounds_->of_range->eval(execution);
  if (value.is_null()) return;
  const TypeId column = bounds_->index->columns[0].type;
  for (KeyPiece& piece :
       pieces_with(bounds_->range_operator, column, bounds_->of_range->type(), value)) {
    KeyRange& range = add_range();
    range.low = std::move(piece.low);
    range.high = std::move(piece.high);
  }
}

void RangeAccess::make_ranges(Execution& execution) {
  if (bounds_->index == nullptr) {
    add_range();
    return;
  }
  prefix_.clear();
  if (bounds_->of_range) return make_range_pieces(execution);
  if (!append_equal(prefix_, *bounds_, execution)) return;
  if (bounds_->any_of) return make_any_ranges(execution, prefix_);
  if (!bounds_->alternatives.empty()) return make_alternative_ranges(execution, prefix_);
  KeyRange& range = add_range();
  range.low = prefix_;
  if (!prefix_.empty()) range.high = key_successor(prefix_);
  if (!bounds_->low && !bounds_->high && !bounds_->not_null) return;
  const Limits limits{bounds_->low.get(), bounds_->high.get(), bounds_->low_bound,
                      bounds_->high_bound};
  if (!bound_range(execution, range, bounds_->equal.size(), limits)) --range_count_;
}

void RangeAccess::open(Execution& execution) {
  tell_counters();
  is_counted_ = false;
  batch_.restart();
  range_count_ = 0;
  next_range_ = 0;
  make_ranges(execution);
}

bool RangeAccess::start_next_range(Execution& execution) {
  if (next_range_ == range_count_) return false;
  const KeyRange& keys = ranges_[next_range_++];
  ScanRange range;
  if (!keys.low.empty()) range.low = as_bytes(keys.low);
  if (!keys.high.empty()) range.high = as_bytes(keys.high);
  const Tree& tree = uses_secondary() ? *bounds_->index->tree : *tree_;
  const bool is_whole = keys.low.empty() && keys.high.empty();
  cursor_ = value_of(tree.scan(*execution.transaction, range, direction_, ReadMode::snapshot, wait_,
                               is_whole ? ScanHint::large : ScanHint::none));
  return true;
}

/// Moves to the next entry of the index, or row of the table; false after the last range.
bool RangeAccess::next_entry(Execution& execution) {
  for (;;) {
    if (!cursor_ && !start_next_range(execution)) return false;
    execution.tick();
    if (found_or_fail(cursor_->next(), wait_)) return true;
    leave_range();
  }
}

std::string_view RangeAccess::row_key_of_entry() const {
  if (bounds_->index->index->unique && !cursor_->value().empty()) return as_text(cursor_->value());
  Bytes rest = cursor_->key();
  // The range's operator class precedes it in the key.
  if (bounds_->index->index->method == IndexMethod::ranges) rest = rest.subspan(1);
  for (const KeyColumn& column : bounds_->index->columns) skip_key(rest, column);
  return as_text(rest);
}

/// False where the row is not visible.
bool RangeAccess::fetch(Execution& execution, std::string_view key) {
  key_ = key;
  ++counts_.table_leaves;
  if (!found_or_fail(
          tree_->get(*execution.transaction, as_bytes(key_), fetched_, ReadMode::snapshot, wait_),
          wait_)) {
    return false;
  }
  found(execution, fetched_.bytes());
  return true;
}

bool RangeAccess::next_of_batch(Execution& execution) {
  for (;;) {
    while (const auto key = batch_.next()) {
      execution.tick();
      if (fetch(execution, *key)) return true;
    }
    while (!batch_.is_full() && next_entry(execution)) batch_.add(row_key_of_entry());
    if (!batch_.finish()) return false;
  }
}

bool RangeAccess::next(Execution& execution) {
  const bool fetches = uses_secondary() && !bounds_->only_index;
  // Few rows, as most scans find, are not worth a batch.
  constexpr std::uint64_t kFew = 8;
  if (fetches && bounds_->any_order && counts_.rows >= kFew) {
    if (!next_of_batch(execution)) return false;
  } else if (fetches) {
    do {
      if (!next_entry(execution)) return false;
    } while (!fetch(execution, row_key_of_entry()));
  } else {
    if (!next_entry(execution)) return false;
    if (bounds_->only_index) {
      take_from_key(execution);
    } else {
      found(execution, cursor_->value());
    }
  }
  ++counts_.rows;
  return true;
}

bool RangeAccess::reads_nothing() const noexcept {
  return wanted_.empty() && !keeps_identity() && (!uses_secondary() || bounds_->only_index);
}

std::uint64_t RangeAccess::count_rest(Execution& execution) {
  std::uint64_t rows = 0;
  while (cursor_ || start_next_range(execution)) {
    while (const std::size_t passed = value_of(cursor_->pass())) {
      rows += passed;
      execution.tick();
    }
    leave_range();
  }
  counts_.rows += rows;
  return rows;
}

void RangeAccess::leave_range() noexcept {
  if (cursor_) {
    const std::uint64_t leaves = cursor_->leaf_requests();
    (uses_secondary() ? counts_.index_leaves : counts_.table_leaves) += leaves;
  }
  cursor_.reset();
}

void RangeAccess::tell_counters() noexcept {
  leave_range();
  if (!is_counted_) note_scan(bounds_->index, counts_);
  is_counted_ = true;
  counts_ = {};
}

void RangeAccess::close() {
  tell_counters();
  batch_.restart();
}

Bytes RangeAccess::key() const noexcept {
  return uses_secondary() ? as_bytes(key_) : cursor_->key();
}

Bytes RangeAccess::row() const noexcept {
  return uses_secondary() ? fetched_.bytes() : cursor_->value();
}

PlanNote RangeAccess::note(ExprPrinter::Columns /*columns*/) const {
  if (bounds_->index == nullptr) return {"Seq Scan " + table_title(), {}};
  if (is_row_id_index(*table_, bounds_->index)) {
    const bool is_range = bounds_->low || bounds_->high;
    return {fmt::format("Tid {}Scan {}", is_range ? "Range " : "", table_title()),
            {{"TID Cond", condition_text}}};
  }
  PlanNote note{fmt::format("Index {}Scan{} using {} {}", bounds_->only_index ? "Only " : "",
                            direction_ == Direction::backward ? " Backward" : "",
                            quote_identifier(bounds_->index->index->name), table_title()),
                {}};
  if (!condition_text.empty()) note.properties.emplace_back("Index Cond", condition_text);
  return note;
}

}  // namespace swizzle::sql
