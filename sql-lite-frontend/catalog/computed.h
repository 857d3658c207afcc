#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

struct Execution;

/// A relation whose rows are computed from the catalog or the server's state when it is read:
/// pg_class, information_schema.tables, pg_stat_activity …
struct ComputedRelation {
  struct ColumnSpec {
    std::string_view name;
    TypeId type;
  };
  /// Takes one row, a value per column; the values are copied.
  using Emit = std::function<void(std::span<const Value>)>;

  Oid oid = kNoOid;
  Oid schema = kPgCatalogSchema;
  std::string_view name;
  std::vector<ColumnSpec> columns;
  void (*rows)(Execution& execution, const Emit& emit) = nullptr;
};

/// All of them; null when there is none of that name.
std::span<const ComputedRelation> computed_relations();
const ComputedRelation* find_computed(Oid schema, std::string_view name);

}  // namespace swizzle::sql
