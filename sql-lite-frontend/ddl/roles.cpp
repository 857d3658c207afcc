#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/ddl/dependents.h"
#include "sql-lite-frontend/ddl/notice_missing.h"
#include "sql-lite-frontend/ddl/policy_definition.h"
#include "sql-lite-frontend/ddl/role_rights.h"
#include "sql-lite-frontend/ddl/statements.h"
#include "sql-lite-frontend/ddl/text_search.h"
#include "sql-lite-frontend/session/functions/session_user.h"
#include "sql-lite-frontend/session/statement_options.h"

/// CREATE, ALTER and DROP ROLE.
namespace swizzle::sql {
/// The role that a statement names; CURRENT_USER and its like are the session's.
RolePtr role_of(Session::State& session, const ast::RoleSpec& spec) {
  const bool by_number =
      spec.roletype != ast::RoleSpecType::public_ && spec.roletype != ast::RoleSpecType::cstring;
  if (by_number) {
    const Oid number =
        spec.roletype == ast::RoleSpecType::session_user ? session.session_user : session.user;
    RolePtr role = session.catalog.role(number);
    if (!role) throw_error(sqlstate::undefined_object, "role with OID {} does not exist", number);
    return role;
  }
  const bool everyone = spec.roletype == ast::RoleSpecType::public_;
  const std::string_view name = everyone ? "public" : spec.rolename;
  RolePtr role = session.catalog.role(name);
  if (!role) throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", name);
  return role;
}

namespace {

/// As PostgreSQL before version 14 made them of a password and a role's name.
bool is_md5_hash(std::string_view password) {
  constexpr std::string_view kPrefix = "md5";
  constexpr std::size_t kDigits = 32;
  return password.starts_with(kPrefix) && password.size() == kPrefix.size() + kDigits &&
         password.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

/// Returns the stored form of a password: a verifier as it came, or one derived from it, if there
/// is a server.
std::string verifier_of(const Database::Shared& shared, std::string_view password) {
  if (password.empty() || password.starts_with("SCRAM-SHA-256$")) return std::string{password};
  // Taken for a password in clear text, the hash would be what opens the door.
  if (is_md5_hash(password)) {
    throw SqlError{sqlstate::feature_not_supported, "passwords hashed with MD5 are not supported"}
        .with_hint("Give the password itself, or its SCRAM-SHA-256 verifier.");
  }
  if (shared.derive_verifier) return shared.derive_verifier(password);
  throw SqlError{sqlstate::feature_not_supported, "passwords in clear text are not supported"}
      .with_hint("Give the SCRAM-SHA-256 verifier, as psql's \\password does.");
}

/// The moment in its standard form: what a session's settings make of a text is settled now.
std::string moment_of(Session::State& session, std::string_view text) {
  Arena arena;
  FunctionContext given{arena, session.session_context, {}};
  const Value moment = input_text(given, TypeId::timestamptz, kNoTypmod, text);
  SessionContext standard;
  FunctionContext stored{arena, standard, {}};
  return to_text(stored, TypeId::timestamptz, moment);
}

void apply_role_options(Session::State& session, Role& role, ast::NodeList options) {
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    const std::string_view name = option.defname;
    const auto flag = [&] {
      if (const auto* boolean = ast::try_as<ast::Boolean>(option.arg)) return boolean->boolval;
      if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) return integer->ival != 0;
      return false;
    };
    if (name == "superuser") {
      role.superuser = flag();
    } else if (name == "inherit") {
      role.inherit = flag();
    } else if (name == "createrole") {
      role.create_role = flag();
    } else if (name == "createdb") {
      role.create_database = flag();
    } else if (name == "canlogin") {
      role.can_login = flag();
    } else if (name == "isreplication") {
      role.replication = flag();
    } else if (name == "bypassrls") {
      role.bypass_rls = flag();
    } else if (name == "connectionlimit") {
      role.connection_limit = ast::as<ast::Integer>(option.arg).ival;
    } else if (name == "validUntil") {
      role.valid_until =
          option.arg == nullptr ? "" : moment_of(session, ast::string_of(option.arg));
    } else if (name == "password") {
      const std::string_view text =
          option.arg == nullptr ? std::string_view{} : ast::string_of(option.arg);
      role.password_verifier = verifier_of(session.shared, text);
    } else if (name != "addroleto" && name != "rolemembers" && name != "adminmembers") {
      throw_error(sqlstate::feature_not_supported, "the role option {} is not supported", name);
    }
  }
}

/// A role that owns something, or has been granted something, stays.
void refuse_to_orphan(Session::State& session, const Role& role) {
  std::vector<std::string> reasons;
  const auto look = [&](Oid owner, const std::vector<Grant>& grants, const std::string& what) {
    if (owner == role.oid) {
      reasons.push_back("owner of " + what);
    } else if (std::ranges::any_of(grants, [&](const Grant& grant) {
                 return grant.grantee == role.oid || grant.grantor == role.oid;
               })) {
      reasons.push_back("privileges for " + what);
    }
  };
  for (const SchemaPtr& schema : session.catalog.schemas()) {
    look(schema->owner, schema->grants, "schema " + schema->name);
  }
  for (const TypePtr& type : session.catalog.types()) {
    look(type->owner, type->grants, "type " + type->name);
  }
  for (const RoutinePtr& routine : session.catalog.routines()) {
    look(routine->owner, routine->grants, described(session, *routine));
  }
  for (const CollationPtr& collation : session.catalog.all_made<UserCollation>()) {
    look(collation->owner, {}, "collation " + collation->name);
  }
  for (const UserTextDictionaryPtr& made : session.catalog.all_made<UserTextDictionary>())
    look(made->owner, {}, described(session, *made));
  for (const UserTextConfigPtr& made : session.catalog.all_made<UserTextConfig>())
    look(made->owner, {}, described(session, *made));
  for (const PublicationPtr& publication : session.catalog.all_made<Publication>()) {
    look(publication->owner, {}, "publication " + publication->name);
  }
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const std::string_view noun = relation.kind == RelationKind::view       ? "view"
                                  : relation.kind == RelationKind::sequence ? "sequence"
                                                                            : "table";
    look(relation.owner, relation.grants, fmt::format("{} {}", noun, relation.name));
    for (const Policy& policy : relation.policies) {
      if (std::ranges::find(policy.roles, role.oid) == policy.roles.end()) continue;
      reasons.push_back("target of " + described(session, *table, policy));
    }
    for (const Column& column : relation.columns) {
      if (relation.owner == role.oid) break;
      look(kNoOid, column.grants, fmt::format("column {} of table {}", column.name, relation.name));
    }
  }
  for (const DefaultGrants& defaults :
       read_default_grants(session.catalog.shared(), *session.transaction)) {
    look(defaults.role, defaults.grants, described(session.catalog, defaults));
  }
  for (const DatabasePtr& database : session.catalog.databases()) {
    look(database->owner, database->grants, "database " + database->name);
  }
  if (reasons.empty()) return;
  std::string detail;
  for (const std::string& reason : reasons) detail += (detail.empty() ? "" : "\n") + reason;
  throw sql_error(SqlState{"2BP01"},
                  "role \"{}\" cannot be dropped because some objects depend on it", role.name)
      .with_detail(std::move(detail));
}

}  // namespace

