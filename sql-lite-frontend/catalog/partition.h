#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/oid.h"
#include "sql-lite-frontend/types/type_id.h"

/// Partitioning of a table, as the catalog stores it.
namespace swizzle::sql {

/// Letters of pg_partitioned_table.partstrat.
enum class PartitionStrategy : char { list = 'l', range = 'r', hash = 'h' };

struct PartitionColumn {
  std::int16_t column = 0;  ///< from 1; 0: an expression
  std::string expression_sql;
  TypeId type = TypeId::none;
  Oid collation = kNoOid;      ///< none: the type's collation
  std::string operator_class;  ///< as written in the definition; empty: the default
};

struct PartitionKey {
  PartitionStrategy strategy = PartitionStrategy::range;
  std::vector<PartitionColumn> columns;
};

/// A value of a bound, of the type of its key column.
struct PartitionDatum {
  enum class Kind : char { value = 'v', null = 'n', minimum = '-', maximum = '+' };
  Kind kind = Kind::value;
  std::string flat;  ///< flat form of a `value`

  friend bool operator==(const PartitionDatum&, const PartitionDatum&) = default;
};

/// FOR VALUES: the rows of the parent that belong to the partition.
struct PartitionBound {
  bool is_default = false;
  std::vector<PartitionDatum> values;  ///< IN
  std::vector<PartitionDatum> from;    ///< FROM, inclusive
  std::vector<PartitionDatum> to;      ///< TO, exclusive
  std::int32_t modulus = 0;
  std::int32_t remainder = 0;
};

}  // namespace swizzle::sql
