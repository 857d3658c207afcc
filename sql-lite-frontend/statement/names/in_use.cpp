#include "sql-lite-frontend/statement/names/in_use.h"

#include <algorithm>

#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kObjectInUse{"55006"};

/// `name` is the object in use that the error names: the table, or one of its indexes.
void require_not_running(const StatementContext& session, const Table& table,
                         std::string_view command, std::string_view name) {
  if (!session.tables_in_use.contain(table.relation.oid)) return;
  throw_error(kObjectInUse,
              "cannot {} \"{}\" because it is being used by active queries in this session",
              command, name);
}

/// Words for a missing object that a constant of the type names.
struct Missing {
  std::string_view noun;
  SqlState code;
};

Missing missing_of(TypeId constant) {
  switch (constant) {
    case TypeId::regclass:
      return {"relation", sqlstate::undefined_table};
    case TypeId::regtype:
      return {"type", sqlstate::undefined_object};
    case TypeId::regnamespace:
      return {"schema", sqlstate::invalid_schema_name};
    case TypeId::regcollation:
      return {"collation", sqlstate::undefined_object};
    case TypeId::regoper:
    case TypeId::regoperator:
      return {"operator", sqlstate::undefined_function};
    case TypeId::regproc:
    case TypeId::regprocedure:
    case TypeId::none:
      return {"function", sqlstate::undefined_function};
    default:
      return {constant == builtin_id::regconfig ? "text search configuration"
                                                : "text search dictionary",
              sqlstate::undefined_object};
  }
}

}  // namespace

void require_unused(const StatementContext& session, const Table& table, std::string_view command) {
  if (!keeps_rows(table.relation.kind) && !table.relation.is_partitioned()) return;
  require_not_running(session, table, command, table.relation.name);
  if (!session.transaction.awaits_checks_of(table.relation.oid)) return;
  throw_error(kObjectInUse, "cannot {} \"{}\" because it has pending trigger events", command,
              table.relation.name);
}

void require_indexes_unused(const StatementContext& session, const Table& table,
                            std::string_view command) {
  const std::vector<Index>& indexes = table.relation.indexes;
  if (!indexes.empty()) require_not_running(session, table, command, indexes.front().name);
}

void require_index_unused(const StatementContext& session, const Table& table,
                          std::string_view index) {
  require_not_running(session, table, "DROP INDEX", index);
}

void require_type_usage(StatementContext& session, TypeId type) {
  if (!is_user_type(type)) return;
  const TypePtr known = session.names.user_type(without_array(type));
  if (known && !session.rights.may_use(*known)) {
    throw_error(sqlstate::insufficient_privilege, "permission denied for type {}",
                session.names.user_type_name(known->id()).value_or(known->name));
  }
}

void require_type_usage(StatementContext& session, const std::vector<ViewType>& named) {
  // Collations are listed, too.
  for (const ViewType& one : named) require_type_usage(session, TypeId{one.type});
}

void hold_named(StatementContext& session, std::span<const ViewRoutine> named) {
  for (const ViewRoutine& one : named) {
    const Oid oid = one.routine;
    const TypeId constant = constant_of_record(one.name);
    if (constant == TypeId::regrole) {
      throw SqlError{sqlstate::feature_not_supported,
                     "constant of the type regrole cannot be used here"};
    }
    if (oid < kFirstUserOid) continue;
    const bool is_type = constant == TypeId::regtype;
    session.catalog.hold(*session.transaction, is_type ? raw(without_array(TypeId{oid})) : oid);
    // The object may have been dropped while this waited.
    const bool is_there = constant == TypeId::none
                              ? session.catalog.routine(oid) || session.names.made_operator(oid)
                              : session.names.name_of(constant, oid).has_value();
    if (is_there) continue;
    std::string_view name = one.name;
    const bool is_operator = is_operator_record(name);
    if (name.starts_with(kNoRoutine)) name.remove_prefix(name.find(' ') + 1);
    const Missing missing = missing_of(is_operator ? TypeId::regoper : constant);
    throw_error(missing.code, "{} \"{}\" does not exist", missing.noun, name);
  }
}

}  // namespace swizzle::sql
