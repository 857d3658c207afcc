#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// Returns the type whose comparison orders a key column's values.
TypeId key_type_of(const PartitionColumn& column) noexcept;

/// Restrictions that a statement's conditions put on the columns of a partition key.
struct KeyRestriction {
  struct Column {
    std::optional<Value> equal;
    std::optional<std::vector<Value>> any_of;
    std::optional<Value> low;
    std::optional<Value> high;
    bool low_open = false;
    bool high_open = false;
    bool is_null = false;
    bool not_null = false;

    [[nodiscard]] bool is_known() const noexcept {
      return equal || any_of || low || high || is_null || not_null;
    }
  };
  std::vector<Column> columns;
  bool is_impossible = false;  ///< no row satisfies the conditions
};

/// Bounds of one table's partitions, in the given order. Pre: the bounds outlive the map.
class PartitionMap {
 public:
  PartitionMap(const PartitionKey& key, std::vector<const PartitionBound*> bounds);

  /// Returns the index of the partition to which a row with this key belongs; nothing if there is
  /// none.
  [[nodiscard]] std::optional<std::size_t> find(std::span<const Value> key) const;
  /// Indexes of the partitions ordered by their bounds; the default partition is last.
  [[nodiscard]] const std::vector<std::size_t>& order() const noexcept { return order_; }
  /// Returns the partitions that may have rows within the restriction.
  [[nodiscard]] std::vector<bool> select(const KeyRestriction& restriction) const;
  /// Returns the first partition whose bound overlaps `bound`.
  [[nodiscard]] std::optional<std::size_t> overlapping(const PartitionBound& bound) const;
  [[nodiscard]] std::optional<std::size_t> default_place() const noexcept { return default_; }
  [[nodiscard]] const std::vector<TypeId>& types() const noexcept { return types_; }
  /// Returns a hash partition whose modulus neither divides `modulus` nor is divided by it; nothing
  /// if all fit.
  [[nodiscard]] std::optional<std::size_t> misfit(std::int32_t modulus) const;

  /// Compares two edges of ranges column by column: -1, 0 or 1.
  static int compare_edges(std::span<const TypeId> types, std::span<const PartitionDatum> left,
                           std::span<const PartitionDatum> right);

 private:
  struct Edge {
    PartitionDatum::Kind kind;
    Value value;
  };
  struct Listed {
    Value value;
    std::size_t place;
  };
  struct Span {
    std::vector<Edge> from;
    std::vector<Edge> to;
    std::size_t place;
  };
  struct Remainder {
    std::int32_t modulus;
    std::int32_t remainder;
    std::size_t place;
  };
  void add_list(const PartitionBound& bound, std::size_t place);
  void sort();
  [[nodiscard]] std::vector<Edge> edges_of(std::span<const PartitionDatum> datums) const;
  [[nodiscard]] int compare(const Edge& edge, const Value& value, std::size_t column) const;
  [[nodiscard]] int compare(std::span<const Edge> edges, std::span<const Value> values) const;
  [[nodiscard]] std::optional<std::size_t> find_in_hash(std::span<const Value> key) const;
  void select_list(const KeyRestriction::Column& column, std::vector<bool>& selected) const;
  void select_range(const KeyRestriction& restriction, std::vector<bool>& selected) const;
  [[nodiscard]] bool is_covered(const KeyRestriction::Column& column) const;

  PartitionStrategy strategy_;
  std::vector<TypeId> types_;
  std::vector<std::size_t> order_;
  std::vector<Listed> listed_;  ///< ordered by value
  std::vector<Span> spans_;     ///< ordered by their beginnings
  std::vector<Remainder> remainders_;
  std::optional<std::size_t> null_;
  std::optional<std::size_t> default_;
  std::size_t count_;
};

}  // namespace swizzle::sql
