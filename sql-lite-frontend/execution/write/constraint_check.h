#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

/// Common part of the constraint checks that run internal SQL statements: foreign keys and
/// deferrable keys.
namespace swizzle::sql {

/// "public.t"
std::string table_name(NameSource& names, const Table& table);
/// Returns the name of column `number`, counted from 1, quoted if necessary.
std::string column_name(const Table& table, std::int16_t number);
/// "a = $1 AND b = $2"
std::string equal_all(const Table& table, std::span<const std::int16_t> columns);
std::vector<TypeId> types_of(const Table& table, std::span<const std::int16_t> columns);
bool any_null(std::span<const Value> values);
bool same_values(std::span<const TypeId> types, std::span<const Value> left,
                 std::span<const Value> right);
/// The row's values of the columns.
std::vector<Value> values_of(std::span<const Value> row, std::span<const std::int16_t> columns);

/// Throws the violation if there still is one: the row may have been deleted meanwhile.
void run_deferred_check(StatementServices& services, NameSource& names, const DeferredCheck& check);
[[noreturn]] void throw_diagnostic(const Diagnostic& diagnostic);

}  // namespace swizzle::sql
