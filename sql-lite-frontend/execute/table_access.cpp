#include "sql-lite-frontend/execute/table_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execute/identifiers.h"
#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

TableAccess::TableAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted)
    : table_(std::move(table)),
      tree_(*table_->tree),
      alias_(std::move(alias)),
      wanted_(std::move(wanted)) {}

std::vector<Slot> TableAccess::output_slots() const {
  std::vector<Slot> slots;
  for (const Wanted& wanted : wanted_) slots.push_back(wanted.slot);
  if (identity_) {
    slots.push_back(identity_->key);
    slots.push_back(identity_->row);
  }
  return slots;
}

void TableAccess::decode(Execution& execution, Bytes row) const {
  if (wanted_.empty()) return;
  const RowReader reader{table_->layout, row};
  for (const Wanted& wanted : wanted_) {
    execution.slots[wanted.slot] = reader.column(wanted.position);
  }
}

void TableAccess::found(Execution& execution, Bytes row) const {
  decode(execution, row);
  if (!identity_) return;
  execution.slots[identity_->key] = Value::from_bytes(key());
  execution.slots[identity_->row] = Value::from_bytes(row);
}

void TableAccess::read_row(Bytes row, std::span<Value> values) const {
  RowReader{table_->layout, row}.columns(values);
}

TableAccess::Locked TableAccess::lock_row(Execution& execution, ReadMode mode, WaitPolicy wait) {
  const Bytes key = execution.slots[identity_->key].as_bytes();
  if (!value_of(tree_.get(*execution.transaction, key, locked_, mode, wait))) return Locked::gone;
  Value& row = execution.slots[identity_->row];
  const bool same = compare(locked_.bytes(), row.as_bytes()) == 0;
  if (!same) decode(execution, locked_.bytes());
  row = Value::from_bytes(locked_.bytes());
  return same ? Locked::unchanged : Locked::changed;
}

std::string TableAccess::table_title() const {
  std::string title = "on " + quote_identifier(table_->relation.name);
  if (alias_ != table_->relation.name) title += " " + quote_identifier(alias_);
  return title;
}

namespace {

/// Appends the values of `exprs`; false when one is NULL, which equals nothing.
bool append_equal(std::string& key, const IndexBounds& bounds, Execution& execution) {
  for (std::size_t i = 0; i < bounds.equal.size(); ++i) {
    const Value value = bounds.equal[i]->eval(execution);
    if (value.is_null()) return false;
    append_key(key, bounds.index->columns[i], value);
  }
  return true;
}

}  // namespace

PointAccess::PointAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted,
                         IndexBounds bounds, ReadMode mode)
    : TableAccess(std::move(table), std::move(alias), std::move(wanted)),
      bounds_(std::move(bounds)),
      mode_(mode) {}

void PointAccess::open(Execution&) {
  done_ = false;
}

bool PointAccess::next(Execution& execution) {
  if (done_) return false;
  done_ = true;
  execution.tick();
  Transaction& transaction = *execution.transaction;
  if (bounds_.index->tree) {
    index_key_.clear();
    if (!append_equal(index_key_, bounds_, execution)) return false;
    if (!value_of(bounds_.index->tree->get(transaction, as_bytes(index_key_), index_value_))) {
      return false;
    }
    key_ = as_text(index_value_.bytes());
  } else {
    key_.clear();
    if (!append_equal(key_, bounds_, execution)) return false;
  }
  if (!value_of(tree_.get(transaction, key(), row_, mode_))) return false;
  found(execution, row_.bytes());
  return true;
}

PlanNote PointAccess::note() const {
  PlanNote note{fmt::format("Index Scan using {} {}", quote_identifier(bounds_.index->index->name),
                            table_title()),
                {}};
  if (!condition_text.empty()) note.properties.emplace_back("Index Cond", condition_text);
  return note;
}

RangeAccess::RangeAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted,
                         IndexBounds bounds, Direction direction)
    : TableAccess(std::move(table), std::move(alias), std::move(wanted)),
      bounds_(std::move(bounds)),
      direction_(direction) {}

void RangeAccess::open(Execution& execution) {
  cursor_.reset();
  elements_.clear();
  next_element_ = 0;
  if (!bounds_.any_of) {
    if (make_range(execution, nullptr)) start_next_range(execution);
    return;
  }
  elements_arena_.reset();
  const Value array = bounds_.any_of->eval(execution);
  if (array.is_null()) return;
  const ArrayView view{array};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value element = view.element(i);
    if (!element.is_null()) elements_.push_back(element.copy_to(elements_arena_));
  }
  const KeyColumn& column = bounds_.index->columns[bounds_.equal.size()];
  const CompareFunction order = compare_function(column.type);
  const bool backward =
      (direction_ == Direction::backward) != (column.direction == SortDirection::descending);
  std::ranges::sort(elements_, [&](const Value& left, const Value& right) {
    return backward ? order(left, right) > 0 : order(left, right) < 0;
  });
  const auto repeated = std::ranges::unique(
      elements_, [&](const Value& left, const Value& right) { return order(left, right) == 0; });
  elements_.erase(repeated.begin(), repeated.end());
}

