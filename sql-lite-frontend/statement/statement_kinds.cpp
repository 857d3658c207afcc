#include "sql-lite-frontend/statement/statement_kinds.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

// Tags that depend on the statement --------------------------------------------------------------

std::string_view transaction_tag(const ast::TransactionStmt& statement) {
  using Kind = ast::TransactionStmtKind;
  switch (statement.kind) {
    case Kind::begin:
      return "BEGIN";
    case Kind::start:
      return "START TRANSACTION";
    case Kind::commit:
      return "COMMIT";
    case Kind::savepoint:
      return "SAVEPOINT";
    case Kind::release:
      return "RELEASE";
    case Kind::prepare:
      return "PREPARE TRANSACTION";
    case Kind::commit_prepared:
      return "COMMIT PREPARED";
    case Kind::rollback_prepared:
      return "ROLLBACK PREPARED";
    default:
      return "ROLLBACK";
  }
}
std::string_view fetch_tag(const ast::FetchStmt& statement) {
  return statement.ismove ? "MOVE" : "FETCH";
}
std::string_view close_tag(const ast::ClosePortalStmt& statement) {
  return statement.portalname.empty() ? "CLOSE CURSOR ALL" : "CLOSE CURSOR";
}
std::string_view deallocate_tag(const ast::DeallocateStmt& statement) {
  return statement.name.empty() ? "DEALLOCATE ALL" : "DEALLOCATE";
}
std::string_view set_tag(const ast::VariableSetStmt& statement) {
  using Kind = ast::VariableSetKind;
  const bool resets = statement.kind == Kind::reset || statement.kind == Kind::reset_all;
  return resets ? "RESET" : "SET";
}
std::string_view discard_tag(const ast::DiscardStmt& statement) {
  switch (statement.target) {
    case ast::DiscardMode::all:
      return "DISCARD ALL";
    case ast::DiscardMode::plans:
      return "DISCARD PLANS";
    case ast::DiscardMode::sequences:
      return "DISCARD SEQUENCES";
    default:
      return "DISCARD TEMP";
  }
}
std::string_view vacuum_tag(const ast::VacuumStmt& statement) {
  return statement.is_vacuumcmd ? "VACUUM" : "ANALYZE";
}
std::string_view create_as_tag(const ast::CreateTableAsStmt& statement) {
  if (statement.objtype == ast::ObjectType::matview) return "CREATE MATERIALIZED VIEW";
  return statement.is_select_into ? "SELECT INTO" : "CREATE TABLE AS";
}
std::string_view alter_table_tag(const ast::AlterTableStmt& statement) {
  return alter_tag(statement.objtype);
}
std::string_view move_all_tag(const ast::AlterTableMoveAllStmt& statement) {
  return alter_tag(statement.objtype);
}
std::string_view drop_statement_tag(const ast::DropStmt& statement) {
  return drop_tag(statement.remove_type);
}
std::string_view define_tag(const ast::DefineStmt& statement) {
  return create_tag(statement.kind);
}
std::string_view rename_tag(const ast::RenameStmt& statement) {
  // The grammar sets the relation's kind for columns only.
  const bool is_column = statement.rename_type == ast::ObjectType::column;
  return alter_tag(is_column ? statement.relation_type : statement.rename_type);
}
std::string_view alter_owner_tag(const ast::AlterOwnerStmt& statement) {
  return alter_tag(statement.object_type);
}
std::string_view alter_schema_tag(const ast::AlterObjectSchemaStmt& statement) {
  return alter_tag(statement.object_type);
}
std::string_view alter_depends_tag(const ast::AlterObjectDependsStmt& statement) {
  return alter_tag(statement.object_type);
}
std::string_view create_function_tag(const ast::CreateFunctionStmt& statement) {
  return statement.is_procedure ? "CREATE PROCEDURE" : "CREATE FUNCTION";
}
std::string_view alter_function_tag(const ast::AlterFunctionStmt& statement) {
  return alter_tag(statement.objtype);
}
std::string_view grant_tag(const ast::GrantStmt& statement) {
  return statement.is_grant ? "GRANT" : "REVOKE";
}
std::string_view grant_role_tag(const ast::GrantRoleStmt& statement) {
  return statement.is_grant ? "GRANT ROLE" : "REVOKE ROLE";
}

// Forms that are refused inside a transaction block ----------------------------------------------

