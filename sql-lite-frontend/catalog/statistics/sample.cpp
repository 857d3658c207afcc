#include "sql-lite-frontend/catalog/statistics/sample.h"

#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/types/compare.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kMostCommon = 100;
constexpr std::size_t kHistogramParts = 100;
/// Longer values are left out of the most common values and the histogram: they would bloat the
/// statistics.
constexpr std::size_t kWidestValue = 1024;

/// A value with its index in the sample.
struct Placed {
  Value value;
  std::size_t place;
};

/// A run of equal values among the sorted ones.
struct Group {
  std::size_t begin;
  std::size_t count;
};

std::vector<Group> groups_of(std::span<const Placed> sorted, CompareFunction compare) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && compare(sorted[i - 1].value, sorted[i].value) == 0) {
      ++groups.back().count;
    } else {
      groups.push_back({i, 1});
    }
  }
  return groups;
}

/// Estimates the number of distinct values from how many the sample has and how many of them occur
/// once (Haas and Stokes, Duj1). A negative result is minus their share of the rows.
double estimate_distinct(std::span<const Group> groups, double sampled, double rows,
                         double null_fraction) {
  const auto once = static_cast<double>(std::ranges::count(groups, 1U, &Group::count));
  const auto found = static_cast<double>(groups.size());
  const double with_value = rows * (1 - null_fraction);
  if (once == found) return -(1 - null_fraction);
  double distinct = found;
  if (once > 0) {
    const double estimate = sampled * found / (sampled - once + once * sampled / with_value);
    distinct = std::floor(std::clamp(estimate, found, std::max(found, with_value)) + 0.5);
  }
  return distinct > rows / 10 ? -(distinct / rows) : distinct;
}

/// Returns the groups to store as most common values, most frequent first.
std::vector<Group> common_groups(std::vector<Group> groups, double sampled, double distinct) {
  std::ranges::stable_sort(groups, std::greater{}, &Group::count);
  const bool all_known = distinct <= static_cast<double>(groups.size()) &&
                         groups.size() <= kMostCommon &&
                         (groups.empty() || groups.back().count > 1);
  if (all_known) return groups;
  const double average = sampled / std::max(distinct, 1.0);
  std::size_t keep = 0;
  while (keep < std::min(groups.size(), kMostCommon) && groups[keep].count > 1 &&
         static_cast<double>(groups[keep].count) > average * 1.25) {
    ++keep;
  }
  groups.resize(keep);
  return groups;
}

std::string flat(const Value& value, TypeId type) {
  std::string out;
  append_flat(out, shape_of(type), value);
  return out;
}

std::vector<std::string> histogram_of(std::span<const Placed> sorted, TypeId type,
                                      CompareFunction compare) {
  std::vector<std::string> bounds;
  if (sorted.empty() || compare(sorted.front().value, sorted.back().value) == 0) return bounds;
  const std::size_t parts = std::min(kHistogramParts, sorted.size() - 1);
  for (std::size_t i = 0; i <= parts; ++i) {
    bounds.push_back(flat(sorted[i * (sorted.size() - 1) / parts].value, type));
  }
  return bounds;
}

double correlation_of(std::span<const Placed> sorted) {
  const auto count = static_cast<double>(sorted.size());
  if (sorted.size() < 2) return 0;
  // Both sides are permutations of 0 to n-1, so the sums of squares have a closed form.
  double products = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    products += static_cast<double>(i) * static_cast<double>(sorted[i].place);
  }
  const double sum = count * (count - 1) / 2;
  const double squares = (count - 1) * count * (2 * count - 1) / 6;
  return (count * products - sum * sum) / (count * squares - sum * sum);
}

}  // namespace

