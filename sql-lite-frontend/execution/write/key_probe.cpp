#include "sql-lite-frontend/execution/write/key_probe.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/execution/access/late_error.h"
#include "sql-lite-frontend/execution/access/range_access.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

bool is_integer_key(TypeId type) {
  return type == TypeId::int2 || type == TypeId::int4 || type == TypeId::int8;
}
bool is_text_key(TypeId type) {
  return type == TypeId::text || type == TypeId::varchar;
}

/// True if equal values of the two types have the same key encoding.
bool has_same_key(TypeId left, TypeId right) {
  return left == right || (is_integer_key(left) && is_integer_key(right)) ||
         (is_text_key(left) && is_text_key(right));
}

/// True if a value of a type with the same key encoding is in the range of `type`.
bool fits_into(TypeId type, const Value& value) {
  switch (type) {
    case TypeId::int2:
      return std::in_range<std::int16_t>(value.as_int8());
    case TypeId::int4:
      return std::in_range<std::int32_t>(value.as_int8());
    default:
      return true;
  }
}

/// True if the columns are the first ones of the index, in any order.
bool begins_with(const Index& index, std::span<const std::int16_t> columns) {
  if (!index.predicate_sql.empty() || index.columns.size() < columns.size()) return false;
  if (index.method == IndexMethod::inverted || index.method == IndexMethod::ranges) return false;
  const auto first = std::span{index.columns}.first(columns.size());
  return std::ranges::all_of(columns, [&](std::int16_t column) {
    return std::ranges::find(first, column, &IndexColumn::column) != first.end();
  });
}

/// Which of two indexes that begin with the columns finds the rows with less work.
bool is_better(const Index& left, const Index& right) {
  if (left.orders_rows() != right.orders_rows()) return left.orders_rows();
  if (left.unique != right.unique) return left.unique;
  return left.columns.size() < right.columns.size();
}

class ClosesAccess {
 public:
  explicit ClosesAccess(TableAccess& access) : access_(access) {}
  ClosesAccess(const ClosesAccess&) = delete;
  ClosesAccess& operator=(const ClosesAccess&) = delete;
  ~ClosesAccess() { access_.close(); }

 private:
  TableAccess& access_;
};

}  // namespace

std::unique_ptr<KeyProbe> KeyProbe::make(NameSource& names, const TablePtr& table,
                                         std::span<const std::int16_t> columns,
                                         std::span<const TypeId> types) {
  std::vector<Column> found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto position = static_cast<std::size_t>(columns[i] - 1);
    const TypeId type = table->relation.columns[position].type;
    if (!has_same_key(type, types[i])) return nullptr;
    found.push_back({position, type});
  }
  const IndexAccess* best = nullptr;
  for (const IndexAccess& index : table->indexes) {
    if (index.is_inverted() || !index.index->is_valid()) continue;
    if (!begins_with(*index.index, columns)) continue;
    if (best != nullptr && !is_better(*index.index, *best->index)) continue;
    if (index.tree && !names.may_read(index)) continue;
    best = &index;
  }
  if (best == nullptr) return nullptr;
  std::unique_ptr<KeyProbe> probe{new KeyProbe{names, table, std::move(found)}};
  probe->choose(*best);
  return probe;
}

KeyProbe::KeyProbe(NameSource& names, TablePtr table, std::vector<Column> columns)
    : names_(names),
      table_(std::move(table)),
      columns_(std::move(columns)),
      row_(table_->relation.columns.size()) {}

void KeyProbe::choose(const IndexAccess& index) {
  IndexBounds bounds;
  bounds.index = &index;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto position = static_cast<std::size_t>(index.index->columns[i].column - 1);
    const auto column = std::ranges::find(columns_, position, &Column::position);
    bounds.equal.push_back(std::make_unique<SlotExpr>(
        column->type, kNoTypmod, static_cast<Slot>(column - columns_.begin()), SlotExpr::Origin{}));
  }
  const std::string& name = table_->relation.name;
  const bool is_whole = index.index->columns.size() == columns_.size();
  if (is_whole && index.index->unique && !index.index->deferrable) {
    access_ = std::make_unique<PointAccess>(table_, name, std::vector<TableAccess::Wanted>{},
                                            std::move(bounds), ReadMode::snapshot);
  } else {
    access_ = std::make_unique<RangeAccess>(table_, name, std::vector<TableAccess::Wanted>{},
                                            std::move(bounds), Direction::forward);
  }
  const auto key = static_cast<Slot>(columns_.size());
  access_->keep_identity(key, key + 1);
}

bool KeyProbe::holds_still(StatementServices& services) {
  return services.keep_definition(table_, lock::RelationMode::row_share, seen_at_);
}

/// Starts a search. Returns false if no row can have the values.
bool KeyProbe::open(StatementServices& services, std::span<const Value> values) {
  if (execution_ == nullptr) {
    execution_ = std::make_unique<Execution>(services, names_.context());
    execution_->slots.resize(columns_.size() + 2);
  }
  execution_->transaction = &services.engine_transaction();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!fits_into(columns_[i].type, values[i])) return false;
    execution_->slots[i] = values[i];
  }
  access_->open(*execution_);
  return true;
}

bool KeyProbe::finds(StatementServices& services, std::span<const Value> values) {
  if (!open(services, values)) return false;
  const ClosesAccess closing{*access_};
  const RowScope scope{*execution_};
  return access_->next(*execution_);
}

bool KeyProbe::locks(StatementServices& services, std::span<const Value> values) {
  if (!open(services, values)) return false;
  const ClosesAccess closing{*access_};
  RowScope scope{*execution_};
  while (access_->next(*execution_)) {
    if (lock()) return true;
    scope.rewind();
  }
  return false;
}

/// Locks the row as LockRows does. False if it has been deleted, or no longer has the values.
bool KeyProbe::lock() {
  const auto locked = told_of_update(
      [&] { return access_->lock_row(*execution_, ReadMode::for_key_share, WaitPolicy::wait); });
  if (locked != TableAccess::Locked::changed) return locked == TableAccess::Locked::unchanged;
  const bool fits = still_fits();
  if (!fits && keeps_snapshot(execution_->transaction->isolation())) {
    throw SqlError{sqlstate::serialization_failure,
                   "could not serialize access due to concurrent update"};
  }
  return fits;
}

bool KeyProbe::still_fits() {
  access_->read_row(access_->locked_row(), row_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Value& now = row_[columns_[i].position];
    if (now.is_null() || compare_values(columns_[i].type, now, execution_->slots[i]) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace swizzle::sql
