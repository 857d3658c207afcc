#include "sql-lite-frontend/definitions/tables/alter_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace swizzle::sql {
namespace {

// A set of kinds of relations, one bit each.
using AlterTargets = std::uint8_t;
constexpr AlterTargets kAlterTables = 1U << 0U;
constexpr AlterTargets kAlterViews = 1U << 1U;
constexpr AlterTargets kAlterMaterialized = 1U << 2U;
constexpr AlterTargets kAlterIndexes = 1U << 3U;
constexpr AlterTargets kAlterSequences = 1U << 4U;

struct AlterAction {
  ast::AlterTableType type;
  std::string_view name;  ///< as PostgreSQL's message has it
  AlterTargets targets;
};

// Actions that are not listed apply to every kind, or are refused by name for all of them.
constexpr auto kAlterActions = [] {
  using enum ast::AlterTableType;
  return std::to_array<AlterAction>({
      {addcolumn, "ADD COLUMN", kAlterTables},
      {dropcolumn, "DROP COLUMN", kAlterTables},
      {columndefault, "ALTER COLUMN ... SET DEFAULT", kAlterTables | kAlterViews},
      {setnotnull, "ALTER COLUMN ... SET NOT NULL", kAlterTables},
      {dropnotnull, "ALTER COLUMN ... DROP NOT NULL", kAlterTables},
      {dropexpression, "ALTER COLUMN ... DROP EXPRESSION", kAlterTables},
      {setexpression, "ALTER COLUMN ... SET EXPRESSION", kAlterTables},
      {setstatistics, "ALTER COLUMN ... SET STATISTICS",
       kAlterTables | kAlterMaterialized | kAlterIndexes},
      {setoptions, "ALTER COLUMN ... SET", kAlterTables | kAlterMaterialized},
      {resetoptions, "ALTER COLUMN ... RESET", kAlterTables | kAlterMaterialized},
      {setstorage, "ALTER COLUMN ... SET STORAGE", kAlterTables | kAlterMaterialized},
      {setcompression, "ALTER COLUMN ... SET COMPRESSION", kAlterTables | kAlterMaterialized},
      {addconstraint, "ADD CONSTRAINT", kAlterTables},
      {alterconstraint, "ALTER CONSTRAINT", kAlterTables},
      {validateconstraint, "VALIDATE CONSTRAINT", kAlterTables},
      {dropconstraint, "DROP CONSTRAINT", kAlterTables},
      {altercolumntype, "ALTER COLUMN ... SET DATA TYPE", kAlterTables},
      {addidentity, "ALTER COLUMN ... ADD IDENTITY", kAlterTables | kAlterViews},
      {setidentity, "ALTER COLUMN ... SET", kAlterTables | kAlterViews},
      {dropidentity, "ALTER COLUMN ... DROP IDENTITY", kAlterTables | kAlterViews},
      {clusteron, "CLUSTER ON", kAlterTables | kAlterMaterialized},
      {dropcluster, "SET WITHOUT CLUSTER", kAlterTables | kAlterMaterialized},
      {setlogged, "SET LOGGED", kAlterTables | kAlterSequences},
      {setunlogged, "SET UNLOGGED", kAlterTables | kAlterSequences},
      {settablespace, "SET TABLESPACE", kAlterTables | kAlterMaterialized | kAlterIndexes},
      {setreloptions, "SET", kAlterTables | kAlterViews | kAlterMaterialized | kAlterIndexes},
      {resetreloptions, "RESET", kAlterTables | kAlterViews | kAlterMaterialized | kAlterIndexes},
      {enabletrig, "ENABLE TRIGGER", kAlterTables},
      {disabletrig, "DISABLE TRIGGER", kAlterTables},
      {enabletrigall, "ENABLE TRIGGER ALL", kAlterTables},
      {disabletrigall, "DISABLE TRIGGER ALL", kAlterTables},
      {enabletriguser, "ENABLE TRIGGER USER", kAlterTables},
      {disabletriguser, "DISABLE TRIGGER USER", kAlterTables},
      {enablerowsecurity, "ENABLE ROW SECURITY", kAlterTables},
      {disablerowsecurity, "DISABLE ROW SECURITY", kAlterTables},
      {forcerowsecurity, "FORCE ROW SECURITY", kAlterTables},
      {noforcerowsecurity, "NO FORCE ROW SECURITY", kAlterTables},
      {addinherit, "INHERIT", kAlterTables},
      {dropinherit, "NO INHERIT", kAlterTables},
      {replicaidentity, "REPLICA IDENTITY", kAlterTables | kAlterMaterialized},
  });
}();

AlterTargets target_of(const NamedRelation& found) {
  if (found.index != nullptr) return kAlterIndexes;
  switch (found.table->relation.kind) {
    case RelationKind::view:
      return kAlterViews;
    case RelationKind::materialized:
      return kAlterMaterialized;
    case RelationKind::sequence:
      return kAlterSequences;
    case RelationKind::table:
    case RelationKind::partitioned:
    case RelationKind::computed:
      break;
  }
  return kAlterTables;
}

}  // namespace

void require_target(const NamedRelation& found, const ast::AlterTableCmd& action) {
  const auto known = std::ranges::find(kAlterActions, action.subtype, &AlterAction::type);
  if (known == kAlterActions.end() || (known->targets & target_of(found)) != 0) return;
  throw sql_error(sqlstate::wrong_object_type,
                  "ALTER action {} cannot be performed on relation \"{}\"", known->name,
                  found.index != nullptr ? found.index->name : found.table->relation.name)
      .with_detail(fmt::format("This operation is not supported for {}.", plural_of(found)));
}

}  // namespace swizzle::sql
