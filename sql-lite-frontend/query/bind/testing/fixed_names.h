#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/arena.h"

namespace swizzle::sql {

/// Names for tests of the binder: tables that exist in memory alone, all in the schema "public",
/// and the built-in types and functions.
class FixedNames final : public NameSource {
 public:
  /// A column's definition, as much of it as binding asks.
  struct ColumnOf {
    std::string name;
    TypeId type;
    Oid collation = kNoOid;
    char identity = 0;
    bool generated = false;
    std::string default_sql = {};
  };
  /// Adds a table. Its primary key has the columns at `key` (from 0), which may be none.
  const Table& add_table(std::string name, std::vector<ColumnOf> columns,
                         std::initializer_list<std::int16_t> key = {});
  /// Adds a view over the query `sql`.
  const Table& add_view(std::string name, std::vector<ColumnOf> columns, std::string sql);

  TablePtr find_table(std::string_view schema, std::string_view name) override;
  TablePtr table(Oid oid) override;
  std::vector<TablePtr> referencing_tables(Oid /*referenced*/) override { return {}; }
  std::string schema_name(Oid /*schema*/) override { return "public"; }
  bool schema_exists(std::string_view schema) override { return schema == "public"; }
  TypePtr find_user_type(std::string_view /*schema*/, std::string_view /*name*/) override {
    return nullptr;
  }
  TypePtr user_type(TypeId /*type*/) override { return nullptr; }
  SessionContext& context() override { return context_; }
  const Function& identity_numbers() override;
  const RowIdentityFunctions& row_identity_functions() override;
  std::string current_database() override { return "tests"; }

 private:
  const Table& add(Relation relation);

  SessionContext context_;
  std::vector<TablePtr> tables_;
};

/// Binds texts over FixedNames.
class TestBinding {
 public:
  FixedNames names;

  TestBinding() { renew(); }

  /// Binds the only statement of the text with a fresh binder.
  std::unique_ptr<Query> query(const std::string& text);
  std::unique_ptr<WriteStatement> write(const std::string& text);
  /// Returns "SQLSTATE message" of the error of binding the text, and its hint after a line break;
  /// "bound" if there is none.
  std::string error(const std::string& text);
  /// Returns the outputs of a query as "name type, …".
  std::string targets(const std::string& text);
  /// Returns the types of the statement's parameters after binding it.
  std::vector<TypeId> parameters(const std::string& text, std::vector<TypeId> declared = {});

  [[nodiscard]] Binder& binder() { return *binder_; }
  Arena arena;

 private:
  const ast::Node* parse(const std::string& text);
  void renew();

  std::unique_ptr<Binder> binder_;
};

}  // namespace swizzle::sql
