#include "sql-lite-frontend/query/bind/testing/fixed_names.h"

#include <catch2/catch.hpp>
#include <utility>

#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kFirstOid = 20'000;
/// Each table has room for the numbers of its own objects.
constexpr std::uint32_t kOidsEach = 10;

/// Returns a function that nothing calls while a statement is bound.
const Function& any_function() {
  return *functions_named("abs").front();
}

Relation relation_of(std::string name, std::vector<FixedNames::ColumnOf> columns,
                     std::size_t number) {
  Relation relation;
  relation.oid = Oid{kFirstOid + static_cast<std::uint32_t>(number) * kOidsEach};
  relation.name = std::move(name);
  for (FixedNames::ColumnOf& column : columns) {
    Column made;
    made.name = std::move(column.name);
    made.type = column.type;
    made.collation = column.collation;
    made.identity = column.identity;
    made.generated = column.generated;
    made.default_sql = std::move(column.default_sql);
    relation.columns.push_back(std::move(made));
  }
  return relation;
}

}  // namespace

const Table& FixedNames::add(Relation relation) {
  auto table = std::make_shared<Table>();
  table->relation = std::move(relation);
  for (const Column& column : table->relation.columns)
    table->column_types.push_back(column.expression_type());
  if (const Index* const key = table->primary_key()) {
    for (const IndexColumn& part : key->columns)
      table->key_positions.push_back(static_cast<std::size_t>(part.column - 1));
  }
  for (const Index& index : table->relation.indexes) table->indexes.emplace_back().index = &index;
  table->runtime = std::make_shared<TableRuntime>();
  tables_.push_back(std::move(table));
  return *tables_.back();
}

const Table& FixedNames::add_table(std::string name, std::vector<ColumnOf> columns,
                                   std::initializer_list<std::int16_t> key) {
  Relation relation = relation_of(std::move(name), std::move(columns), tables_.size());
  if (key.size() != 0) {
    Index index;
    index.oid = Oid{static_cast<std::uint32_t>(relation.oid) + 1};
    index.name = relation.name + "_pkey";
    index.unique = index.primary = true;
    Constraint constraint;
    constraint.oid = Oid{static_cast<std::uint32_t>(relation.oid) + 2};
    constraint.name = index.name;
    constraint.kind = ConstraintKind::primary_key;
    constraint.index = index.oid;
    for (const std::int16_t place : key) {
      Column& column = relation.columns[static_cast<std::size_t>(place)];
      column.not_null = true;
      IndexColumn part;
      part.column = static_cast<std::int16_t>(place + 1);
      part.type = column.type;
      index.columns.push_back(part);
      constraint.columns.push_back(part.column);
    }
    relation.indexes.push_back(std::move(index));
    relation.constraints.push_back(std::move(constraint));
  }
  return add(std::move(relation));
}

const Table& FixedNames::add_view(std::string name, std::vector<ColumnOf> columns,
                                  std::string sql) {
  Relation relation = relation_of(std::move(name), std::move(columns), tables_.size());
  relation.kind = RelationKind::view;
  relation.view_sql = std::move(sql);
  for (const TablePtr& table : tables_) {
    ViewName& name_of = relation.view_names.emplace_back();
    name_of.name = table->relation.name;
    name_of.relation = table->relation.oid;
    for (const Column& column : table->relation.columns)
      name_of.columns.push_back(
          {static_cast<std::int16_t>(name_of.columns.size() + 1), column.name});
  }
  return add(std::move(relation));
}

TablePtr FixedNames::find_table(std::string_view schema, std::string_view name) {
  if (!schema.empty() && schema != "public") return nullptr;
  for (const TablePtr& table : tables_) {
    if (table->relation.name == name) return table;
  }
  return nullptr;
}

TablePtr FixedNames::table(Oid oid) {
  for (const TablePtr& table : tables_) {
    if (table->relation.oid == oid) return table;
  }
  return nullptr;
}

const Function& FixedNames::identity_numbers() {
  return any_function();
}

const RowIdentityFunctions& FixedNames::row_identity_functions() {
  static const RowIdentityFunctions functions{.number = any_function(),
                                              .key = any_function(),
                                              .key_to_write = any_function(),
                                              .keys = any_function(),
                                              .first_id_from = any_function(),
                                              .first_id_after = any_function(),
                                              .stamp = any_function(),
                                              .changer = any_function(),
                                              .no_changer = any_function(),
                                              .no_command = any_function(),
                                              .no_last_command = any_function(),
                                              .ender = any_function()};
  return functions;
}

void TestBinding::renew() {
  binder_ = std::make_unique<Binder>(names, arena);
}

const ast::Node* TestBinding::parse(const std::string& text) {
  const auto statements = parse_script(arena, text);
  REQUIRE(statements.size() == 1);
  renew();
  return statements[0]->stmt;
}

std::unique_ptr<Query> TestBinding::query(const std::string& text) {
  const ast::Node* const statement = parse(text);
  return binder_->bind_select(ast::as<ast::SelectStmt>(statement), nullptr);
}

std::unique_ptr<WriteStatement> TestBinding::write(const std::string& text) {
  const ast::Node* const statement = parse(text);
  if (const auto* insert = ast::try_as<ast::InsertStmt>(statement))
    return binder_->bind_insert(*insert, nullptr);
  if (const auto* update = ast::try_as<ast::UpdateStmt>(statement))
    return binder_->bind_update(*update, nullptr);
  if (const auto* merge = ast::try_as<ast::MergeStmt>(statement))
    return binder_->bind_merge(*merge, nullptr);
  return binder_->bind_delete(ast::as<ast::DeleteStmt>(statement), nullptr);
}

std::string TestBinding::error(const std::string& text) {
  try {
    if (ast::try_as<ast::SelectStmt>(parse(text)) != nullptr)
      query(text);
    else
      write(text);
  } catch (const SqlError& error) {
    std::string told = std::string{error.state().code()} + " " + error.what();
    if (!error.error().hint().empty()) told += "\n" + error.error().hint();
    return told;
  }
  return "bound";
}

std::string TestBinding::targets(const std::string& text) {
  std::string all;
  const auto bound = query(text);
  for (const OutputTarget& target : bound->targets) {
    if (!all.empty()) all += ", ";
    all += target.name + " " + format_type(target.type);
  }
  return all;
}

std::vector<TypeId> TestBinding::parameters(const std::string& text, std::vector<TypeId> declared) {
  const ast::Node* const statement = parse(text);
  binder_->allow_parameters(declared);
  binder_->bind_select(ast::as<ast::SelectStmt>(statement), nullptr);
  binder_->require_parameter_types();
  return binder_->parameter_types();
}

}  // namespace swizzle::sql
