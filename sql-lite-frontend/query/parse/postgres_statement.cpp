#include "sql-lite-frontend/query/parse/postgres_statement.h"

#include <new>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

template <class T>
T* make(Arena& arena, const T& from) {
  return new (arena.allocate(sizeof(T), alignof(T))) T{from};
}

bool joins_two(const ast::SelectStmt& select) noexcept {
  return select.op != ast::SetOperation::none && select.op != ast::SetOperation::undefined;
}

/// Returns the query whose columns name those of the whole.
const ast::SelectStmt& first_of(const ast::SelectStmt& select) noexcept {
  const ast::SelectStmt* first = &select;
  while (joins_two(*first)) first = first->larg;
  return *first;
}

void refuse_later_into(const ast::SelectStmt& select) {
  for (const ast::SelectStmt* part = &select; joins_two(*part); part = part->larg) {
    if (part->rarg->into_clause == nullptr) continue;
    throw SqlError{sqlstate::syntax_error,
                   "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT"}
        .at_position(part->rarg->into_clause->rel->location + 1);
  }
}

const ast::SelectStmt* without_into(Arena& arena, const ast::SelectStmt& select) {
  ast::SelectStmt* const whole = make(arena, select);
  ast::SelectStmt* part = whole;
  while (joins_two(*part)) {
    ast::SelectStmt* const left = make(arena, *part->larg);
    part->larg = left;
    part = left;
  }
  part->into_clause = nullptr;
  return whole;
}

void refuse_parameters(ast::NodeList values) {
  for (const ast::Node* value : values) {
    const auto* const option = ast::try_as<ast::DefElem>(value);
    const ast::Node* const said = option != nullptr ? option->arg.raw() : value;
    if (ast::is<ast::ParamRef>(said)) ast::throw_unexpected(said);
  }
}

void refuse_parameters(const ast::VariableSetStmt* statement) {
  if (statement != nullptr) refuse_parameters(statement->args);
}

}  // namespace

const ast::RawStmt* as_postgres_reads(Arena& arena, const ast::RawStmt* statement) {
  const ast::Node* const node = statement->stmt;
  if (node == nullptr) return statement;
  switch (ast::kind_of(node)) {
    case ast::NodeKind::select_stmt: {
      const auto& select = ast::as<ast::SelectStmt>(node);
      refuse_later_into(select);
      const ast::IntoClause* const into = first_of(select).into_clause;
      if (into == nullptr) return statement;
      ast::CreateTableAsStmt create;
      create.node_kind = ast::NodeKind::create_table_as_stmt;
      create.query = without_into(arena, select);
      create.into = into;
      create.objtype = ast::ObjectType::table;
      create.is_select_into = true;
      ast::RawStmt* const other = make(arena, *statement);
      other->stmt = make(arena, create);
      return other;
    }
    case ast::NodeKind::variable_set_stmt:
      refuse_parameters(&ast::as<ast::VariableSetStmt>(node));
      return statement;
    case ast::NodeKind::alter_role_set_stmt:
      refuse_parameters(ast::as<ast::AlterRoleSetStmt>(node).setstmt);
      return statement;
    case ast::NodeKind::alter_database_set_stmt:
      refuse_parameters(ast::as<ast::AlterDatabaseSetStmt>(node).setstmt);
      return statement;
    case ast::NodeKind::alter_role_stmt:
      refuse_parameters(ast::as<ast::AlterRoleStmt>(node).options);
      return statement;
    case ast::NodeKind::create_role_stmt:
      refuse_parameters(ast::as<ast::CreateRoleStmt>(node).options);
      return statement;
    default:
      return statement;
  }
}

}  // namespace swizzle::sql
