#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/bound/expression.h"

namespace swizzle::sql {

/// Functions that describe objects: pg_get_expr, pg_table_is_visible …
std::span<const SessionFunction> catalog_functions();
/// pg_get_functiondef …
std::span<const SessionFunction> routine_functions();
/// pg_get_triggerdef …
std::span<const SessionFunction> trigger_functions();
/// pg_blocking_pids
std::span<const SessionFunction> blocking_functions();
/// The address of a connection's end as inet; NULL where there is none.
Value address_value(Execution& execution, const std::optional<Endpoint>& end);
/// inet_client_addr, pg_cancel_backend …
std::span<const SessionFunction> connection_functions();
/// pg_relation_size, pg_database_size …
std::span<const SessionFunction> size_functions();
/// has_table_privilege, pg_has_role …
std::span<const SessionFunction> privilege_functions();

/// pg_get_replica_identity_index, pg_drop_replication_slot …
std::span<const SessionFunction> replication_functions();
/// pg_get_publication_tables, pg_create_logical_replication_slot …: at start-up.
void add_replication_sets();

/// aclexplode, acldefault: at start-up.
void add_acl_functions();

/// nextval() as identity columns call it: whoever may write the column may have its numbers.
const SessionFunction& identity_numbers();

/// All of them.
std::span<const std::span<const SessionFunction>> session_function_lists();
/// Null when there is no session function of that name that takes so many arguments.
const SessionFunction* find_session_function(std::string_view name, std::size_t arguments);

}  // namespace swizzle::sql
