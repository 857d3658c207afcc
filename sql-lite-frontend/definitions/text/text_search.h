#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// User-defined text search dictionaries and configurations.
namespace swizzle::sql {

void create_text_dictionary(StatementContext& session, const ast::DefineStmt& statement);
void alter_text_dictionary(StatementContext& session, const ast::AlterTSDictionaryStmt& statement);
void create_text_config(StatementContext& session, const ast::DefineStmt& statement);
void alter_text_config(StatementContext& session, const ast::AlterTSConfigurationStmt& statement,
                       ResultSink& sink);

/// Statements for both dictionaries and configurations.
void drop_text_search(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_text_search(StatementContext& session, const ast::RenameStmt& statement);
void set_text_search_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void set_text_search_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement);
/// Returns false for a built-in object, whose oid is in `number` then.
bool comment_on_text_search(StatementContext& session, ast::ObjectType kind, ast::NodeList names,
                            std::string_view text, Oid& number);
constexpr bool is_text_search(ast::ObjectType kind) noexcept {
  return kind == ast::ObjectType::tsdictionary || kind == ast::ObjectType::tsconfiguration;
}

/// Return the object's oid. Throw 42704, 3F000.
Oid require_text_config(StatementContext& session, ast::NodeList names);
Oid require_text_dictionary(StatementContext& session, ast::NodeList names);
/// Returns the object, which the session must own, locked against changes by others. Throws 42501,
/// or 0A000 for a built-in object.
UserTextConfigPtr lock_own_text_config(StatementContext& session, ast::NodeList names);
UserTextDictionaryPtr lock_own_text_dictionary(StatementContext& session, ast::NodeList names);
/// Throws 23505 if the name is taken, as PostgreSQL does because of its unique catalog index.
void refuse_taken_text_search(StatementContext& session, const UserTextDictionary& made);
void refuse_taken_text_search(StatementContext& session, const UserTextConfig& made);
/// Returns the schema for a new object; throws 0A000 for a temporary one.
Oid place_of_text_search(StatementContext& session, ast::NodeList names);

/// "text search configuration other.c".
std::string described(StatementContext& session, const UserTextDictionary& dictionary);
std::string described(StatementContext& session, const UserTextConfig& config);
std::vector<Dependent> dependents_of_text_search(StatementContext& session,
                                                 const UserTextDictionary& dictionary);
std::vector<Dependent> dependents_of_text_search(StatementContext& session,
                                                 const UserTextConfig& config);
/// Adds the schema's text search objects, and the objects elsewhere that depend on them.
void add_text_search_of_schema(StatementContext& session, const Schema& schema,
                               std::vector<Dependent>& dependents);
/// DROP OWNED: adds the dependents of the text search objects that the role owns, without these
/// objects; removes the objects.
void add_users_of_owned_text_search(StatementContext& session, Oid owner,
                                    std::vector<Dependent>& dependents);
void remove_owned_text_search(StatementContext& session, Oid owner);
/// REASSIGN OWNED.
void reassign_text_search(StatementContext& session, Oid owner, Oid heir);

}  // namespace swizzle::sql
