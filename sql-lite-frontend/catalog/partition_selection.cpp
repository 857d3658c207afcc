#include <algorithm>

#include "sql-lite-frontend/catalog/partition_map.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/compare.h"

/// Which partitions conditions on the key leave.
namespace swizzle::sql {
namespace {

using DatumKind = PartitionDatum::Kind;
using KnownColumn = KeyRestriction::Column;

/// The first column that is one of several values, with one of them.
std::optional<std::size_t> column_of_several(const KeyRestriction& restriction) {
  for (std::size_t i = 0; i < restriction.columns.size(); ++i) {
    if (restriction.columns[i].any_of && !restriction.columns[i].equal) return i;
  }
  return std::nullopt;
}

bool lies_within(TypeId type, const KnownColumn& column, const Value& value) {
  if (column.low) {
    const int order = compare_values(type, value, *column.low);
    if (order < 0 || (order == 0 && column.low_open)) return false;
  }
  if (column.high) {
    const int order = compare_values(type, value, *column.high);
    if (order > 0 || (order == 0 && column.high_open)) return false;
  }
  return true;
}

/// Common values of all rows in the key's first columns, and then perhaps a limit in the next.
struct KeyLimit {
  std::vector<Value> values;
  bool is_open = false;  ///< the limit itself is not among them
};

}  // namespace

std::vector<bool> PartitionMap::select(const KeyRestriction& restriction) const {
  check_stack();
  std::vector<bool> selected(count_, false);
  if (restriction.is_impossible) return selected;
  if (const auto several = column_of_several(restriction)) {
    KeyRestriction one = restriction;
    KnownColumn& column = one.columns[*several];
    const std::vector<Value> values = *column.any_of;
    for (const Value& value : values) {
      if (value.is_null() || !lies_within(types_[*several], column, value)) continue;
      column.equal = value;
      const std::vector<bool> of_one = select(one);
      for (std::size_t i = 0; i < count_; ++i) selected[i] = selected[i] || of_one[i];
      column.equal.reset();
    }
    return selected;
  }
  const auto has_value = [](const KnownColumn& column) { return column.equal || column.is_null; };
  if (std::ranges::all_of(restriction.columns, has_value)) {
    std::vector<Value> key;
    for (const KnownColumn& column : restriction.columns) {
      if (column.equal && column.is_null) return selected;
      key.push_back(column.equal ? *column.equal : Value::null());
    }
    if (const auto place = find(key)) selected[*place] = true;
    return selected;
  }
  if (strategy_ == PartitionStrategy::list) {
    select_list(restriction.columns[0], selected);
  } else if (strategy_ == PartitionStrategy::range) {
    select_range(restriction, selected);
  } else {
    selected.assign(count_, true);
  }
  return selected;
}

void PartitionMap::select_list(const KnownColumn& column, std::vector<bool>& selected) const {
  if (!column.is_known()) {
    selected.assign(count_, true);
    return;
  }
  for (const Listed& one : listed_) {
    if (lies_within(types_[0], column, one.value)) selected[one.place] = true;
  }
  if (default_) selected[*default_] = true;
}

/// True if the partitions other than the default one cover every value that the restriction leaves
/// to the key's only column.
bool PartitionMap::is_covered(const KnownColumn& column) const {
  const Value* reached = column.low ? &*column.low : nullptr;
  bool begun = false;
  for (const Span& span : spans_) {
    const Edge& from = span.from[0];
    const Edge& to = span.to[0];
    if (!begun) {
      if (reached == nullptr) {
        if (from.kind != DatumKind::minimum) return false;
      } else {
        if (compare(from, *reached, 0) > 0) return false;
        if (compare(to, *reached, 0) <= 0) continue;
      }
      begun = true;
    } else if (compare(from, *reached, 0) != 0) {
      return false;
    }
    if (to.kind == DatumKind::maximum) return true;
    reached = &to.value;
    if (!column.high) continue;
    const int order = compare_values(types_[0], *reached, *column.high);
    if (order > 0 || (order == 0 && column.high_open)) return true;
  }
  return false;
}

void PartitionMap::select_range(const KeyRestriction& restriction,
                                std::vector<bool>& selected) const {
  const auto is_null = [](const KnownColumn& column) { return column.is_null; };
  if (std::ranges::any_of(restriction.columns, is_null)) {
    // No range has NULL.
    if (default_) selected[*default_] = true;
    return;
  }
  KeyLimit low;
  KeyLimit high;
  for (const KnownColumn& column : restriction.columns) {
    if (column.equal) {
      low.values.push_back(*column.equal);
      high.values.push_back(*column.equal);
      continue;
    }
    if (column.low) low.values.push_back(*column.low);
    if (column.high) high.values.push_back(*column.high);
    low.is_open = column.low && column.low_open;
    high.is_open = column.high && column.high_open;
    break;
  }
  for (const Span& span : spans_) {
    const int begins = compare(span.from, high.values);
    if (!high.values.empty() && (begins > 0 || (begins == 0 && high.is_open))) continue;
    const int ends = compare(span.to, low.values);
    if (!low.values.empty()) {
      // No row is at the end itself, unless later columns of it may be below their bounds.
      const bool ends_there =
          ends == 0 &&
          (low.is_open || low.values.size() == types_.size() ||
           std::ranges::all_of(span.to.begin() + static_cast<std::ptrdiff_t>(low.values.size()),
                               span.to.end(),
                               [](const Edge& edge) { return edge.kind == DatumKind::minimum; }));
      if (ends < 0 || ends_there) continue;
    }
    selected[span.place] = true;
  }
  if (!default_) return;
  const KnownColumn& first = restriction.columns[0];
  const bool covered =
      types_.size() == 1 && first.is_known() && (first.low || first.high) && is_covered(first);
  selected[*default_] = !covered;
}

}  // namespace swizzle::sql
