#include <algorithm>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Decides to which roles policies apply.
namespace swizzle::sql {
namespace {

enum class Standing : std::uint8_t {
  free,     ///< exempt from policies
  subject,  ///< policies apply
  subject_owner,
};

Standing standing_of(const StatementContext& session, const Relation& relation, Oid role) {
  const RolePtr known = session.catalog.role(role);
  if (known && (known->superuser || known->bypass_rls)) return Standing::free;
  const std::vector<Oid> rights = session.rights.roles_of(role);
  const bool owns = std::ranges::find(rights, relation.owner) != rights.end();
  if (!owns) return Standing::subject;
  return relation.forces_row_security ? Standing::subject_owner : Standing::free;
}

}  // namespace

bool SessionNames::applies_policies(const Table& table, Oid role) {
  const Relation& relation = table.relation;
  if (!relation.row_security) return false;
  const Standing standing = standing_of(session_, relation, role == kNoOid ? session_.user : role);
  if (standing == Standing::free) return false;
  if (session_.settings.boolean("row_security")) return true;
  SqlError error = sql_error(sqlstate::insufficient_privilege,
                             "query would be affected by row-level security policy for table "
                             "\"{}\"",
                             relation.name);
  if (standing == Standing::subject_owner) {
    throw std::move(error).with_hint(
        "To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL "
        "SECURITY.");
  }
  throw error;
}

bool SessionNames::is_for(const Policy& policy, Oid role) {
  const std::vector<Oid> rights = session_.rights.roles_of(role == kNoOid ? session_.user : role);
  return std::ranges::any_of(policy.roles, [&](Oid one) {
    return one == kPublic || std::ranges::find(rights, one) != rights.end();
  });
}

bool SessionNames::hides_rows(const Table& table) {
  return table.relation.row_security &&
         standing_of(session_, table.relation, session_.user) != Standing::free;
}

}  // namespace swizzle::sql
