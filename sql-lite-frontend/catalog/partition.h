#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/oid.h"
#include "sql-lite-frontend/types/type_id.h"

/// Partitioning of a table's rows, as the catalog stores it.
namespace swizzle::sql {

/// pg_partitioned_table.partstrat's letters.
enum class PartitionStrategy : char { list = 'l', range = 'r', hash = 'h' };

struct PartitionColumn {
  std::int16_t column = 0;  ///< from 1; 0: an expression
  std::string expression_sql;
  TypeId type = TypeId::none;
  Oid collation = kNoOid;      ///< none: the type's
  std::string operator_class;  ///< as the user named it; empty: the default
};

struct PartitionKey {
  PartitionStrategy strategy = PartitionStrategy::range;
  std::vector<PartitionColumn> columns;
};

/// One value of a bound, in the type of its key column.
struct PartitionDatum {
  enum class Kind : char { value = 'v', null = 'n', minimum = '-', maximum = '+' };
  Kind kind = Kind::value;
  std::string flat;  ///< of `value`: its flat form

  friend bool operator==(const PartitionDatum&, const PartitionDatum&) = default;
};

/// FOR VALUES …: which rows of its parent a partition takes.
struct PartitionBound {
  bool is_default = false;
  std::vector<PartitionDatum> values;  ///< IN
  std::vector<PartitionDatum> from;    ///< FROM, which belongs to it
  std::vector<PartitionDatum> to;      ///< TO, which does not
  std::int32_t modulus = 0;
  std::int32_t remainder = 0;
};

}  // namespace swizzle::sql
