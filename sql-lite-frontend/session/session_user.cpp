#include "sql-lite-frontend/session/session_user.h"

namespace swizzle::sql {
namespace {

bool is_for_superuser(const Session::State& session) {
  const RolePtr login = session.catalog.role(session.options.user);
  return login && login->superuser;
}

}  // namespace

std::string session_user_name(const Session::State& session) {
  std::string named = session.settings.text("session_authorization");
  // The setting may come from a role or a start-up packet, where nobody has asked for the right.
  if (named.empty() || !is_for_superuser(session)) return session.options.user;
  return named;
}

void require_session_authorization(const Session::State& session, std::string_view name) {
  if (!session.catalog.role(name)) {
    throw_error(sqlstate::invalid_parameter_value, "role \"{}\" does not exist", name);
  }
  if (name == session.options.user || is_for_superuser(session)) return;
  throw SqlError{sqlstate::insufficient_privilege,
                 "permission denied to set session authorization"};
}

/// SET ROLE: to a role that the session's user is a member of.
void Session::State::require_membership(std::string_view name) const {
  const RolePtr role = catalog.role(name);
  if (!role) {
    throw_error(sqlstate::invalid_parameter_value, "role \"{}\" does not exist", name);
  }
  const RolePtr self = catalog.role(session_user_name(*this));
  if (self && (self->superuser || is_member(self->oid, role->oid))) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied to set role \"{}\"", name);
}

/// Asked here and not only by SET: a role's or database's stored settings and a start-up packet
/// name roles, too. A role that is gone leaves the session as who it was.
void Session::State::choose_user() {
  const RolePtr self = catalog.role(session_user_name(*this));
  if (!self) return;
  const std::string name = settings.text("role");
  const RolePtr wanted = name == "none" ? self : catalog.role(name);
  if (!wanted) return;
  user = self->superuser || is_member(self->oid, wanted->oid) ? wanted : self;
}

}  // namespace swizzle::sql
