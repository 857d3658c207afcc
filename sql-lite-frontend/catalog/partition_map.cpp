#include "sql-lite-frontend/catalog/partition_map.h"

#include <algorithm>
#include <numeric>

#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {
namespace {

using DatumKind = PartitionDatum::Kind;

Value value_of_datum(TypeId type, const PartitionDatum& datum) {
  if (datum.kind != DatumKind::value) return Value::null();
  return read_flat(shape_of(type), as_bytes(datum.flat));
}

int compare_kinds(DatumKind left, DatumKind right) noexcept {
  const auto rank = [](DatumKind kind) {
    return kind == DatumKind::minimum ? -1 : (kind == DatumKind::maximum ? 1 : 0);
  };
  return rank(left) - rank(right);
}

/// Hashes a key as PostgreSQL does, so that dumps of its hash partitions can be loaded.
std::uint64_t hash_of_key(std::span<const TypeId> types, std::span<const Value> key) {
  constexpr std::uint64_t kSeed = 0x7A5B22367996DCFD;
  constexpr std::uint64_t kMixed = 0x49a0f4dd15e5a8e3;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i].is_null()) continue;
    const std::uint64_t one = hash_of_values(types[i])(key[i], kSeed);
    all ^= one + kMixed + (all << 54U) + (all >> 7U);
  }
  return all;
}

}  // namespace

TypeId key_type_of(const PartitionColumn& column) noexcept {
  IndexColumn as_index;
  as_index.type = column.type;
  as_index.collation = column.collation;
  as_index.operator_class = column.operator_class;
  return as_index.key_type();
}

PartitionMap::PartitionMap(const PartitionKey& key, std::vector<const PartitionBound*> bounds)
    : strategy_(key.strategy), count_(bounds.size()) {
  for (const PartitionColumn& column : key.columns) types_.push_back(key_type_of(column));
  for (std::size_t place = 0; place < bounds.size(); ++place) {
    const PartitionBound& bound = *bounds[place];
    if (bound.is_default) {
      default_ = place;
      continue;
    }
    switch (strategy_) {
      case PartitionStrategy::list:
        add_list(bound, place);
        break;
      case PartitionStrategy::range:
        spans_.push_back({edges_of(bound.from), edges_of(bound.to), place});
        break;
      case PartitionStrategy::hash:
        remainders_.push_back({bound.modulus, bound.remainder, place});
        break;
    }
  }
  sort();
}

void PartitionMap::add_list(const PartitionBound& bound, std::size_t place) {
  for (const PartitionDatum& datum : bound.values) {
    if (datum.kind == DatumKind::null) {
      null_ = place;
    } else {
      listed_.push_back({value_of_datum(types_[0], datum), place});
    }
  }
}

void PartitionMap::sort() {
  const auto add = [this](std::size_t place) {
    if (std::ranges::find(order_, place) == order_.end()) order_.push_back(place);
  };
  if (strategy_ == PartitionStrategy::list) {
    const CompareFunction less = ordered(types_[0]);
    std::ranges::stable_sort(listed_, [less](const Listed& left, const Listed& right) {
      return less(left.value, right.value) < 0;
    });
    std::vector<bool> seen(count_, false);
    for (const Listed& one : listed_) {
      if (!seen[one.place]) order_.push_back(one.place);
      seen[one.place] = true;
    }
    if (null_) add(*null_);
  }
  std::ranges::stable_sort(spans_, [this](const Span& left, const Span& right) {
    for (std::size_t i = 0; i < left.from.size(); ++i) {
      int order = compare_kinds(left.from[i].kind, right.from[i].kind);
      if (order == 0 && left.from[i].kind == DatumKind::value) {
        order = compare_values(types_[i], left.from[i].value, right.from[i].value);
      }
      if (order != 0) return order < 0;
    }
    return false;
  });
  for (const Span& span : spans_) order_.push_back(span.place);
  std::ranges::stable_sort(remainders_, [](const Remainder& left, const Remainder& right) {
    return std::pair{left.modulus, left.remainder} < std::pair{right.modulus, right.remainder};
  });
  for (const Remainder& one : remainders_) order_.push_back(one.place);
  if (default_) order_.push_back(*default_);
}

std::vector<PartitionMap::Edge> PartitionMap::edges_of(
    std::span<const PartitionDatum> datums) const {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < datums.size(); ++i) {
    edges.push_back({datums[i].kind, value_of_datum(types_[i], datums[i])});
  }
  return edges;
}