std::string_view discard_all(const ast::DiscardStmt& statement) {
  return statement.target == ast::DiscardMode::all ? "DISCARD ALL" : "";
}
std::string_view cluster_all(const ast::ClusterStmt& statement) {
  return statement.relation == nullptr ? "CLUSTER" : "";
}
std::string_view concurrent_index(const ast::IndexStmt& statement) {
  return statement.concurrent ? "CREATE INDEX CONCURRENTLY" : "";
}
std::string_view concurrent_drop(const ast::DropStmt& statement) {
  return statement.concurrent ? "DROP INDEX CONCURRENTLY" : "";
}
std::string_view move_database(const ast::AlterDatabaseStmt& statement) {
  const bool moves = std::ranges::any_of(statement.options, [](const ast::Node* option) {
    return ast::as<ast::DefElem>(option).defname == "tablespace";
  });
  return moves ? "ALTER DATABASE SET TABLESPACE" : "";
}

template <class Statement>
std::string_view told_by(std::string_view (*told)(const Statement&), const ast::Node& statement) {
  return told(ast::as<Statement>(&statement));
}
template <auto told>
std::string_view by_tree(const ast::Node& statement) {
  return told_by(told, statement);
}

// Names of the objects of unsupported statements -------------------------------------------------

std::string written_name(std::string_view name) {
  return std::string{name};
}

/// Returns the name as written, "a.b".
std::string written_name(ast::NodeList parts) {
  std::string name;
  for (const ast::Node* part : parts) {
    const auto* text = ast::try_as<ast::String>(part);
    if (text == nullptr) return {};
    if (!name.empty()) name += '.';
    name += text->sval;
  }
  return name;
}

std::string written_name(const ast::RangeVar* relation) {
  if (relation == nullptr) return {};
  std::string name{relation->schemaname};
  if (!name.empty()) name += '.';
  return name += relation->relname;
}

template <class Statement, class Field>
std::string name_in(Field Statement::* field, const ast::Node& statement) {
  return written_name(ast::as<Statement>(&statement).*field);
}
template <auto field>
std::string named(const ast::Node& statement) {
  return name_in(field, statement);
}

std::string foreign_table_name(const ast::Node& statement) {
  const auto& table = ast::as<ast::CreateForeignTableStmt>(&statement);
  return table.base_stmt == nullptr ? std::string{} : written_name(table.base_stmt->relation);
}

// The table --------------------------------------------------------------------------------------

constexpr StatementKind a_kind(StatementKind::Runs runs, StatementName tag) {
  StatementKind kind;
  kind.runs = runs;
  kind.tag = tag;
  kind.writes = runs == StatementKind::Runs::definition || runs == StatementKind::Runs::unsupported;
  kind.log_class = kind.writes ? LogClass::definition : LogClass::other;
  return kind;
}
constexpr StatementKind planned(StatementName tag) {
  return a_kind(StatementKind::Runs::planned, tag);
}
constexpr StatementKind transaction(StatementName tag) {
  return a_kind(StatementKind::Runs::transaction, tag).without_snapshot();
}
constexpr StatementKind command(StatementName tag) {
  return a_kind(StatementKind::Runs::command, tag);
}
constexpr StatementKind definition(StatementName tag) {
  return a_kind(StatementKind::Runs::definition, tag);
}
constexpr StatementKind unsupported(StatementName tag) {
  return a_kind(StatementKind::Runs::unsupported, tag);
}
constexpr StatementKind of_node(ast::NodeKind node, StatementKind kind) {
  kind.node = node;
  return kind;
}

#define STATEMENT(Node, run, ...) of_node(ast::Node::kKind, __VA_ARGS__),
constexpr std::array kKinds = std::to_array<StatementKind>({
#include "sql-lite-frontend/statement/statement_kinds.inc"
});
#undef STATEMENT

/// Maps a node's number to its index in kKinds, from 1.
using Places = std::array<std::uint8_t, ast::kLastNodeKind + 1>;
consteval Places places_of_kinds() {
  Places places{};
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    std::uint8_t& place = places[static_cast<std::size_t>(kKinds[i].node)];
    if (place != 0) throw "two lines for one kind of statement";
    place = static_cast<std::uint8_t>(i + 1);
  }
  return places;
}
static_assert(kKinds.size() < 255);
constexpr Places kPlaces = places_of_kinds();

}  // namespace

const StatementKind* find_statement_kind(ast::NodeKind node) noexcept {
  const auto number = static_cast<std::size_t>(node);
  const std::uint8_t place = number < kPlaces.size() ? kPlaces[number] : 0;
  return place == 0 ? nullptr : &kKinds[place - 1];
}

const StatementKind& kind_of_statement(const ast::Node& statement) {
  const StatementKind* const kind = find_statement_kind(statement.node_kind);
  STATEMENT_INVARIANT(kind != nullptr);
  return *kind;
}

std::string_view command_tag(const ast::Node& statement) {
  return kind_of_statement(statement).tag.of(statement);
}

}  // namespace swizzle::sql
