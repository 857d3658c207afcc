// ALTER DEFAULT PRIVILEGES: the rights granted on objects that a role will make.
#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/rights/grant.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/statement/object_types.h"

namespace swizzle::sql {
namespace {

class DefaultsChange {
 public:
  DefaultsChange(StatementContext& session, const ast::AlterDefaultPrivilegesStmt& statement)
      : session_(session),
        action_(*statement.action),
        kind_(kind_of(action_.objtype)),
        privileges_(wanted()),
        grantees_(grantees_of(session, action_)) {
    for (const ast::Node* node : statement.options) read(ast::as<ast::DefElem>(node));
    if (roles_.empty()) roles_.push_back(session.user);
    if (kind_ == GrantedOn::schema && !schemas_.empty()) {
      throw SqlError{sqlstate::invalid_grant_operation,
                     "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS"};
    }
    if (kind_ == GrantedOn::large_object && !schemas_.empty()) {
      throw SqlError{sqlstate::invalid_grant_operation,
                     "cannot use IN SCHEMA clause when using GRANT/REVOKE ON LARGE OBJECTS"};
    }
    if (schemas_.empty()) schemas_.push_back(kNoOid);
  }

  void run() {
    for (const Oid role : roles_) {
      for (const Oid schema : schemas_) change(role, schema);
    }
  }

 private:
  static GrantedOn kind_of(ast::ObjectType type) {
    switch (type) {
      case ast::ObjectType::table:
        return GrantedOn::table;
      case ast::ObjectType::sequence:
        return GrantedOn::sequence;
      case ast::ObjectType::schema:
        return GrantedOn::schema;
      case ast::ObjectType::function:
      case ast::ObjectType::routine:
        return GrantedOn::function;
      case ast::ObjectType::type:
        return GrantedOn::type;
      case ast::ObjectType::largeobject:
        return GrantedOn::large_object;
      default:
        throw_error(sqlstate::feature_not_supported,
                    "ALTER DEFAULT PRIVILEGES for {} is not supported", object_type_name(type));
    }
  }

  Privileges wanted() const {
    const Privileges all = all_privileges(kind_);
    if (action_.privileges.empty()) return all;
    Privileges wanted = 0;
    for (const ast::Node* node : action_.privileges) {
      const auto& item = ast::as<ast::AccessPriv>(node);
      if (!item.cols.empty()) {
        throw SqlError{sqlstate::invalid_grant_operation,
                       "default privileges cannot be set for columns"};
      }
      const auto bit = find_privilege(item.priv_name);
      if (!bit) {
        throw_error(sqlstate::syntax_error, "unrecognized privilege type \"{}\"", item.priv_name);
      }
      if ((*bit & all) == 0) {
        throw_error(sqlstate::invalid_grant_operation, "invalid privilege type {} for {}",
                    list_privileges(*bit),
                    kind_ == GrantedOn::table          ? "relation"
                    : kind_ == GrantedOn::sequence     ? "sequence"
                    : kind_ == GrantedOn::function     ? "function"
                    : kind_ == GrantedOn::type         ? "type"
                    : kind_ == GrantedOn::large_object ? "large object"
                                                       : "schema");
      }
      wanted |= *bit;
    }
    return wanted;
  }

  void read(const ast::DefElem& option) {
    const auto& list = ast::as<ast::List>(option.arg);
    for (const ast::Node* node : list.items) {
      if (option.defname == "schemas") {
        const std::string_view name = ast::string_of(node);
        const SchemaPtr schema = session_.catalog.schema(name);
        if (!schema) {
          throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name);
        }
        schemas_.push_back(schema->oid);
      } else {
        const RolePtr role = role_of(session_, ast::as<ast::RoleSpec>(node));
        if (!session_.rights.owns(role->oid)) {
          throw SqlError{sqlstate::insufficient_privilege,
                         "permission denied to change default privileges"};
        }
        roles_.push_back(role->oid);
      }
    }
  }

  void change(Oid role, Oid schema) {
    Catalog& catalog = session_.catalog.of_database();
    Transaction& transaction = *session_.transaction;
    DefaultGrants grants = lock_default_grants(catalog, transaction, role, schema, kind_);
    // Grants for one schema are added to those for all, so their list begins empty.
    const bool is_added = schema != kNoOid;
    AccessList list = is_added ? AccessList::exactly(grants.grants, role)
                               : AccessList{grants.grants, role, kind_, everyone_on(kind_)};
    change_list(session_, list, {action_, grantees_, role, privileges_});
    if (is_added ? list.entries().empty() : list.is_usual(kind_, everyone_on(kind_))) {
      if (grants.oid != kNoOid) remove_default_grants(catalog, transaction, grants);
      return;
    }
    grants.grants = list.grants();
    session_.catalog.hold(transaction, role);
    // The role of SET ROLE may have been dropped.
    if (!session_.catalog.role(role)) {
      throw_error(sqlstate::undefined_object, "role {} was concurrently dropped", role);
    }
    if (schema != kNoOid) session_.catalog.hold(transaction, schema);
    for (const Grant& grant : grants.grants) {
      if (grant.grantee != kNoOid) session_.catalog.hold(transaction, grant.grantee);
    }
    put_default_grants(catalog, transaction, std::move(grants));
  }

  StatementContext& session_;
  const ast::GrantStmt& action_;
  GrantedOn kind_;
  Privileges privileges_;
  std::vector<Oid> grantees_;
  std::vector<Oid> roles_;
  std::vector<Oid> schemas_;
};

}  // namespace

void alter_default_privileges(StatementContext& session,
                              const ast::AlterDefaultPrivilegesStmt& statement) {
  DefaultsChange{session, statement}.run();
}

}  // namespace swizzle::sql