int PartitionMap::compare(const Edge& edge, const Value& value, std::size_t column) const {
  if (edge.kind == DatumKind::minimum) return -1;
  if (edge.kind == DatumKind::maximum) return 1;
  return compare_values(types_[column], edge.value, value);
}

int PartitionMap::compare(std::span<const Edge> edges, std::span<const Value> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int order = compare(edges[i], values[i], i);
    if (order != 0) return order;
  }
  return 0;
}

int PartitionMap::compare_edges(std::span<const TypeId> types, std::span<const PartitionDatum> left,
                                std::span<const PartitionDatum> right) {
  for (std::size_t i = 0; i < left.size(); ++i) {
    const int kinds = compare_kinds(left[i].kind, right[i].kind);
    if (kinds != 0) return kinds;
    // Columns after MINVALUE or MAXVALUE are equal.
    if (left[i].kind != DatumKind::value) return 0;
    const int order = compare_values(types[i], value_of_datum(types[i], left[i]),
                                     value_of_datum(types[i], right[i]));
    if (order != 0) return order;
  }
  return 0;
}

std::optional<std::size_t> PartitionMap::find_in_hash(std::span<const Value> key) const {
  const std::uint64_t hash = hash_of_key(types_, key);
  for (const Remainder& one : remainders_) {
    if (hash % static_cast<std::uint64_t>(one.modulus) ==
        static_cast<std::uint64_t>(one.remainder)) {
      return one.place;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> PartitionMap::find(std::span<const Value> key) const {
  if (strategy_ == PartitionStrategy::hash) return find_in_hash(key);
  if (strategy_ == PartitionStrategy::list) {
    if (key[0].is_null()) return null_ ? null_ : default_;
    const auto at = std::ranges::lower_bound(listed_, 0, {}, [&](const Listed& one) {
      return compare_values(types_[0], one.value, key[0]);
    });
    if (at != listed_.end() && compare_values(types_[0], at->value, key[0]) == 0) return at->place;
    return default_;
  }
  if (std::ranges::any_of(key, [](const Value& value) { return value.is_null(); })) return default_;
  const auto behind = std::ranges::partition_point(
      spans_, [&](const Span& span) { return compare(span.from, key) <= 0; });
  if (behind == spans_.begin()) return default_;
  const Span& span = *std::prev(behind);
  return compare(span.to, key) > 0 ? std::optional{span.place} : default_;
}

std::optional<std::size_t> PartitionMap::misfit(std::int32_t modulus) const {
  // Existing moduli divide one another, so only the neighbours matter.
  const Remainder* before = nullptr;
  const Remainder* behind = nullptr;
  const auto size = [](const Remainder* one) { return std::pair{one->modulus, one->remainder}; };
  for (const Remainder& one : remainders_) {
    if (one.modulus <= modulus) {
      if (before == nullptr || size(&one) > size(before)) before = &one;
    } else if (behind == nullptr || size(&one) < size(behind)) {
      behind = &one;
    }
  }
  if (before != nullptr && modulus % before->modulus != 0) return before->place;
  if (behind != nullptr && behind->modulus % modulus != 0) return behind->place;
  return std::nullopt;
}

std::optional<std::size_t> PartitionMap::overlapping(const PartitionBound& bound) const {
  if (bound.is_default) return default_;
  for (const PartitionDatum& datum : bound.values) {
    if (datum.kind == DatumKind::null) {
      if (null_) return null_;
      continue;
    }
    const Value value = value_of_datum(types_[0], datum);
    const auto same = std::ranges::find_if(listed_, [&](const Listed& one) {
      return compare_values(types_[0], one.value, value) == 0;
    });
    if (same != listed_.end()) return same->place;
  }
  if (strategy_ == PartitionStrategy::hash) {
    for (const Remainder& one : remainders_) {
      const std::int32_t common = std::gcd(one.modulus, bound.modulus);
      if (one.remainder % common == bound.remainder % common) return one.place;
    }
  }
  if (strategy_ != PartitionStrategy::range) return std::nullopt;
  const std::vector<Edge> from = edges_of(bound.from);
  const std::vector<Edge> to = edges_of(bound.to);
  const auto order = [this](std::span<const Edge> left, std::span<const Edge> right) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const int kinds = compare_kinds(left[i].kind, right[i].kind);
      if (kinds != 0) return kinds;
      if (left[i].kind != DatumKind::value) return 0;
      const int values = compare_values(types_[i], left[i].value, right[i].value);
      if (values != 0) return values;
    }
    return 0;
  };
  for (const Span& span : spans_) {
    if (order(from, span.to) < 0 && order(span.from, to) < 0) return span.place;
  }
  return std::nullopt;
}

}  // namespace swizzle::sql
