#include "sql-lite-frontend/statement/rights/acting_user.h"

#include "base/ascii.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

ActingUser::ActingUser(StatementContext& session, Oid user, As as)
    : session_(session),
      user_(session.user),
      acting_(session.acting_user),
      is_definer_(session.in_definer),
      is_restricted_(session.is_restricted) {
  session.acting_user = user;
  // Restrictions accumulate: a routine called from a restricted one is restricted, whatever its
  // owner.
  session.in_definer |= as == As::definer;
  session.is_restricted |= as == As::restricted;
  change(session, user);
}

ActingUser::~ActingUser() {
  session_.acting_user = acting_;
  session_.in_definer = is_definer_;
  session_.is_restricted = is_restricted_;
  change(session_, user_);
}

void ActingUser::change(StatementContext& session, Oid user) noexcept {
  if (session.user == user) return;
  session.user = user;
  session.names.forget_search_path();
  session.inner.forget_role();
}

AsOwner::AsOwner(StatementContext& session, Oid owner)
    : session_(session),
      mark_(session.settings.mark()),
      settings_version_(session.variables.version()),
      acting_(session, owner, ActingUser::As::restricted) {
  // Functions find only what they name with its schema: names of the caller's path mean nothing.
  value_of(session.settings.set("search_path", "pg_catalog, pg_temp",
                                SessionSettings::Lifetime::transaction));
  session.variables.changed(nullptr);
  session.variables.begin_inner();
}

AsOwner::~AsOwner() {
  session_.settings.roll_back_to(mark_);
  session_.variables.changed(nullptr);
  session_.variables.end_inner(settings_version_);
}

void StatementContext::run_as_owner(Oid owner, const std::function<void()>& body) {
  const ActingUser acting{*this, owner, ActingUser::As::definer};
  body();
}

void require_may_set(const StatementContext& session, std::string_view setting) {
  if (!session.in_definer && !session.is_restricted) return;
  const std::string lower = lower_case(setting);
  if (lower != "role" && lower != "session_authorization") return;
  throw_error(sqlstate::insufficient_privilege, "cannot set parameter \"{}\" within {}", lower,
              session.in_definer ? "security-definer function" : "security-restricted operation");
}

void require_unrestricted(const StatementContext& session, std::string_view action) {
  if (!session.is_restricted) return;
  throw_error(sqlstate::insufficient_privilege, "cannot {} within security-restricted operation",
              action);
}

}  // namespace swizzle::sql