namespace {

/// Attributes that only superusers hand out.
void require_superuser_for(const Session::State& session, const Role& wanted) {
  if (session.rights.is_superuser(session.user)) return;
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::insufficient_privilege, "must be superuser to create {}", what);
  };
  if (wanted.superuser) refuse("superusers");
  if (wanted.replication) refuse("replication users");
  if (wanted.bypass_rls) refuse("bypassrls users");
}

bool names_option(ast::NodeList options, std::string_view name) {
  return std::ranges::any_of(options, [&](const ast::Node* option) {
    return ast::as<ast::DefElem>(option).defname == name;
  });
}

/// Throws if only a superuser may make the change: any change of a superuser or a replication role.
void require_superuser_for(const Session::State& session, const Role& role, ast::NodeList options) {
  if (session.rights.is_superuser(session.user)) return;
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::insufficient_privilege, "must be superuser to {}", what);
  };
  if (role.superuser || names_option(options, "superuser")) {
    refuse("alter superuser roles or change superuser attribute");
  }
  if (role.replication || names_option(options, "isreplication")) {
    refuse("alter replication roles or change replication attribute");
  }
  if (names_option(options, "bypassrls")) refuse("change bypassrls attribute");
}

/// The roles in an option of CREATE or ALTER ROLE.
std::vector<RolePtr> roles_in(Session::State& session, ast::NodeList options,
                              std::string_view name) {
  std::vector<RolePtr> roles;
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != name) continue;
    for (const ast::Node* spec : ast::as<ast::List>(option.arg).items) {
      roles.push_back(role_of(session, ast::as<ast::RoleSpec>(spec)));
    }
  }
  return roles;
}

}  // namespace

