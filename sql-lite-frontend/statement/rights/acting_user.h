#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Roles that a session acts as while it runs code of other users.
namespace swizzle::sql {

/// Gives the session that role's rights while it lives; restores the former ones afterwards, also
/// after an error.
class ActingUser {
 public:
  enum class As : std::uint8_t {
    itself,      ///< a script of the server's own
    definer,     ///< a routine with its owner's rights, an action of a key: it may not change roles
    restricted,  ///< nor leave anything behind that would run with the caller's rights later
  };
  ActingUser(StatementContext& session, Oid user, As as);
  ActingUser(const ActingUser&) = delete;
  ActingUser& operator=(const ActingUser&) = delete;
  ~ActingUser();

  /// A change of the user changes the session's plans and the meaning of "$user", too.
  static void change(StatementContext& session, Oid user) noexcept;

 private:
  StatementContext& session_;
  Oid user_;
  Oid acting_;
  bool is_definer_;
  bool is_restricted_;
};

/// Runs, for its lifetime, functions that a relation's owner has put into its indexes or its query,
/// with the owner's rights and the search path "pg_catalog, pg_temp". They must not get the rights
/// of the user that asked for the maintenance, perhaps a superuser. Settings that they change are
/// restored afterwards.
class AsOwner {
 public:
  AsOwner(StatementContext& session, Oid owner);
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner();

 private:
  StatementContext& session_;
  SessionSettings::Mark mark_;
  std::uint64_t settings_version_;
  ActingUser acting_;
};

/// 42501 for "role" and "session_authorization" while the session runs with another role's rights.
void require_may_set(const StatementContext& session, std::string_view setting);
/// 42501, "cannot …", while functions of an owner run in maintenance.
void require_unrestricted(const StatementContext& session, std::string_view action);

}  // namespace swizzle::sql