/// A bound on the column after the equal ones. In a descending column the low value is the high
/// key. NULLs sort beyond one end; comparisons never find them, so that end is bounded as well.
bool RangeAccess::add_bounds(Execution& execution, std::size_t position) {
  if (!bounds_.low && !bounds_.high) return true;
  const KeyColumn& column = bounds_.index->columns[position];
  const std::string prefix = low_;
  const bool descending = column.direction == SortDirection::descending;
  const auto bound_key = [&](const Value& value) {
    std::string key = prefix;
    append_key(key, column, value);
    return key;
  };
  const auto set = [&](const ExprPtr& expr, ScanRange::Bound bound, bool is_low) {
    const Value value = expr->eval(execution);
    if (value.is_null()) return false;
    const std::string key = bound_key(value);
    // Longer keys continue this one, so "above it" starts at its successor.
    if (is_low != descending) {
      low_ = bound == ScanRange::Bound::inclusive ? key : key_successor(key);
    } else {
      high_ = bound == ScanRange::Bound::inclusive ? key_successor(key) : key;
    }
    return true;
  };
  const std::string null_key = bound_key(Value::null());
  const bool nulls_at_low_keys = column.nulls == NullsOrder::first;
  if (nulls_at_low_keys) {
    low_ = key_successor(null_key);
  } else {
    high_ = null_key;
  }
  if (bounds_.low && !set(bounds_.low, bounds_.low_bound, true)) return false;
  return !bounds_.high || set(bounds_.high, bounds_.high_bound, false);
}

bool RangeAccess::make_range(Execution& execution, const Value* any_element) {
  low_.clear();
  high_.clear();
  if (bounds_.index == nullptr) return true;
  if (!append_equal(low_, bounds_, execution)) return false;
  std::size_t position = bounds_.equal.size();
  if (any_element != nullptr) {
    append_key(low_, bounds_.index->columns[position], *any_element);
    ++position;
  }
  if (!low_.empty()) high_ = key_successor(low_);
  return add_bounds(execution, position);
}

bool RangeAccess::start_next_range(Execution& execution) {
  ScanRange range;
  if (!low_.empty()) range.low = as_bytes(low_);
  if (!high_.empty()) range.high = as_bytes(high_);
  const Tree& tree = uses_secondary() ? *bounds_.index->tree : tree_;
  const ScanHint hint = low_.empty() && high_.empty() ? ScanHint::large : ScanHint::none;
  cursor_ = value_of(tree.scan(*execution.transaction, range, direction_, ReadMode::snapshot,
                               WaitPolicy::wait, hint));
  return true;
}

bool RangeAccess::fetch_by_index(Execution& execution) {
  if (bounds_.index->index->unique && !cursor_->value().empty()) {
    key_ = as_text(cursor_->value());
  } else {
    Bytes rest = cursor_->key();
    for (const KeyColumn& column : bounds_.index->columns) skip_key(rest, column);
    key_ = as_text(rest);
  }
  return value_of(tree_.get(*execution.transaction, key(), fetched_));
}

bool RangeAccess::next(Execution& execution) {
  for (;;) {
    if (!cursor_) {
      if (next_element_ >= elements_.size()) return false;
      if (!make_range(execution, &elements_[next_element_++])) continue;
      start_next_range(execution);
    }
    execution.tick();
    if (!value_of(cursor_->next())) {
      cursor_.reset();
      continue;
    }
    if (uses_secondary()) {
      if (!fetch_by_index(execution)) continue;
      found(execution, fetched_.bytes());
    } else {
      found(execution, cursor_->value());
    }
    return true;
  }
}

void RangeAccess::close() {
  cursor_.reset();
  elements_.clear();
}

Bytes RangeAccess::key() const noexcept {
  return uses_secondary() ? as_bytes(key_) : cursor_->key();
}

Bytes RangeAccess::row() const noexcept {
  return uses_secondary() ? fetched_.bytes() : cursor_->value();
}

PlanNote RangeAccess::note() const {
  if (bounds_.index == nullptr) return {"Seq Scan " + table_title(), {}};
  PlanNote note{
      fmt::format("Index Scan{} using {} {}", direction_ == Direction::backward ? " Backward" : "",
                  quote_identifier(bounds_.index->index->name), table_title()),
      {}};
  if (!condition_text.empty()) note.properties.emplace_back("Index Cond", condition_text);
  return note;
}

}  // namespace swizzle::sql
