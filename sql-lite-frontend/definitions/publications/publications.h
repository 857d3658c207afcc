#pragma once

#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER and DROP PUBLICATION.
namespace swizzle::sql {

void create_publication(StatementContext& session, const ast::CreatePublicationStmt& statement,
                        ResultSink& sink);
void alter_publication(StatementContext& session, const ast::AlterPublicationStmt& statement);
void drop_publications(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_publication(StatementContext& session, std::string_view name,
                        std::string_view new_name);
void set_publication_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void comment_on_publication(StatementContext& session, std::string_view name,
                            std::string_view text);

/// The tables and schemas that a statement names.
struct PublicationObjects {
  std::vector<const ast::PublicationTable*> tables;
  std::vector<SchemaPtr> schemas;
};
/// Returns the objects of the list; throws 42704 or 3F000 for one that does not exist.
PublicationObjects named_objects(StatementContext& session, ast::NodeList objects);
/// Returns the checked members for the tables. Throws 42501, 22023, 42710, 42703, 42P10, 0A000.
std::vector<Publication::Member> members_of(StatementContext& session,
                                            const std::vector<const ast::PublicationTable*>& named);
/// Throws 22023 if a table has a column list and the publication includes whole schemas.
void refuse_lists_beside_schemas(StatementContext& session, const Publication& publication);
/// Throws 22023 if a partitioned table has a filter or a column list, but its changes are published
/// as its partitions'.
void refuse_parts_of_partitioned(StatementContext& session, const Publication& publication);

/// True if a publication names the table.
bool is_published(StatementContext& session, const Table& table);
/// Removes a dropped schema from all publications.
void forget_published_schema(StatementContext& session, Oid schema);
/// Handles publications that name the column in a list or a filter: 2BP01, or with CASCADE the
/// table is removed from them.
void drop_published_column(StatementContext& session, const Table& table, std::size_t position,
                           ast::DropBehavior behavior, ResultSink& sink);
/// Throws 0A000 if a column list or filter uses the column, because its type is to change.
void refuse_published_column(StatementContext& session, const Table& table, std::size_t position);
/// Changes the column's name in filters.
void rename_published_column(StatementContext& session, const TablePtr& table, std::size_t position,
                             std::string_view new_name);

}  // namespace swizzle::sql
