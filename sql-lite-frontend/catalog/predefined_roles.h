#pragma once

#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "storage/engine.h"

/// Predefined roles of every server. They cannot log in; they serve as groups.
namespace swizzle::sql {

inline constexpr Oid kMonitorRole = 3373;
inline constexpr Oid kReadAllSettingsRole = 3374;
inline constexpr Oid kReadAllStatsRole = 3375;
inline constexpr Oid kScanTablesRole = 3377;
inline constexpr Oid kSignalBackendRole = 4200;
inline constexpr Oid kCheckpointRole = 4544;
// Roles for files and programs of the server's machine: COPY.
inline constexpr Oid kReadServerFilesRole = 4569;
inline constexpr Oid kWriteServerFilesRole = 4570;
inline constexpr Oid kExecuteServerProgramRole = 4571;
/// pg_database_owner: its only member is the owner of the current database.
inline constexpr Oid kDatabaseOwnerRole = 6171;
inline constexpr Oid kReadAllDataRole = 6181;
inline constexpr Oid kWriteAllDataRole = 6182;
/// pg_create_subscription: CREATE SUBSCRIPTION.
inline constexpr Oid kCreateSubscriptionRole = 6304;
/// pg_maintain: MAINTAIN on every table.
inline constexpr Oid kMaintainRole = 6337;

/// Creates the missing predefined roles; in a new engine, all of them.
void complete_predefined_roles(Engine& engine, Tree& tree);

/// True for a role that came with the server: its number is below kFirstUserOid. Such roles cannot
/// be dropped or altered.
inline bool is_predefined(const Role& role) noexcept {
  return role.oid < kFirstUserOid && role.oid != kBootstrapRole;
}

/// Throws SqlError 42939 if the name is reserved for predefined roles.
void require_role_name(std::string_view name);
/// Throws SqlError 42939 if the role is a predefined one.
void require_alterable(const Role& role);

}  // namespace swizzle::sql
