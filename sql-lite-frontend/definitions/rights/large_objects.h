#pragma once

#include <span>

#include "sql-lite-frontend/catalog/large_objects.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Definitions about large objects, which are named by their numbers.
namespace swizzle::sql {

/// Returns the number that a statement names. 22003 or 22P02 if it is none.
Oid large_object_number(StatementContext& session, const ast::Node* node);
/// Locks the object and returns it. 42704 if there is none.
LargeObject lock_large_object(StatementContext& session, const LargeObjects& objects, Oid oid);
/// Stores other grants or another owner, and holds the roles that they name.
void replace_large_object(StatementContext& session, LargeObjects& objects,
                          const LargeObject& object);
/// ALTER LARGE OBJECT … OWNER TO.
void set_large_object_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
/// COMMENT ON LARGE OBJECT; an empty text removes the comment.
void comment_on_large_object(StatementContext& session, const ast::Node* number,
                             std::string_view text);
/// Gives the objects of some roles to another one.
void reassign_large_objects(StatementContext& session, std::span<const RolePtr> roles, Oid heir);
/// Removes the objects of some roles, and their rights on others.
void drop_owned_large_objects(StatementContext& session, std::span<const RolePtr> roles);

}  // namespace swizzle::sql
