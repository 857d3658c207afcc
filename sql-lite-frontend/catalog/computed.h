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

/// Condition on a system relation that its provider may use: rows in which a key column has this
/// number or this name. Neither: all rows.
struct RowKey {
  Oid number = kNoOid;
  std::string name;
};

/// Receiver of rows, with a value for each column; it copies the values. A provider may leave out
/// rows that do not have the key.
class EmitRow : public std::function<void(std::span<const Value>)> {
 public:
  using std::function<void(std::span<const Value>)>::function;
  RowKey key;
};

/// Function that computes the rows of a system relation: some of its columns, in any order.
struct RowProvider {
  struct Column {
    std::string_view name;
    /// Set only if PostgreSQL has no such relation; else its column's type is used.
    TypeId type = TypeId::none;
  };
  Oid schema = kPgCatalogSchema;
  std::string_view name;
  std::vector<Column> columns;
  void (*rows)(Execution& execution, const EmitRow& emit) = nullptr;
  /// Names of the columns that may be EmitRow::key, separated by blanks.
  std::string_view keys = {};
};

/// Source of rows of a relation outside of the system catalogs, such as a transition table.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  virtual void for_each_row(Execution& execution, const EmitRow& emit) const = 0;
};

/// A relation whose rows are computed from the catalog or the server's state when read, such as
/// pg_class or pg_stat_activity. It has all columns of PostgreSQL's. Columns without a provider are
/// NULL, or zero if clients rely on a value.
struct ComputedRelation {
  struct ColumnSpec {
    std::string_view name;
    TypeId type;
    bool not_null = false;
  };
  Oid oid = kNoOid;
  Oid schema = kPgCatalogSchema;
  std::string_view name;
  char kind = 'r';  ///< relkind
  std::vector<ColumnSpec> columns = {};
  /// Query that defines the relation; empty: it computes its rows itself.
  std::string view_sql = {};

  void for_each_row(Execution& execution, const EmitRow& emit) const;
  /// True if the column, counted from 0, may be EmitRow::key.
  [[nodiscard]] bool is_key(std::size_t position) const;

  const RowProvider* provider = nullptr;
  /// Used in place of `provider`: gives all columns in order.
  const RowSource* source = nullptr;
  /// For each column its index in the provider's row, or -1 for the constant in `constants`.
  std::vector<int> sources = {};
  std::vector<Value> constants = {};
};

/// Sets the function that builds the list of system relations. Called once, before the first use.
void set_system_relations(std::vector<ComputedRelation> (*build)()) noexcept;
/// Returns all computed relations.
std::span<const ComputedRelation> computed_relations();
const ComputedRelation* find_computed(Oid schema, std::string_view name);

}  // namespace swizzle::sql
