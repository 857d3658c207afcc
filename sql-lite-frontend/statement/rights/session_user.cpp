#include "sql-lite-frontend/statement/rights/session_user.h"

namespace swizzle::sql {
namespace {

RolePtr require_role(const StatementContext& session, std::string_view name) {
  RolePtr role = session.catalog.role(name);
  if (!role) throw_error(sqlstate::invalid_parameter_value, "role \"{}\" does not exist", name);
  return role;
}

bool may_be_session_user(const StatementContext& session, Oid role) {
  return role == session.login || session.rights.is_superuser(session.login);
}

bool may_be_current_user(const StatementContext& session, Oid role) {
  return session.rights.may_set_role(session.session_user, role);
}

/// Returns the role that a setting's text named when it was set. The right to name it was not
/// checked for a text from a role, a database or a start-up packet. Without the right, or if there
/// is no such role, the text means `otherwise`, also later.
template <class MayBe>
Oid meant_by(StatementContext& session, std::map<std::string, Oid>& known, const std::string& name,
             Oid otherwise, const MayBe& may_be) {
  auto found = known.find(name);
  if (found == known.end()) {
    const RolePtr role = session.catalog.role(name);
    const bool allowed = role && may_be(session, role->oid);
    found = known.emplace(name, allowed ? role->oid : kNoOid).first;
  }
  return found->second == kNoOid ? otherwise : found->second;
}

}  // namespace

std::string session_user_name(const StatementContext& session) {
  const RolePtr role = session.catalog.role(session.session_user);
  return role ? role->name : session.options.user;
}

std::string current_user_name(const StatementContext& session) {
  const RolePtr role = session.catalog.role(session.user);
  if (!role) throw_error(sqlstate::undefined_object, "invalid role OID: {}", session.user);
  return role->name;
}

void name_session_user(StatementContext& session, std::string_view name) {
  const RolePtr role = require_role(session, name);
  if (!may_be_session_user(session, role->oid)) {
    throw SqlError{sqlstate::insufficient_privilege,
                   "permission denied to set session authorization"};
  }
  session.known_session_users[role->name] = role->oid;
}

void name_current_user(StatementContext& session, std::string_view name) {
  const RolePtr role = require_role(session, name);
  if (!may_be_current_user(session, role->oid)) {
    throw_error(sqlstate::insufficient_privilege, "permission denied to set role \"{}\"", name);
  }
  session.known_current_users[role->name] = role->oid;
}

void StatementContext::choose_user() {
  const std::string authorization = settings.text("session_authorization");
  session_user = authorization.empty() ? login
                                       : meant_by(*this, known_session_users, authorization, login,
                                                  may_be_session_user);
  const std::string role = settings.text("role");
  user = role == "none"
             ? session_user
             : meant_by(*this, known_current_users, role, session_user, may_be_current_user);
  // A routine with its owner's rights keeps them, whatever it sets.
  if (acting_user != kNoOid) user = acting_user;
}

}  // namespace swizzle::sql
