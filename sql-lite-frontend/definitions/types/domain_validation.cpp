#include "sql-lite-frontend/definitions/types/domain_validation.h"

#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// The domain, and those over it.
std::vector<TypeId> with_those_over(StatementContext& session, const UserType& domain) {
  std::vector<TypeId> all{domain.id()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const TypePtr& type : session.catalog.naming<UserType>({raw(all[i])})) {
      if (is_domain(type->id()) && type->base == all[i]) all.push_back(type->id());
    }
  }
  return all;
}

/// Returns the wanted domains that occur inside values of the type.
template <class Wanted>
TypeId container_of(StatementContext& session, TypeId type, const Wanted& is_wanted) {
  check_stack();
  const TypeId single = without_array(type);
  if (is_wanted(single)) return single;
  const TypePtr made = session.names.user_type(single);
  if (!made) return TypeId::none;
  if (const TypeId within = container_of(session, made->base, is_wanted); within != TypeId::none) {
    return within;
  }
  for (const Column& attribute : made->attributes) {
    const TypeId within = container_of(session, attribute.type, is_wanted);
    if (within != TypeId::none) return within;
  }
  return TypeId::none;
}

[[noreturn]] void fail(StatementContext& session, const Table& table, std::size_t position,
                       const SqlError& reason) {
  const std::string& column = table.relation.columns[position].name;
  const bool is_null = reason.state() == sqlstate::not_null_violation;
  SqlError error =
      is_null ? sql_error(sqlstate::not_null_violation,
                          "column \"{}\" of table \"{}\" contains null values", column,
                          table.relation.name)
              : sql_error(sqlstate::check_violation,
                          "column \"{}\" of table \"{}\" contains values that violate the new "
                          "constraint",
                          column, table.relation.name);
  error.fields().schema = session.names.schema_name(table.relation.schema);
  error.fields().table = table.relation.name;
  error.fields().column = column;
  throw error;
}

/// A table with columns of the domain, or of one over it.
struct Holder {
  TablePtr table;
  std::vector<std::size_t> positions;
};

std::vector<Holder> holders_of(StatementContext& session, const UserType& domain) {
  const std::vector<TypeId> wanted = with_those_over(session, domain);
  const auto is_wanted = [&](TypeId type) {
    return std::ranges::find(wanted, type) != wanted.end();
  };
  NamedObjects containers;
  for (const TypeId type : types_with(session, domain.id())) containers.push_back(raw(type));
  std::vector<Holder> holders;
  for (const TablePtr& table : session.catalog.naming<Table>(containers)) {
    if (!keeps_rows(table->relation.kind)) continue;
    Holder holder{table, {}};
    for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
      const Column& column = table->relation.columns[i];
      if (column.dropped) continue;
      if (is_wanted(column.type)) {
        holder.positions.push_back(i);
      } else if (const TypeId within = container_of(session, column.type, is_wanted);
                 within != TypeId::none) {
        throw_error(sqlstate::feature_not_supported,
                    "cannot alter type \"{}\" because column \"{}.{}\" uses it",
                    session.names.user_type_name(within).value_or(""), table->relation.name,
                    column.name);
      }
    }
    if (!holder.positions.empty()) holders.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace

void validate_domain(StatementContext& session, const UserType& domain, const UserType& rules) {
  DomainRules asked{session, rules};
  for (const auto& [table, positions] : holders_of(session, domain)) {
    const TablePtr locked =
        session.catalog.lock_for_change(*session.transaction, table, lock::RelationMode::share);
    visit_rows(session, locked, [&](std::span<const Value> row) {
      for (const std::size_t position : positions) {
        if (const auto refusal = asked.refusal(session, row[position])) {
          fail(session, *locked, position, *refusal);
        }
      }
    });
  }
}

}  // namespace swizzle::sql
