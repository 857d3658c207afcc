#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/statement/rights/session_user.h"
#include "sql-lite-frontend/statement/statement_options.h"

/// CREATE, ALTER and DROP ROLE.
namespace swizzle::sql {
/// Returns the role that a statement names; CURRENT_USER and similar words name the session's.
RolePtr role_of(StatementContext& session, const ast::RoleSpec& spec) {
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

/// True for a hash of password and role name as made by PostgreSQL before version 14.
bool is_md5_hash(std::string_view password) {
  constexpr std::string_view kPrefix = "md5";
  constexpr std::size_t kDigits = 32;
  return password.starts_with(kPrefix) && password.size() == kPrefix.size() + kDigits &&
         password.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

/// Returns the stored form of a password: a verifier as it came, or one derived from it, if there
/// is a server.
std::string verifier_of(const ServerContext& shared, std::string_view password) {
  if (password.empty()) return {};
  // Stored as a password in clear text, the hash itself would be accepted at login.
  if (is_md5_hash(password)) {
    throw SqlError{sqlstate::feature_not_supported, "passwords hashed with MD5 are not supported"}
        .with_hint("Give the password itself, or its SCRAM-SHA-256 verifier.");
  }
  if (shared.stored_password) {
    constexpr std::size_t kMostBytes = 512;
    std::string verifier = shared.stored_password(password);
    if (verifier.size() <= kMostBytes) return verifier;
    throw sql_error(sqlstate::program_limit_exceeded, "encrypted password is too long")
        .with_detail(
            fmt::format("Encrypted passwords must be no longer than {} bytes.", kMostBytes));
  }
  // Without a server there are no logins, so only a verifier is accepted.
  if (password.starts_with("SCRAM-SHA-256$")) return std::string{password};
  throw SqlError{sqlstate::feature_not_supported, "passwords in clear text are not supported"}
      .with_hint("Give the SCRAM-SHA-256 verifier, as psql's \\password does.");
}

/// Returns the timestamp in its standard form, since its text depends on the session's settings.
std::string moment_of(StatementContext& session, std::string_view text) {
  Arena arena;
  FunctionContext given{arena, session.session_context, {}};
  const Value moment = input_text(given, TypeId::timestamptz, kNoTypmod, text);
  SessionContext standard;
  FunctionContext stored{arena, standard, {}};
  return to_text(stored, TypeId::timestamptz, moment);
}

void apply_role_options(StatementContext& session, Role& role, ast::NodeList options) {
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

/// The objects that depend on a role, as pg_shdepend lists them: an entry for each.
class RoleUses {
 public:
  explicit RoleUses(Oid role) : role_(role) {}

  /// `description` is called only for objects that are reported by name.
  template <class Description>
  void look_at(Oid object, Oid owner, const std::vector<Grant>& grants, Description description) {
    if (owner == role_) {
      note(object, "owner of ", description);
    } else if (std::ranges::any_of(grants, [&](const Grant& grant) {
                 return grant.grantee == role_ || grant.grantor == role_;
               })) {
      note(object, "privileges for ", description);
    }
  }
  template <class Description>
  void look_at(Oid object, const Policy& policy, Description description) {
    if (std::ranges::find(policy.roles, role_) == policy.roles.end()) return;
    note(object, "target of ", description);
  }
  template <class Description>
  void look_at_grant(Oid object, Description description) {
    note(object, "privileges for ", description);
  }
  [[nodiscard]] Oid role() const noexcept { return role_; }

  /// Returns the descriptions in the order in which the objects were created.
  [[nodiscard]] std::vector<std::string> texts() {
    std::ranges::stable_sort(uses_, {}, &Use::object);
    std::vector<std::string> texts;
    for (Use& use : uses_) texts.push_back(std::move(use.text));
    return texts;
  }
  [[nodiscard]] std::size_t count() const noexcept { return uses_.size(); }

 private:
  struct Use {
    Oid object;
    std::string text;
  };
  template <class Description>
  void note(Oid object, std::string_view how, Description& description) {
    uses_.push_back({object, fmt::format("{}{}", how, description())});
  }

  Oid role_;
  std::vector<Use> uses_;
};

/// Records of a database that are read on demand.
struct RecordsOfDatabase {
  std::vector<DefaultGrants> defaults;
  std::vector<LargeObject> large_objects;
  std::vector<Subscription> subscriptions;
};

RecordsOfDatabase records_of(StatementContext& session, Catalog& catalog) {
  Transaction& transaction = *session.transaction;
  const auto pause = [&session] { session.check_cancelled(); };
  return {read_default_grants(catalog, transaction),
          LargeObjects{session.shared.engine, catalog, pause}.all(transaction),
          read_subscriptions(catalog, transaction)};
}

/// Visits the objects of one database that refer to the role. `describe` returns their names.
template <class Describe>
void look_at_objects(RoleUses& uses, const CatalogView& catalog, const RecordsOfDatabase& records,
                     const Describe& describe) {
  const auto look_at_made = [&](const auto& objects) {
    for (const auto& object : objects) {
      uses.look_at(object->oid, object->owner, {}, [&] { return describe(*object); });
    }
  };
  const auto look_at_granted = [&](const auto& objects) {
    for (const auto& object : objects) {
      uses.look_at(object->oid, object->owner, object->grants, [&] { return describe(*object); });
    }
  };
  const NamedObjects named{uses.role()};
  look_at_granted(catalog.naming<Schema>(named));
  look_at_granted(catalog.naming<UserType>(named));
  look_at_granted(catalog.naming<Routine>(named));
  look_at_made(catalog.naming<UserCollation>(named));
  look_at_made(catalog.naming<UserTextDictionary>(named));
  look_at_made(catalog.naming<UserTextConfig>(named));
  look_at_made(catalog.naming<Publication>(named));
  look_at_made(catalog.naming<EventTrigger>(named));
  for (const Subscription& one : records.subscriptions)
    uses.look_at(one.oid, one.owner, {}, [&] { return describe(one); });
  for (const DefaultGrants& one : records.defaults) {
    uses.look_at(one.oid, one.role, one.grants, [&] { return describe(one); });
  }
  for (const LargeObject& one : records.large_objects) {
    uses.look_at(one.oid, one.owner, one.grants, [&] { return describe(one); });
  }
  for (const TablePtr& table : catalog.naming<Table>(named)) {
    const Relation& relation = table->relation;
    uses.look_at(relation.oid, relation.owner, relation.grants, [&] { return describe(*table); });
    for (const Policy& policy : relation.policies) {
      uses.look_at(relation.oid, policy, [&] { return describe(*table, policy); });
    }
    if (relation.owner == uses.role()) continue;
    for (const Column& column : relation.columns) {
      uses.look_at(relation.oid, kNoOid, column.grants,
                   [&] { return fmt::format("column {} of {}", column.name, describe(*table)); });
    }
  }
}

/// Names of the session's own database.
struct Describing {
  StatementContext& session;
  std::string operator()(const Schema& schema) const { return "schema " + schema.name; }
  std::string operator()(const UserType& type) const { return "type " + type.name; }
  std::string operator()(const UserCollation& made) const { return "collation " + made.name; }
  std::string operator()(const Publication& made) const { return "publication " + made.name; }
  std::string operator()(const EventTrigger& made) const { return "event trigger " + made.name; }
  std::string operator()(const LargeObject& object) const {
    return fmt::format("large object {}", object.oid);
  }
  std::string operator()(const Subscription& made) const { return "subscription " + made.name; }
  std::string operator()(const DefaultGrants& defaults) const {
    return described(session.catalog, defaults);
  }
  std::string operator()(const Table& table, const Policy& policy) const {
    return described(session, table, policy);
  }
  template <class Object>
  std::string operator()(const Object& object) const {
    return described(session, object);
  }
};

/// For objects of another database, which are counted but not named.
struct NotDescribing {
  template <class... Object>
  std::string operator()(const Object&... /*object*/) const {
    return {};
  }
};

/// How many objects of another database have to do with the role.
std::size_t count_uses(StatementContext& session, const DatabaseEntry& database, Oid role) {
  RoleUses uses{role};
  try {
    const Catalogs::Use use{*session.shared.catalogs, database.oid};
    look_at_objects(uses, CatalogView{use.catalog()}, records_of(session, use.catalog()),
                    NotDescribing{});
  } catch (const SqlError& error) {
    // The database is being dropped with all its objects.
    if (error.state() != SqlState{"3D000"}) throw;
    return 0;
  }
  return uses.count();
}

/// Throws 2BP01 if the role owns an object or has privileges on one. Pre: the role is locked, so
/// that it cannot be granted privileges meanwhile in any database.
void refuse_to_orphan(StatementContext& session, const Role& role) {
  RoleUses uses{role.oid};
  look_at_objects(uses, session.catalog, records_of(session, session.catalog.of_database()),
                  Describing{session});
  for (const DatabasePtr& database : session.catalog.databases()) {
    uses.look_at(database->oid, database->owner, database->grants,
                 [&] { return "database " + database->name; });
  }
  for (const RolePtr& member : session.catalog.roles()) {
    for (const Membership& membership : member->member_of) {
      const RolePtr group = session.catalog.role(membership.group);
      const bool goes = member->oid == role.oid || membership.group == role.oid;
      if (membership.grantor != role.oid || goes || !group) continue;
      uses.look_at_grant(membership.oid, [&] {
        return fmt::format("membership of role {} in role {}", member->name, group->name);
      });
    }
  }
  std::vector<std::string> reasons = uses.texts();
  const std::size_t here = reasons.size();
  constexpr std::size_t kMostReported = 100;
  if (here > kMostReported) reasons.resize(kMostReported);
  for (const DatabasePtr& database : session.catalog.databases()) {
    if (database->oid == session.catalog.of_database().database()) continue;
    const std::size_t count = count_uses(session, *database, role.oid);
    if (count == 0) continue;
    reasons.push_back(
        fmt::format("{} object{} in database {}", count, count == 1 ? "" : "s", database->name));
  }
  if (here > kMostReported) {
    const std::size_t left = here - kMostReported;
    reasons.push_back(
        fmt::format("and {} other object{} (see server log for list)", left, left == 1 ? "" : "s"));
  }
  if (reasons.empty()) return;
  throw sql_error(SqlState{"2BP01"},
                  "role \"{}\" cannot be dropped because some objects depend on it", role.name)
      .with_detail(fmt::format("{}", fmt::join(reasons, "\n")));
}

bool names_option(ast::NodeList options, std::string_view name) {
  return std::ranges::any_of(options, [&](const ast::Node* option) {
    return ast::as<ast::DefElem>(option).defname == name;
  });
}

/// An attribute that a role hands out only if it has it.
struct GuardedAttribute {
  bool Role::* attribute;
  std::string_view name;
  std::string_view option;
};
constexpr GuardedAttribute kGuarded[] = {
    {&Role::superuser, "SUPERUSER", "superuser"},
    {&Role::create_database, "CREATEDB", "createdb"},
    {&Role::replication, "REPLICATION", "isreplication"},
    {&Role::bypass_rls, "BYPASSRLS", "bypassrls"},
};

/// Throws if the current role may not create such a role.
void require_right_to_create(const StatementContext& session, const Role& wanted) {
  const RolePtr now = session.catalog.role(session.user);
  if (now && now->superuser) return;
  if (!now || !now->create_role) {
    refuse_role_change("create", "Only roles with the CREATEROLE attribute may create roles.");
  }
  for (const GuardedAttribute& guarded : kGuarded) {
    if (!(wanted.*guarded.attribute) || (*now).*guarded.attribute) continue;
    refuse_role_change("create", fmt::format("Only roles with the {0} attribute may create roles "
                                             "with the {0} attribute.",
                                             guarded.name));
  }
}

/// Throws if the current role may not alter these attributes of the role.
void require_right_to_alter(const StatementContext& session, const Role& role,
                            ast::NodeList options) {
  const RolePtr now = session.catalog.role(session.user);
  if (now && now->superuser) return;
  if (role.superuser) {
    refuse_role_change("alter",
                       "Only roles with the SUPERUSER attribute may alter roles with the "
                       "SUPERUSER attribute.");
  }
  if (names_option(options, "superuser")) {
    refuse_role_change(
        "alter", "Only roles with the SUPERUSER attribute may change the SUPERUSER attribute.");
  }
  const bool is_about_password =
      options.size() == 1 && ast::as<ast::DefElem>(options[0]).defname == "password";
  if (!may_administer(session, role)) {
    if (role.oid == session.user && is_about_password) return;
    if (names_option(options, "password") && is_about_password) {
      refuse_role_change("alter",
                         "To change another role's password, the current user must have the "
                         "CREATEROLE attribute and the ADMIN option on the role.");
    }
    refuse_role_change("alter", fmt::format("Only roles with the CREATEROLE attribute and the "
                                            "ADMIN option on role \"{}\" may alter this role.",
                                            role.name));
  }
  for (const GuardedAttribute& guarded : kGuarded) {
    if (!names_option(options, guarded.option) || (now && (*now).*guarded.attribute)) continue;
    refuse_role_change(
        "alter", fmt::format("Only roles with the {0} attribute may change the {0} attribute.",
                             guarded.name));
  }
}

/// Throws if the current role may not add members to the role.
void require_right_to_alter_members(const StatementContext& session, const Role& role) {
  if (session.rights.is_superuser(session.user)) return;
  if (role.superuser) {
    refuse_role_change("alter",
                       "Only roles with the SUPERUSER attribute may alter roles with the "
                       "SUPERUSER attribute.");
  }
  if (session.rights.is_admin_of(session.user, role.oid)) return;
  refuse_role_change("alter", fmt::format("Only roles with the ADMIN option on role \"{}\" may add "
                                          "or drop members.",
                                          role.name));
}

/// The roles in an option of CREATE or ALTER ROLE.
std::vector<RolePtr> roles_in(StatementContext& session, ast::NodeList options,
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

void refuse_role_change(std::string_view verb, std::string detail) {
  throw sql_error(sqlstate::insufficient_privilege, "permission denied to {} role", verb)
      .with_detail(std::move(detail));
}

bool may_administer(const StatementContext& session, const Role& role) {
  const RolePtr now = session.catalog.role(session.user);
  if (now && now->superuser) return true;
  return now && now->create_role && session.rights.is_admin_of(session.user, role.oid);
}

void require_right_on_settings(StatementContext& session, const Role& role) {
  if (session.rights.is_superuser(session.user) || role.oid == session.user) return;
  if (role.superuser) {
    refuse_role_change("alter",
                       "Only roles with the SUPERUSER attribute may alter roles with the "
                       "SUPERUSER attribute.");
  }
  if (may_administer(session, role)) return;
  refuse_role_change("alter", fmt::format("Only roles with the CREATEROLE attribute and the ADMIN "
                                          "option on role \"{}\" may alter this role.",
                                          role.name));
}

void create_role(StatementContext& session, const ast::CreateRoleStmt& statement,
                 ResultSink& sink) {
  refuse_repeats(statement.options);
  Role role;
  role.name = statement.role;
  role.can_login = statement.stmt_type == ast::RoleStmtType::user;
  apply_role_options(session, role, statement.options);
  require_right_to_create(session, role);
  require_role_name(role.name);
  if (session.catalog.role(role.name)) {
    throw_error(sqlstate::duplicate_object, "role \"{}\" already exists", role.name);
  }
  role.oid = session.catalog.allocate_oid();
  const Oid oid = role.oid;
  session.catalog.create(*session.transaction, std::move(role));
  // IN ROLE, ADMIN and ROLE do the same as GRANT, and require the same rights.
  for (const RolePtr& group : roles_in(session, statement.options, "addroleto")) {
    give_membership(session, {group->oid, oid}, sink);
  }
  give_membership_of_creator(session, oid);
  for (const RolePtr& member : roles_in(session, statement.options, "rolemembers")) {
    give_membership(session, {oid, member->oid}, sink);
  }
  for (const RolePtr& member : roles_in(session, statement.options, "adminmembers")) {
    give_membership(session, {oid, member->oid, {.admin = true}}, sink);
  }
}

void alter_role(StatementContext& session, const ast::AlterRoleStmt& statement, ResultSink& sink) {
  refuse_repeats(statement.options);
  const RolePtr role = role_of(session, *statement.role);
  require_alterable(*role);
  if (names_option(statement.options, "rolemembers")) {
    require_right_to_alter_members(session, *role);
    // ALTER GROUP … ADD USER and DROP USER.
    for (const RolePtr& member : roles_in(session, statement.options, "rolemembers")) {
      if (statement.action > 0) {
        give_membership(session, {role->oid, member->oid}, sink);
      } else {
        take_membership(session, {role->oid, member->oid}, ast::DropBehavior::restrict, sink);
      }
    }
  } else {
    require_right_to_alter(session, *role, statement.options);
    Role changed = *role;
    apply_role_options(session, changed, statement.options);
    session.catalog.replace(*session.transaction, *role, std::move(changed));
  }
}

void drop_role(StatementContext& session, const ast::DropRoleStmt& statement, ResultSink& sink) {
  const RolePtr now = session.catalog.role(session.user);
  if (!now || (!now->superuser && !now->create_role)) {
    refuse_role_change("drop",
                       "Only roles with the CREATEROLE attribute and the ADMIN option on the "
                       "target roles may drop roles.");
  }
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
      refuse_role_change("drop",
                         "Only roles with the SUPERUSER attribute may drop roles with the "
                         "SUPERUSER attribute.");
    }
    if (!may_administer(session, *role)) {
      refuse_role_change("drop",
                         fmt::format("Only roles with the CREATEROLE attribute and the ADMIN "
                                     "option on role \"{}\" may drop this role.",
                                     role->name));
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
}

}  // namespace swizzle::sql
