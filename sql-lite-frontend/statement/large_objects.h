#pragma once

#include "sql-lite-frontend/catalog/large_objects.h"
#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Returns the large objects of the session's database. Cancelling the statement ends their loops.
LargeObjects large_objects_of(StatementContext& session);
/// Throws 42704 unless the object is there.
LargeObject large_object_named(StatementContext& session, const LargeObjects& objects, Oid oid,
                               ReadMode mode = ReadMode::snapshot);
/// Returns what PUBLIC, the owner and the others may do with it.
AccessList access_list(const LargeObject& object);
/// Throws 42501 unless the session's role has these rights, or `lo_compat_privileges` is on.
void require_right(StatementContext& session, const LargeObject& object, Privileges rights);
void require_owner(StatementContext& session, const LargeObject& object);
/// Removes the object with its comment.
void remove_large_object(StatementContext& session, LargeObjects& objects, Oid oid);

}  // namespace swizzle::sql
