#include "sql-lite-frontend/execution/access/table_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/access/moved_away.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

/// True if the two versions of a row agree in the columns that a foreign key can refer to.
bool has_same_keys(const Table& table, Bytes one, Bytes other) {
  const Relation& relation = table.relation;
  const RowReader before{table.layout, one};
  const RowReader after{table.layout, other};
  const auto is_same = [&](const IndexColumn& part) {
    if (part.column == 0) return false;
    const auto at = static_cast<std::size_t>(part.column - 1);
    const Value left = before.column(at);
    const Value right = after.column(at);
    if (left.is_null() || right.is_null()) return left.is_null() == right.is_null();
    return compare_values(relation.columns[at].type, left, right) == 0;
  };
  return std::ranges::all_of(relation.indexes, [&](const Index& index) {
    return index.orders_rows() || !index.is_immediate_key() || !index.predicate_sql.empty() ||
           std::ranges::all_of(index.columns, is_same);
  });
}

}  // namespace

Value row_id_of(Bytes key) {
  if (key.size() != sizeof(std::uint64_t)) {
    throw SqlError{sqlstate::data_corrupted, "the key of a row is not a row id"};
  }
  return Value::from_int(static_cast<std::int64_t>(load_big_endian<std::uint64_t>(key.data())));
}

TableAccess::TableAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted)
    : table_(std::move(table)),
      tree_(table_->tree),
      alias_(std::move(alias)),
      wanted_(std::move(wanted)) {}

void IndexBounds::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  const auto visit_if_there = [&](ExprPtr& expr) {
    if (expr) visit(expr);
  };
  visit_each(equal, visit);
  visit_if_there(any_of);
  visit_if_there(low);
  visit_if_there(high);
  visit_if_there(of_range);
  for (Alternative& alternative : alternatives) {
    visit_if_there(alternative.equal);
    visit_if_there(alternative.low);
    visit_if_there(alternative.high);
  }
}

