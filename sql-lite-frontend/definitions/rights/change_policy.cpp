#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// ALTER, RENAME and DROP of policies.
namespace swizzle::sql {
namespace {

using Parts = ast::NodeList;

/// Returns the table in a policy's name: all parts but the last.
ast::RangeVar table_before(Parts object) {
  ast::RangeVar range;
  const Parts names = object.first(object.size() - 1);
  range.relname = ast::string_of(names.back());
  if (names.size() > 1) range.schemaname = ast::string_of(names[names.size() - 2]);
  range.location = -1;
  return range;
}

std::vector<Policy>::iterator require_policy(Relation& relation, std::string_view name) {
  const auto found = std::ranges::find(relation.policies, name, &Policy::name);
  if (found != relation.policies.end()) return found;
  throw_error(sqlstate::undefined_object, "policy \"{}\" for table \"{}\" does not exist", name,
              relation.name);
}

void refuse_index(const NamedRelation& found) {
  if (found.index == nullptr) return;
  throw sql_error(sqlstate::wrong_object_type, "cannot open relation \"{}\"", found.index->name)
      .with_detail("This operation is not supported for indexes.");
}

/// Locks the table. Checks that the policy exists before the ownership of the table, as PostgreSQL
/// does; its error for a missing policy calls the table a relation.
TablePtr own_table_with(StatementContext& session, const ast::RangeVar& range,
                        std::string_view policy, lock::RelationMode mode) {
  const NamedRelation found = require_named_relation(session, range);
  refuse_index(found);
  Relation relation = found.table->relation;
  require_policy(relation, policy);
  if (!session.rights.owns(relation.owner)) {
    throw_error(sqlstate::insufficient_privilege, "must be owner of relation {}", relation.name);
  }
  require_alterable(session, found);
  return session.rights.lock_own(found.table, mode);
}

}  // namespace

std::string described(StatementContext& session, const Table& table, const Policy& policy) {
  return fmt::format("policy {} on {}", quote_identifier(policy.name), described(session, table));
}

void drop_policy(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  for (const ast::Node* node : statement.objects) {
    const Parts object = ast::as<ast::List>(node).items;
    const std::string_view name = ast::string_of(object.back());
    const ast::RangeVar range = table_before(object);
    const auto skip = [&](std::string_view missing) { notice_missing(session, sink, missing); };
    if (statement.missing_ok) {
      if (!range.schemaname.empty() && !session.names.schema_exists(range.schemaname)) {
        skip(fmt::format("schema \"{}\"", range.schemaname));
        continue;
      }
      const auto found = find_named_relation(session, range);
      if (!found) {
        skip(fmt::format("relation \"{}{}{}\"", range.schemaname,
                         range.schemaname.empty() ? "" : ".", range.relname));
        continue;
      }
      refuse_index(*found);
      const auto& policies = found->table->relation.policies;
      if (std::ranges::find(policies, name, &Policy::name) == policies.end()) {
        skip(fmt::format("policy \"{}\" for relation \"{}\"", name, range.relname));
        continue;
      }
    }
    const TablePtr table =
        own_table_with(session, range, name, lock::RelationMode::access_exclusive);
    Relation relation = table->relation;
    relation.policies.erase(require_policy(relation, name));
    session.catalog.replace(*session.transaction, *table, std::move(relation));
  }
}

void rename_policy(StatementContext& session, const ast::RenameStmt& statement) {
  const TablePtr table = table_of_policy(session, *statement.relation);
  Relation relation = table->relation;
  if (std::ranges::find(relation.policies, statement.newname, &Policy::name) !=
      relation.policies.end()) {
    throw_error(sqlstate::duplicate_object, "policy \"{}\" for table \"{}\" already exists",
                statement.newname, relation.name);
  }
  require_policy(relation, statement.subname)->name = statement.newname;
  std::ranges::sort(relation.policies, {}, &Policy::name);
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

void comment_on_policy(StatementContext& session, Parts object, std::string_view text) {
  const std::string_view name = ast::string_of(object.back());
  const TablePtr table = own_table_with(session, table_before(object), name,
                                        lock::RelationMode::share_update_exclusive);
  Relation relation = table->relation;
  require_policy(relation, name)->comment = text;
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

void forget_policies_of(StatementContext& session, std::span<const RolePtr> roles) {
  const auto is_one = [&](Oid oid) {
    return std::ranges::any_of(roles, [oid](const RolePtr& role) { return role->oid == oid; });
  };
  NamedObjects named;
  for (const RolePtr& role : roles) named.push_back(role->oid);
  for (const TablePtr& table : session.catalog.naming<Table>(named)) {
    const bool names_any = std::ranges::any_of(table->relation.policies, [&](const Policy& policy) {
      return std::ranges::any_of(policy.roles, is_one);
    });
    if (!names_any) continue;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    Relation relation = locked->relation;
    for (Policy& policy : relation.policies) std::erase_if(policy.roles, is_one);
    std::erase_if(relation.policies, [](const Policy& policy) { return policy.roles.empty(); });
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
}

}  // namespace swizzle::sql
