#include "sql-lite-frontend/catalog/predefined_roles.h"

#include <vector>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kReservedName{"42939"};

struct Predefined {
  Oid oid;
  std::string_view name;
};
constexpr Predefined kRoles[] = {
    {kMonitorRole, "pg_monitor"},
    {kReadAllSettingsRole, "pg_read_all_settings"},
    {kReadAllStatsRole, "pg_read_all_stats"},
    {kScanTablesRole, "pg_stat_scan_tables"},
    {kSignalBackendRole, "pg_signal_backend"},
    {kCheckpointRole, "pg_checkpoint"},
    {kDatabaseOwnerRole, "pg_database_owner"},
    {kReadAllDataRole, "pg_read_all_data"},
    {kWriteAllDataRole, "pg_write_all_data"},
    {kMaintainRole, "pg_maintain"},
    {kCreateSubscriptionRole, "pg_create_subscription"},
    {kReadServerFilesRole, "pg_read_server_files"},
    {kWriteServerFilesRole, "pg_write_server_files"},
    {kExecuteServerProgramRole, "pg_execute_server_program"},
};

}  // namespace

void complete_predefined_roles(Engine& engine, Tree& tree) {
  auto transaction = engine.begin();
  transaction->begin_statement();
  ValueBuffer ignored;
  for (const Predefined& predefined : kRoles) {
    const std::string key = object_key(kSharedCatalog, RecordKind::role, predefined.oid);
    const std::string name =
        name_key(kSharedCatalog, static_cast<Oid>(RecordKind::role), predefined.name);
    const bool is_taken = value_of(tree.get(*transaction, as_bytes(name), ignored));
    if (is_taken || value_of(tree.get(*transaction, as_bytes(key), ignored))) continue;
    Role role;
    role.oid = predefined.oid;
    role.name = predefined.name;
    if (role.oid == kMonitorRole) {
      for (const Oid group : {kReadAllSettingsRole, kReadAllStatsRole, kScanTablesRole}) {
        role.member_of.push_back({.group = group});
      }
    }
    value_of(tree.insert(*transaction, as_bytes(key), as_bytes(encode(role))));
    std::string oid;
    append_oid(oid, role.oid);
    value_of(tree.insert(*transaction, as_bytes(name), as_bytes(oid)));
  }
  value_of(transaction->commit());
}

void require_role_name(std::string_view name) {
  if (name.starts_with("pg_")) {
    throw sql_error(kReservedName, "role name \"{}\" is reserved", name)
        .with_detail("Role names starting with \"pg_\" are reserved.");
  }
}

void require_alterable(const Role& role) {
  if (!is_predefined(role)) return;
  throw sql_error(kReservedName, "role name \"{}\" is reserved", role.name)
      .with_detail("Cannot alter reserved roles.");
}

}  // namespace swizzle::sql