void RowSample::add(Bytes row) {
  const std::uint64_t number = seen_++;
  if (rows_.size() < most_) {
    rows_.push_back({number, std::string{as_text(row)}});
    bytes_ += row.size();
  } else {
    const std::uint64_t place = random_.below(seen_);
    if (place >= most_) return;
    Row& old = rows_[place];
    bytes_ += row.size();
    bytes_ -= old.bytes.size();
    old = {number, std::string{as_text(row)}};
  }
  if (bytes_ > kMostBytes && rows_.size() > 100) halve();
}

void RowSample::halve() {
  for (std::size_t i = rows_.size() - 1; i > 0; --i) {
    std::swap(rows_[i], rows_[random_.below(i + 1)]);
  }
  rows_.resize(rows_.size() / 2);
  most_ = rows_.size();
  bytes_ = 0;
  for (const Row& row : rows_) bytes_ += row.bytes.size();
}

void RowSample::sort() {
  std::ranges::sort(rows_, {}, &Row::number);
}

ColumnStatistics summarize(std::span<const Value> values, double rows, TypeId type) {
  ColumnStatistics statistics;
  statistics.type = type;
  const CompareFunction compare = compare_function(type);
  const std::size_t fixed_width = flat_width(shape_of(type));
  std::vector<Placed> present;
  double width = 0;
  std::size_t nulls = 0;
  std::size_t wide = 0;
  for (const Value& value : values) {
    if (value.is_null()) {
      ++nulls;
      continue;
    }
    const std::size_t bytes = value.is_bytes() ? value.as_bytes().size() : 8;
    width += static_cast<double>(fixed_width != 0 ? fixed_width : bytes);
    if (bytes > kWidestValue) {
      ++wide;
    } else {
      present.push_back({value, present.size()});
    }
  }
  if (values.empty()) return statistics;
  const auto sampled = static_cast<double>(values.size());
  statistics.null_fraction = static_cast<double>(nulls) / sampled;
  if (nulls < values.size())
    statistics.average_width = width / static_cast<double>(values.size() - nulls);
  if (compare == nullptr || present.empty()) {
    if (wide > 0) statistics.distinct = -(1 - statistics.null_fraction);
    return statistics;
  }
  std::ranges::stable_sort(present, [&](const Placed& left, const Placed& right) {
    return compare(left.value, right.value) < 0;
  });
  const std::vector<Group> groups = groups_of(present, compare);
  statistics.distinct = estimate_distinct(groups, static_cast<double>(present.size()), rows,
                                          statistics.null_fraction);
  statistics.correlation = correlation_of(present);
  const std::vector<Group> common =
      common_groups(groups, static_cast<double>(present.size()), statistics.distinct_of(rows));
  std::vector<bool> is_common(present.size(), false);
  for (const Group& group : common) {
    statistics.common.push_back(
        {flat(present[group.begin].value, type), static_cast<double>(group.count) / sampled});
    std::fill_n(is_common.begin() + static_cast<std::ptrdiff_t>(group.begin), group.count, true);
  }
  std::vector<Placed> rest;
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (!is_common[i]) rest.push_back(present[i]);
  }
  statistics.histogram = histogram_of(rest, type, compare);
  return statistics;
}

TypeId statistics_type(const Column& column) noexcept {
  const bool is_plain = column.collation == kNoOid || orders_by_bytes(column.collation);
  return is_plain ? column.type : column.expression_type();
}

TableStatistics summarize(const RowSample& sample, const Table& table) {
  TableStatistics statistics;
  statistics.rows = static_cast<double>(sample.rows_seen());
  std::vector<Value> values(sample.size());
  for (std::size_t position = 0; position < table.relation.columns.size(); ++position) {
    const Column& column = table.relation.columns[position];
    if (column.dropped) continue;
    const TypeId type = statistics_type(column);
    for (std::size_t i = 0; i < sample.size(); ++i) {
      values[i] = RowReader{table.layout, sample.row(i)}.column(position);
    }
    ColumnStatistics found = summarize(values, statistics.rows, type);
    found.column = static_cast<std::int16_t>(position + 1);
    statistics.columns.push_back(std::move(found));
  }
  return statistics;
}

}  // namespace swizzle::sql
