#pragma once

#include <vector>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER and DROP COLLATION, and COLLATE in other definitions.
namespace swizzle::sql {

void create_collation(StatementContext& session, const ast::DefineStmt& statement,
                      ResultSink& sink);
/// ALTER COLLATION … REFRESH VERSION.
void alter_collation(StatementContext& session, const ast::AlterCollationStmt& statement,
                     ResultSink& sink);
void drop_collations(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_collation(StatementContext& session, const ast::RenameStmt& statement);
void set_collation_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void set_collation_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement);
/// COMMENT ON COLLATION; returns false for a built-in collation.
bool comment_on_collation(StatementContext& session, ast::NodeList name, std::string_view text);

/// Returns the collation that a definition names, locked against DROP until the end of the
/// transaction. Throws 42704.
Oid used_collation(StatementContext& session, ast::NodeList name, std::int32_t location);
/// Returns the collation for a column or a domain of the type: none if it is the type's own. Throws
/// 42804 if the type has no collation.
Oid collation_of_column(StatementContext& session, const ast::CollateClause* clause, TypeId type);
/// The same for an index's column, whose expression has `type`; but returns the type's own
/// collation as well, since an index stores it.
Oid collation_of_key(StatementContext& session, ast::NodeList name, TypeId type);
/// Moves the collation from the type into the column, for a column of a table or view that is
/// defined by a query. 42P22 if it is indeterminate.
enum class DefinedIn : std::uint8_t { table, view };
void define_collation(Column& column, DefinedIn where);

/// Returns the dependents of a collation.
std::vector<Dependent> dependents_of_collation(StatementContext& session,
                                               const UserCollation& collation);
/// Adds the schema's collations, and the objects elsewhere that depend on them.
void add_collations_of_schema(StatementContext& session, const Schema& schema,
                              std::vector<Dependent>& dependents);
std::string described(StatementContext& session, const UserCollation& collation);

}  // namespace swizzle::sql
