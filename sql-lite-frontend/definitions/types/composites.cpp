// CREATE TYPE … AS (…), and ALTER TYPE on attributes.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/composite_values.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Errors about attributes' types have no position in ALTER TYPE, but have one in CREATE TYPE.
enum class Positions : std::uint8_t { told, untold };

Column read_attribute(StatementContext& session, const ast::ColumnDef& definition,
                      Positions positions) {
  Column attribute;
  attribute.name = definition.colname;
  Arena arena;
  Binder binder{session.names, arena};
  try {
    const TypeReference type = binder.bind_type(*definition.type_name);
    attribute.type = type.type;
    attribute.typmod = type.typmod;
  } catch (SqlError& error) {
    if (positions == Positions::untold) error.fields().position = 0;
    throw;
  }
  hold_type(session, attribute.type);
  if (!has_io(attribute.type) || attribute.type == TypeId::unknown ||
      attribute.type == TypeId::record) {
    throw_error(sqlstate::invalid_table_definition, "column \"{}\" has pseudo-type {}",
                attribute.name, format_type(attribute.type));
  }
  attribute.collation = collation_of_column(session, definition.coll_clause, attribute.type);
  return attribute;
}

class AttributeChange {
 public:
  AttributeChange(StatementContext& session, UserType& type, ResultSink& sink)
      : session_(session), type_(type), sink_(sink) {}

  void apply(const ast::AlterTableCmd& command) {
    switch (command.subtype) {
      case ast::AlterTableType::addcolumn:
        return add(ast::as<ast::ColumnDef>(command.def));
      case ast::AlterTableType::dropcolumn:
        return drop(command);
      case ast::AlterTableType::altercolumntype:
        return change_type(command);
      default:
        throw SqlError{sqlstate::feature_not_supported, "this form of ALTER TYPE is not supported"};
    }
  }

  /// Changes to existing values of the type.
  std::vector<AttributeEdit> edits;

 private:
  auto find(std::string_view name) {
    return std::ranges::find(type_.attributes, name, &Column::name);
  }
  [[noreturn]] void missing(std::string_view name) const {
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist", name,
                type_.name);
  }

  void add(const ast::ColumnDef& definition) {
    if (find(definition.colname) != type_.attributes.end()) {
      throw_error(sqlstate::duplicate_column, "column \"{}\" of relation \"{}\" already exists",
                  definition.colname, type_.name);
    }
    refuse_more_columns(type_.attributes.size() + 1);
    Column attribute = read_attribute(session_, definition, Positions::untold);
    refuse_itself(attribute.type);
    edits.push_back({.dropped = {}, .added = attribute.expression_type()});
    type_.attributes.push_back(std::move(attribute));
  }

  void refuse_itself(TypeId added) const { refuse_in_itself(session_, type_, added); }

  void drop(const ast::AlterTableCmd& command) {
    const auto attribute = find(command.name);
    if (attribute == type_.attributes.end()) {
      if (!command.missing_ok) missing(command.name);
      return notice_missing(
          session_, sink_,
          fmt::format("column \"{}\" of relation \"{}\"", command.name, type_.name));
    }
    edits.push_back({.dropped = static_cast<std::size_t>(attribute - type_.attributes.begin()),
                     .name = attribute->name});
    type_.attributes.erase(attribute);
  }

  void change_type(const ast::AlterTableCmd& command) {
    const auto attribute = find(command.name);
    if (attribute == type_.attributes.end()) missing(command.name);
    refuse_columns_of(session_, type_);
    ast::ColumnDef definition = ast::as<ast::ColumnDef>(command.def);
    definition.colname = command.name;
    Column changed = read_attribute(session_, definition, Positions::untold);
    refuse_itself(changed.type);
    changed.comment = attribute->comment;
    *attribute = std::move(changed);
  }

  StatementContext& session_;
  UserType& type_;
  ResultSink& sink_;
};

TypePtr lock_own_composite(StatementContext& session, const ast::RangeVar& name) {
  const TypeName wanted{name.schemaname, name.relname};
  const TypePtr found = find_type_named(session, wanted);
  if (!found || !is_composite(found->id()) || found->is_of_relation()) {
    if (session.names.find_table(name.schemaname, name.relname)) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a composite type", name.relname);
    }
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", written(wanted));
  }
  return lock_own_type(session, wanted);
}

}  // namespace

void create_composite(StatementContext& session, const ast::CompositeTypeStmt& statement) {
  const ast::RangeVar& name = *statement.typevar;
  UserType type = new_type(session, TypeName{name.schemaname, name.relname}, TypeOf::rows);
  refuse_more_columns(statement.coldeflist.size());
  for (const ast::Node* node : statement.coldeflist) {
    const auto& definition = ast::as<ast::ColumnDef>(node);
    if (std::ranges::find(type.attributes, definition.colname, &Column::name) !=
        type.attributes.end()) {
      throw_error(sqlstate::duplicate_column, "column \"{}\" specified more than once",
                  definition.colname);
    }
    type.attributes.push_back(read_attribute(session, definition, Positions::told));
  }
  type.relation = session.catalog.allocate_oid();
  type.oid = allocate_type(session, kFirstComposite);
  session.catalog.create(*session.transaction, std::move(type));
}

void alter_composite(StatementContext& session, const ast::AlterTableStmt& statement,
                     ResultSink& sink) {
  const TypePtr old = lock_own_composite(session, *statement.relation);
  UserType type = *old;
  AttributeChange change{session, type, sink};
  for (const ast::Node* node : statement.cmds) change.apply(ast::as<ast::AlterTableCmd>(node));
  replace_type(session, *old, type);
  if (!change.edits.empty()) edit_values_of(session, type, change.edits);
}

bool comment_on_attribute(StatementContext& session, ast::NodeList type, std::string_view attribute,
                          const std::string& text) {
  const TypeName name = type_named(type);
  const TypePtr found = find_type_named(session, name);
  if (!found || !is_composite(found->id()) || found->is_of_relation()) return false;
  const TypePtr old = lock_own_type(session, name);
  UserType changed = *old;
  const auto column = std::ranges::find(changed.attributes, attribute, &Column::name);
  if (column == changed.attributes.end()) {
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                attribute, old->name);
  }
  column->comment = text;
  replace_type(session, *old, std::move(changed));
  return true;
}

void rename_attribute(StatementContext& session, const ast::RenameStmt& statement) {
  const TypePtr old = lock_own_composite(session, *statement.relation);
  UserType type = *old;
  const auto attribute = std::ranges::find(type.attributes, statement.subname, &Column::name);
  if (attribute == type.attributes.end()) {
    throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", statement.subname);
  }
  if (std::ranges::find(type.attributes, statement.newname, &Column::name) !=
      type.attributes.end()) {
    throw_error(sqlstate::duplicate_column, "column \"{}\" of relation \"{}\" already exists",
                statement.newname, type.name);
  }
  attribute->name = statement.newname;
  replace_type(session, *old, type);
  require_field_unnamed(session, type, statement.subname);
}

}  // namespace swizzle::sql
