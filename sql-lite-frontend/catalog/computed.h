#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

struct Execution;

/// A reader's wish of a system relation: rows in which a key column has that number, or that name.
/// All rows where there is neither.
struct RowKey {
  Oid number = kNoOid;
  std::string name;
};

/// Takes one row, a value per column; the values are copied. A provider may leave out rows that do
/// not have the key.
class EmitRow : public std::function<void(std::span<const Value>)> {
 public:
  using std::function<void(std::span<const Value>)>::function;
  RowKey key;
};

/// Function that computes the rows of a system relation: some of its columns, in any order.
struct RowProvider {
  struct Column {
    std::string_view name;
    /// Only where PostgreSQL has no such relation: there the type is known.
    TypeId type = TypeId::none;
  };
  Oid schema = kPgCatalogSchema;
  std::string_view name;
  std::vector<Column> columns;
  void (*rows)(Execution& execution, const EmitRow& emit) = nullptr;
  /// Columns whose value finds the rows by EmitRow::key, separated by blanks.
  std::string_view keys = {};
};

/// Source of the rows of a relation that is not of the system: a transition table.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  virtual void for_each_row(Execution& execution, const EmitRow& emit) const = 0;
};

/// A relation whose rows are computed from the catalog or the server's state when it is read:
/// pg_class, information_schema.tables, pg_stat_activity … It has all columns of PostgreSQL's;
/// columns without a provider are NULL, or zero where clients may rely on a value.
struct ComputedRelation {
  struct ColumnSpec {
    std::string_view name;
    TypeId type;
    bool not_null = false;
  };
  Oid oid = kNoOid;
  Oid schema = kPgCatalogSchema;
  std::string_view name;
  char kind = 'r';  ///< relkind, as PostgreSQL has it
  std::vector<ColumnSpec> columns = {};
  /// Not empty: the relation is this query, and computes nothing itself.
  std::string view_sql = {};

  void for_each_row(Execution& execution, const EmitRow& emit) const;
  /// True if the column, from 0, may be EmitRow::key.
  [[nodiscard]] bool is_key(std::size_t position) const;

  const RowProvider* provider = nullptr;
  /// Instead of that, all columns in their order.
  const RowSource* source = nullptr;
  /// Per column: the place in the provider's row, or -1 and the value that stands there always.
  std::vector<int> sources = {};
  std::vector<Value> constants = {};
};

/// Sets who puts the system relations together, before the first look at one.
void set_system_relations(std::vector<ComputedRelation> (*build)()) noexcept;
/// Return all computed relations, or the one of that name; null if there is none.
std::span<const ComputedRelation> computed_relations();
const ComputedRelation* find_computed(Oid schema, std::string_view name);

}  // namespace swizzle::sql
