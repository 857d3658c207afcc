// Dependencies of policies, read off their conditions.
#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/statement/names/shown_policy.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Adds the policies for which `wanted`, given a table and a condition, returns true.
template <class Wanted>
void add_policies(StatementContext& session, std::span<const TablePtr> tables, const Wanted& wanted,
                  const std::string& on, std::vector<Dependent>& list) {
  for (const TablePtr& table : tables) {
    for (const Policy& policy : table->relation.policies) {
      if (!wanted(table, policy.using_rows) && !wanted(table, policy.check)) continue;
      const std::string name = described(session, *table, policy);
      if (std::ranges::find(list, name, &Dependent::name) != list.end()) continue;
      list.push_back({Dependent::Kind::policy, table, policy.oid, 0, name, on});
    }
  }
}

}  // namespace

void add_policies_over(StatementContext& session, const Table& relation, const std::string& on,
                       std::vector<Dependent>& list) {
  const Oid oid = relation.relation.oid;
  add_policies(
      session, session.catalog.naming<Table>({oid}),
      [oid](const TablePtr& table, const PolicyCondition& condition) {
        return table->relation.oid != oid &&
               std::ranges::find(condition.names, oid, &ViewName::relation) !=
                   condition.names.end();
      },
      on, list);
}

void add_policies_over_column(StatementContext& session, const Table& relation,
                              std::size_t position, const std::string& on,
                              std::vector<Dependent>& list) {
  // The dependency index does not list the relation's own policies.
  std::vector<TablePtr> tables = session.catalog.naming<Table>({relation.relation.oid});
  const TablePtr own = session.catalog.table(relation.relation.oid);
  if (own) tables.push_back(own);
  std::ranges::sort(tables, {}, [](const TablePtr& table) { return table->relation.oid; });
  add_policies(
      session, tables,
      [&](const TablePtr& table, const PolicyCondition& condition) {
        return policy_reads(session, table, condition, relation, position);
      },
      on, list);
}

void add_policies_with_type(StatementContext& session, Oid type, const std::string& on,
                            std::vector<Dependent>& list) {
  // `type` may be an array type, which definitions name by its elements' type as well.
  add_policies(
      session, session.catalog.naming<Table>({type, raw(without_array(TypeId{type}))}),
      [type](const TablePtr&, const PolicyCondition& condition) {
        return std::ranges::find(condition.types, type, &ViewType::type) != condition.types.end() ||
               is_named_in(condition.routines, type);
      },
      on, list);
}

void add_policies_calling(StatementContext& session, Oid called, const std::string& on,
                          std::vector<Dependent>& list) {
  add_policies(
      session, session.catalog.naming<Table>({called}),
      [called](const TablePtr&, const PolicyCondition& condition) {
        return is_named_in(condition.routines, called);
      },
      on, list);
}

}  // namespace swizzle::sql