std::vector<Slot> TableAccess::output_slots() const {
  std::vector<Slot> slots;
  for (const Wanted& wanted : wanted_) slots.push_back(wanted.slot);
  if (identity_) {
    slots.push_back(identity_->key);
    slots.push_back(identity_->row);
    if (identity_->row_id) slots.push_back(*identity_->row_id);
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
  if (identity_->row_id) execution.slots[*identity_->row_id] = row_id_of(key());
}

void TableAccess::read_row(Bytes row, std::span<Value> values) const {
  RowReader{table_->layout, row}.columns(values);
}

void TableAccess::fail_if_locked(const Error& error) const {
  if (error.state() != sqlstate::lock_not_available) return;
  throw_error(sqlstate::lock_not_available, "could not obtain lock on row in relation \"{}\"",
              table_->relation.name);
}

TableAccess::Locked TableAccess::lock_row(Execution& execution, ReadMode mode, WaitPolicy wait) {
  Transaction& transaction = *execution.transaction;
  Value& key = execution.slots[identity_->key];
  Value& row = execution.slots[identity_->row];
  table_->runtime->counters.add(Counted::leaves);
  bool found = found_or_fail(tree_->get(transaction, key.as_bytes(), locked_, mode, wait), wait);
  // At higher isolation levels, either the read locked the row already, or its change is an error.
  const Value read_key = key;
  if (transaction.isolation() == Isolation::read_committed &&
      !follow(execution, mode, wait, found)) {
    return Locked::gone;
  }
  if (!found) return Locked::gone;
  if (compare(locked_.bytes(), row.as_bytes()) == 0) {
    row = Value::from_bytes(locked_.bytes());
    return Locked::unchanged;
  }
  // The lock is only on the row's keys, which have not changed: the statement continues with the
  // snapshot's version, as in PostgreSQL. If follow() has followed the row to another key, even
  // back to the first, `key` is a copy.
  const bool stayed = key.as_bytes().data() == read_key.as_bytes().data();
  if (stayed && mode == ReadMode::for_key_share &&
      transaction.isolation() == Isolation::read_committed &&
      has_same_keys(*table_, row.as_bytes(), locked_.bytes())) {
    return Locked::unchanged;
  }
  show(execution, Value::from_bytes(locked_.bytes()));
  return Locked::changed;
}

/// Follows a row that has changed its key, and locks it under the new one. False: the row that was
/// read was removed, so that the one under the key may be another.
bool TableAccess::follow(Execution& execution, ReadMode mode, WaitPolicy wait, bool& found) {
  Transaction& transaction = *execution.transaction;
  Value& key = execution.slots[identity_->key];
  for (Tree::KeyPath path;;) {
    switch (tree_->trace(transaction, key.as_bytes(), path, moved_to_)) {
      case Tree::Fate::stays:
        return true;
      case Tree::Fate::gone:
        return false;
      case Tree::Fate::moved:
        break;
    }
    if (is_moved_away(key.as_bytes(), moved_to_.bytes())) {
      throw SqlError{sqlstate::serialization_failure,
                     "tuple to be locked was already moved to another partition due to concurrent "
                     "update"};
    }
    execution.tick();
    key = Value::from_bytes(moved_to_.bytes()).copy_to(execution.row_arena);
    found = found_or_fail(tree_->get(transaction, key.as_bytes(), locked_, mode, wait), wait);
  }
}

void TableAccess::show(Execution& execution, Value row) const {
  decode(execution, row.as_bytes());
  execution.slots[identity_->row] = row;
}

void TableAccess::note_scan(const IndexAccess* index, const ScanCounts& counts) const noexcept {
  using Amount = TableCounters::Amount;
  TableCounters& counters = table_->runtime->counters;
  const Amount leaves{Counted::leaves, counts.table_leaves};
  if (index == nullptr) {
    return counters.add_all(Amount{Counted::sequential_scans, 1},
                            Amount{Counted::sequential_rows, counts.rows}, leaves);
  }
  const Amount scans{Counted::index_scans, 1};
  const Amount rows{Counted::index_rows, counts.rows};
  counters.add_all(scans, rows, leaves);
  index->counters->add_all(scans, rows, Amount{Counted::leaves, counts.index_leaves});
}

std::string TableAccess::table_title() const {
  std::string title = "on " + quote_identifier(table_->relation.name);
  if (alias_ != table_->relation.name) title += " " + quote_identifier(alias_);
  return title;
}

bool append_equal(std::string& key, const IndexBounds& bounds, Execution& execution) {
  for (std::size_t i = 0; i < bounds.equal.size(); ++i) {
    const Value value = bounds.equal[i]->eval(execution);
    if (value.is_null()) return false;
    append_key(key, bounds.index->columns[i], value);
  }
  return true;
}

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
  if (bounds_->index->tree) {
    index_key_.clear();
    if (!append_equal(index_key_, *bounds_, execution)) return false;
    if (!found_or_fail(bounds_->index->tree->get(transaction, as_bytes(index_key_), index_value_,
                                                 ReadMode::snapshot, wait_),
                       wait_)) {
      note_scan(bounds_->index, {.index_leaves = 1});
      return false;
    }
    key_ = as_text(index_value_.bytes());
  } else {
    key_.clear();
    if (!append_equal(key_, *bounds_, execution)) return false;
  }
  const bool is_there = found_or_fail(tree_->get(transaction, key(), row_, mode_, wait_), wait_);
  ScanCounts counts;
  counts.rows = is_there ? 1 : 0;
  counts.table_leaves = 1;
  counts.index_leaves = bounds_->index->tree ? 1 : 0;
  note_scan(bounds_->index, counts);
  if (!is_there) return false;
  found(execution, row_.bytes());
  return true;
}

PlanNote PointAccess::note(ExprPrinter::Columns /*columns*/) const {
  const bool by_row_id = is_row_id_index(*table_, bounds_->index);
  PlanNote note{by_row_id
                    ? "Tid Scan " + table_title()
                    : fmt::format("Index Scan using {} {}",
                                  quote_identifier(bounds_->index->index->name), table_title()),
                {}};
  if (!condition_text.empty())
    note.properties.emplace_back(by_row_id ? "TID Cond" : "Index Cond", condition_text);
  return note;
}

}  // namespace swizzle::sql
