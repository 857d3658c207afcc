#include "sql-lite-frontend/execution/write/constraint_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/write/deferrable_keys.h"
#include "sql-lite-frontend/execution/write/exclusion.h"
#include "sql-lite-frontend/execution/write/table_references.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

std::string table_name(NameSource& names, const Table& table) {
  return quote_identifier(names.schema_name(table.relation.schema)) + "." +
         quote_identifier(table.relation.name);
}

std::string column_name(const Table& table, std::int16_t number) {
  return quote_identifier(table.relation.columns[static_cast<std::size_t>(number - 1)].name);
}

std::string equal_all(const Table& table, std::span<const std::int16_t> columns) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += " AND ";
    text += fmt::format("{} = ${}", column_name(table, columns[i]), i + 1);
  }
  return text;
}

std::vector<TypeId> types_of(const Table& table, std::span<const std::int16_t> columns) {
  std::vector<TypeId> types;
  for (const std::int16_t number : columns) {
    types.push_back(table.relation.columns[static_cast<std::size_t>(number - 1)].type);
  }
  return types;
}

bool any_null(std::span<const Value> values) {
  return std::ranges::any_of(values, [](const Value& value) { return value.is_null(); });
}

bool same_values(std::span<const TypeId> types, std::span<const Value> left,
                 std::span<const Value> right) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (left[i].is_null() != right[i].is_null()) return false;
    if (!left[i].is_null() && compare_values(types[i], left[i], right[i]) != 0) return false;
  }
  return true;
}

std::vector<Value> values_of(std::span<const Value> row, std::span<const std::int16_t> columns) {
  std::vector<Value> values;
  values.reserve(2 * columns.size());
  for (const std::int16_t number : columns) {
    values.push_back(row[static_cast<std::size_t>(number - 1)]);
  }
  return values;
}

void run_deferred_check(StatementServices& services, NameSource& names,
                        const DeferredCheck& check) {
  const TablePtr table = names.table(check.relation);
  if (!table) return;
  switch (check.kind) {
    case DeferredCheck::Kind::refers:
      return check_deferred_reference(services, names, table, check);
    case DeferredCheck::Kind::given_up:
      return check_deferred_removal(services, names, table, check);
    case DeferredCheck::Kind::is_unique:
      return check_deferred_key(services, names, table, check);
    case DeferredCheck::Kind::excludes:
      return check_deferred_exclusion(services, names, table, check);
    case DeferredCheck::Kind::after_insert:
    case DeferredCheck::Kind::after_update:
    case DeferredCheck::Kind::after_delete:
      return services.fire_deferred(table, check);
  }
}

void throw_diagnostic(const Diagnostic& diagnostic) {
  SqlError error{diagnostic.state, diagnostic.message};
  error = std::move(error).with_detail(diagnostic.detail);
  error.fields().schema = diagnostic.schema;
  error.fields().table = diagnostic.table;
  error.fields().constraint = diagnostic.constraint;
  throw error;
}

}  // namespace swizzle::sql
