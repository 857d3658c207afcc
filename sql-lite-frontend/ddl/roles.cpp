#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/session_user.h"

/// CREATE, ALTER and DROP ROLE.
namespace swizzle::sql {
/// The role that a statement names; CURRENT_USER and its like are the session's.
RolePtr Session::State::role_of(const ast::RoleSpec& spec) {
  std::string name{spec.rolename};
  if (spec.roletype == ast::RoleSpecType::public_) name = "public";
  if (spec.roletype == ast::RoleSpecType::session_user) name = session_user_name(*this);
  if (name.empty()) name = user->name;
  const RolePtr role = catalog.role(name);
  if (!role) throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", name);
  return role;
}

namespace {

/// What is stored of a password: a verifier as it came, or one made of it, where a server can.
std::string verifier_of(const Database::Shared& shared, std::string_view password) {
  if (password.empty() || password.starts_with("SCRAM-SHA-256$")) return std::string{password};
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
    } else if (name != "addroleto" && name != "rolemembers") {
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
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const std::string_view noun = relation.kind == RelationKind::view       ? "view"
                                  : relation.kind == RelationKind::sequence ? "sequence"
                                                                            : "table";
    look(relation.owner, relation.grants, fmt::format("{} {}", noun, relation.name));
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

void Session::State::require_right_on_roles() const {
  const RolePtr now = catalog.role(user->oid);
  if (now && (now->superuser || now->create_role)) return;
  throw SqlError{SqlState{"42501"}, "permission denied"};
}

/// Rights that only a superuser hands out.
void Session::State::require_superuser_for(const Role& before, const Role& after) const {
  if (is_superuser(user->oid)) return;
  const auto refuse = [](std::string_view what) {
    throw_error(SqlState{"42501"}, "must be superuser to {}", what);
  };
  if (after.superuser != before.superuser) {
    refuse(before.oid == kNoOid ? "create superusers"
                                : "alter superuser roles or change superuser attribute");
  }
  if (after.replication != before.replication) {
    refuse(before.oid == kNoOid ? "create replication users"
                                : "alter replication roles or change replication attribute");
  }
  if (after.bypass_rls != before.bypass_rls) {
    refuse(before.oid == kNoOid ? "create bypassrls users" : "change bypassrls attribute");
  }
}

void Session::State::create_role(const ast::CreateRoleStmt& statement, ResultSink& sink) {
  require_role_right(&Role::create_role, "create role");
  Role role;
  role.name = statement.role;
  require_role_name(role.name);
  role.can_login = statement.stmt_type == ast::RoleStmtType::user;
  if (catalog.role(role.name)) {
    throw_error(sqlstate::duplicate_object, "role \"{}\" already exists", role.name);
  }
  apply_role_options(*this, role, statement.options);
  require_superuser_for({}, role);
  role.oid = catalog.allocate_oid();
  const Oid oid = role.oid;
  // IN ROLE and ROLE: memberships from the beginning.
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != "addroleto" && option.defname != "rolemembers") continue;
    for (const ast::Node* spec : ast::as<ast::List>(option.arg).items) {
      const RolePtr other = role_of(ast::as<ast::RoleSpec>(spec));
      if (option.defname == "addroleto") {
        role.member_of.push_back(other->oid);
        continue;
      }
      Role member = *other;
      member.member_of.push_back(oid);
      catalog.replace(*transaction, *other, std::move(member));
    }
  }
  catalog.create(*transaction, std::move(role));
  sink.command_complete("CREATE ROLE");
}

void Session::State::alter_role(const ast::AlterRoleStmt& statement, ResultSink& sink) {
  const RolePtr role = role_of(*statement.role);
  require_alterable(*role);
  Role changed = *role;
  // Everybody may change their own password.
  const bool own_password = role->oid == user->oid && statement.options.size() == 1 &&
                            ast::as<ast::DefElem>(statement.options[0]).defname == "password";
  const bool on_superuser = std::ranges::any_of(statement.options, [](const ast::Node* option) {
    return ast::as<ast::DefElem>(option).defname == "superuser";
  });
  if ((role->superuser || on_superuser) && !is_superuser(user->oid)) {
    throw SqlError{SqlState{"42501"},
                   "must be superuser to alter superuser roles or change "
                   "superuser attribute"};
  }
  if (!own_password) require_right_on_roles();
  apply_role_options(*this, changed, statement.options);
  require_superuser_for(*role, changed);
  catalog.replace(*transaction, *role, std::move(changed));
  sink.command_complete("ALTER ROLE");
}

void Session::State::drop_role(const ast::DropRoleStmt& statement, ResultSink& sink) {
  require_role_right(&Role::create_role, "drop role");
  for (const ast::Node* node : statement.roles) {
    const std::string name{ast::as<ast::RoleSpec>(node).rolename};
    const RolePtr role = catalog.role(name);
    if (!role) {
      if (!statement.missing_ok) {
        throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", name);
      }
      notice(sink, Severity::notice, SqlState{"00000"},
             fmt::format("role \"{}\" does not exist, skipping", name));
      continue;
    }
    if (role->oid == user->oid) {
      throw SqlError{sqlstate::object_in_use, "current user cannot be dropped"};
    }
    const bool is_session_user = role->name == session_user_name(*this);
    if (role->superuser && !is_superuser(user->oid)) {
      throw SqlError{SqlState{"42501"}, "must be superuser to drop superusers"};
    }
    if (is_predefined(*role) || (role->oid == kBootstrapRole && !is_session_user)) {
      throw_error(SqlState{"2BP01"},
                  "cannot drop role {} because it is required by the database system", role->name);
    }
    if (is_session_user || role->name == options.user) {
      throw SqlError{sqlstate::object_in_use, "session user cannot be dropped"};
    }
    refuse_to_orphan(*this, *role);
    for (const RolePtr& other : catalog.roles()) {
      if (std::ranges::find(other->member_of, role->oid) == other->member_of.end()) continue;
      Role changed = *other;
      std::erase(changed.member_of, role->oid);
      catalog.replace(*transaction, *other, std::move(changed));
    }
    catalog.remove(*transaction, *role);
  }
  sink.command_complete("DROP ROLE");
}

}  // namespace swizzle::sql
