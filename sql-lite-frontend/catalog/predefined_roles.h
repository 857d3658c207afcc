#pragma once

#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "storage/engine.h"

/// Roles that every server has. They cannot log in; other roles become their members.
namespace swizzle::sql {

inline constexpr Oid kMonitorRole = 3373;
inline constexpr Oid kReadAllSettingsRole = 3374;
inline constexpr Oid kReadAllStatsRole = 3375;
inline constexpr Oid kScanTablesRole = 3377;
inline constexpr Oid kSignalBackendRole = 4200;
inline constexpr Oid kCheckpointRole = 4544;
/// Role with the owner of the present database as its only member.
inline constexpr Oid kDatabaseOwnerRole = 6171;
inline constexpr Oid kReadAllDataRole = 6181;
inline constexpr Oid kWriteAllDataRole = 6182;

/// Adds those that are missing to the catalog, in a new engine all of them.
void complete_predefined_roles(Engine& engine, Tree& tree);

/// True for a role that came with the server: its number is below kFirstUserOid. Such roles cannot
/// be dropped or altered.
inline bool is_predefined(const Role& role) noexcept {
  return role.oid < kFirstUserOid && role.oid != kBootstrapRole;
}

/// 42939 where no role may have that name.
void require_role_name(std::string_view name);
/// 42939 where the role came with the server.
void require_alterable(const Role& role);

}  // namespace swizzle::sql