void require_right_on_roles(Session::State& session) {
  const RolePtr now = session.catalog.role(session.user);
  if (now && (now->superuser || now->create_role)) return;
  throw SqlError{sqlstate::insufficient_privilege, "permission denied"};
}

void create_role(Session::State& session, const ast::CreateRoleStmt& statement, ResultSink& sink) {
  refuse_repeats(statement.options);
  Role role;
  role.name = statement.role;
  role.can_login = statement.stmt_type == ast::RoleStmtType::user;
  apply_role_options(session, role, statement.options);
  require_superuser_for(session, role);
  session.rights.require_role_right(&Role::create_role, "create role");
  require_role_name(role.name);
  if (session.catalog.role(role.name)) {
    throw_error(sqlstate::duplicate_object, "role \"{}\" already exists", role.name);
  }
  role.oid = session.catalog.allocate_oid();
  const Oid oid = role.oid;
  session.catalog.create(*session.transaction, std::move(role));
  // IN ROLE, ADMIN and ROLE: what GRANT would do, asked for the same rights.
  for (const RolePtr& group : roles_in(session, statement.options, "addroleto")) {
    change_membership(session, {group->oid, oid, MembershipStep::give, session.user}, sink);
  }
  for (const RolePtr& member : roles_in(session, statement.options, "adminmembers")) {
    change_membership(session, {oid, member->oid, MembershipStep::give_with_admin, session.user},
                      sink);
  }
  for (const RolePtr& member : roles_in(session, statement.options, "rolemembers")) {
    change_membership(session, {oid, member->oid, MembershipStep::give, session.user}, sink);
  }
  sink.command_complete("CREATE ROLE");
}

void alter_role(Session::State& session, const ast::AlterRoleStmt& statement, ResultSink& sink) {
  refuse_repeats(statement.options);
  const RolePtr role = role_of(session, *statement.role);
  require_alterable(*role);
  // Every role may change its own password.
  const bool own_password = role->oid == session.user && statement.options.size() == 1 &&
                            ast::as<ast::DefElem>(statement.options[0]).defname == "password";
  require_superuser_for(session, *role, statement.options);
  if (!own_password) require_right_on_roles(session);
  if (names_option(statement.options, "rolemembers")) {
    // ALTER GROUP … ADD USER and DROP USER.
    const MembershipStep step = statement.action > 0 ? MembershipStep::give : MembershipStep::take;
    for (const RolePtr& member : roles_in(session, statement.options, "rolemembers")) {
      change_membership(session, {role->oid, member->oid, step, session.user}, sink);
    }
  } else {
    Role changed = *role;
    apply_role_options(session, changed, statement.options);
    session.catalog.replace(*session.transaction, *role, std::move(changed));
  }
  sink.command_complete("ALTER ROLE");
}

void drop_role(Session::State& session, const ast::DropRoleStmt& statement, ResultSink& sink) {
  session.rights.require_role_right(&Role::create_role, "drop role");
  for (const ast::Node* node : statement.roles) {
    const std::string name{ast::as<ast::RoleSpec>(node).rolename};
    const RolePtr role = session.catalog.role(name);
    if (!role) {
      if (!statement.missing_ok) {
        throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", name);
      }
      notice_missing(session, sink, fmt::format("role \"{}\"", name));
      continue;
    }
    if (role->oid == session.user) {
      throw SqlError{sqlstate::object_in_use, "current user cannot be dropped"};
    }
    if (role->superuser && !session.rights.is_superuser(session.user)) {
      throw SqlError{sqlstate::insufficient_privilege, "must be superuser to drop superusers"};
    }
    const bool is_session_user = role->oid == session.session_user;
    if (is_predefined(*role) || (role->oid == kBootstrapRole && !is_session_user)) {
      throw_error(SqlState{"2BP01"},
                  "cannot drop role {} because it is required by the database system", role->name);
    }
    if (is_session_user || role->oid == session.login) {
      throw SqlError{sqlstate::object_in_use, "session user cannot be dropped"};
    }
    // Granting an object to the role holds it.
    session.catalog.lock(*session.transaction, role->oid, lock::RelationMode::access_exclusive);
    refuse_to_orphan(session, *role);
    for (const RolePtr& other : session.catalog.roles()) {
      if (other->membership_in(role->oid) == nullptr) continue;
      Role changed = *other;
      std::erase_if(changed.member_of,
                    [&](const Membership& membership) { return membership.group == role->oid; });
      session.catalog.replace(*session.transaction, *other, std::move(changed));
    }
    session.catalog.remove(*session.transaction, *role);
  }
  sink.command_complete("DROP ROLE");
}

}  // namespace swizzle::sql
