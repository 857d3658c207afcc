#include "sql-lite-frontend/definitions/rights/grant.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/definitions/rights/large_objects.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/user_types.h"

/// GRANT and REVOKE of privileges; of roles: grant_membership.cpp.
namespace swizzle::sql {
namespace {

constexpr SqlState kNotGranted{"01007"};
constexpr SqlState kNotRevoked{"01006"};

/// Effect of one statement on each of its objects.
class GrantChange {
 public:
  GrantChange(StatementContext& session, const ast::GrantStmt& statement, ResultSink& sink)
      : session_(session),
        statement_(statement),
        sink_(sink),
        grantees_(grantees_of(session, statement)) {
    if (statement.grantor != nullptr && role_of(session, *statement.grantor)->oid != session.user) {
      throw SqlError{sqlstate::feature_not_supported, "grantor must be current user"};
    }
  }

  void run() {
    switch (statement_.objtype) {
      case ast::ObjectType::table:
      case ast::ObjectType::sequence:
        for (const TablePtr& table : relations()) change_relation(table);
        return;
      case ast::ObjectType::schema:
        for (const ast::Node* name : statement_.objects) change_schema(ast::string_of(name));
        return;
      case ast::ObjectType::database:
        for (const ast::Node* name : statement_.objects) change_database(ast::string_of(name));
        return;
      case ast::ObjectType::function:
      case ast::ObjectType::procedure:
      case ast::ObjectType::routine:
        for (const RoutinePtr& routine : routines()) change_routine(routine);
        return;
      case ast::ObjectType::type:
      case ast::ObjectType::domain:
        for (const ast::Node* name : statement_.objects) {
          change_type(ast::as<ast::List>(name).items);
        }
        return;
      case ast::ObjectType::largeobject:
        for (const ast::Node* number : statement_.objects)
          change_large_object(large_object_number(session_, number));
        return;
      default:
        throw_error(sqlstate::feature_not_supported, "GRANT and REVOKE on {} is not supported",
                    object_type_name(statement_.objtype));
    }
  }

 private:
  struct Wanted {
    Privileges whole = 0;
    std::vector<std::pair<std::string, Privileges>> columns;
  };

  std::vector<TablePtr> relations() {
    const bool sequences = statement_.objtype == ast::ObjectType::sequence;
    std::vector<TablePtr> found;
    if (statement_.targtype == ast::GrantTargetType::all_in_schema) {
      for (const ast::Node* name : statement_.objects) {
        const SchemaPtr schema = schema_named(ast::string_of(name));
        for (const TablePtr& table : session_.catalog.naming<Table>({schema->oid})) {
          const bool sequence = table->relation.kind == RelationKind::sequence;
          if (table->relation.schema == schema->oid && sequence == sequences) {
            found.push_back(table);
          }
        }
      }
      return found;
    }
    Arena arena;
    Binder binder{session_.names, arena};
    for (const ast::Node* node : statement_.objects) {
      const TablePtr table = binder.require_relation(ast::as<ast::RangeVar>(node));
      if (sequences && table->relation.kind != RelationKind::sequence) {
        throw_error(sqlstate::wrong_object_type, "\"{}\" is not a sequence", table->relation.name);
      }
      if (table->computed != nullptr) {
        throw_error(sqlstate::feature_not_supported,
                    "GRANT and REVOKE on the system relation \"{}\" is not supported",
                    table->relation.name);
      }
      found.push_back(table);
    }
    return found;
  }

  std::vector<RoutinePtr> routines() {
    std::vector<RoutinePtr> found;
    if (statement_.targtype != ast::GrantTargetType::all_in_schema) {
      for (const ast::Node* node : statement_.objects) {
        found.push_back(require_named_routine(session_, ast::as<ast::ObjectWithArgs>(node),
                                              statement_.objtype));
      }
      return found;
    }
    for (const ast::Node* name : statement_.objects) {
      const SchemaPtr schema = schema_named(ast::string_of(name));
      for (const RoutinePtr& routine : session_.catalog.naming<Routine>({schema->oid})) {
        const bool is_procedure = routine->kind == RoutineKind::procedure;
        const bool is_wanted = statement_.objtype == ast::ObjectType::routine ||
                               is_procedure == (statement_.objtype == ast::ObjectType::procedure);
        if (routine->schema == schema->oid && is_wanted) found.push_back(routine);
      }
    }
    return found;
  }

  void change_routine(const RoutinePtr& given) {
    const std::string_view noun = routine_noun(statement_.objtype);
    const Privileges want = wanted(GrantedOn::function, noun).whole;
    const RoutinePtr locked = session_.catalog.lock_routine(*session_.transaction, *given);
    Routine routine = *locked;
    routine.grants = changed(
        {routine.grants, routine.owner, GrantedOn::function, kEveryoneOnFunction}, all_or(want),
        {GrantedOn::function, routine.kind == RoutineKind::procedure ? "procedure" : "function",
         routine.name});
    session_.catalog.replace(*session_.transaction, *locked, std::move(routine));
  }

  void change_type(ast::NodeList names) {
    const TypeName name = type_named(names);
    const TypePtr given = find_type_named(session_, name);
    if (builtin_named(name) != nullptr) {
      throw_error(sqlstate::feature_not_supported,
                  "GRANT and REVOKE on the built-in type {} is not supported", written(name));
    }
    if (!given) {
      throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", written(name));
    }
    refuse_shell(*given, written(name));
    if (given->is_of_relation()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "GRANT and REVOKE on a table's row type are not supported"};
    }
    const bool of_domain = statement_.objtype == ast::ObjectType::domain;
    if (of_domain && !is_domain(given->id())) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a domain", written(name));
    }
    const Privileges want = wanted(GrantedOn::type, of_domain ? "domain" : "type").whole;
    const TypePtr locked = session_.catalog.lock_type(*session_.transaction, *given,
                                                      lock::RelationMode::share_update_exclusive);
    UserType type = *locked;
    type.grants = changed({type.grants, type.owner, GrantedOn::type, kEveryoneOnType}, all_or(want),
                          {GrantedOn::type, "type", type.name});
    session_.catalog.replace(*session_.transaction, *locked, std::move(type));
  }

  SchemaPtr schema_named(std::string_view name) {
    SchemaPtr schema = session_.catalog.schema(name);
    if (!schema) {
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name);
    }
    return schema;
  }

  /// Returns the privileges that the statement names, checked against those of the kind of object.
  Wanted wanted(GrantedOn kind, std::string_view noun) const {
    Wanted result;
    if (statement_.privileges.empty()) result.whole = all_privileges(kind);
    for (const ast::Node* node : statement_.privileges) {
      const auto& item = ast::as<ast::AccessPriv>(node);
      const bool on_columns = !item.cols.empty();
      const GrantedOn target = on_columns ? GrantedOn::column : kind;
      Privileges possible = all_privileges(target);
      // GRANT … ON TABLE still accepts sequences, for compatibility.
      if (target == GrantedOn::sequence && statement_.objtype == ast::ObjectType::table)
        possible |= all_privileges(GrantedOn::table);
      Privileges bits = all_privileges(target);
      if (!item.priv_name.empty()) {
        const auto bit = find_privilege(item.priv_name);
        if (!bit) {
          throw_error(sqlstate::syntax_error, "unrecognized privilege type \"{}\"", item.priv_name);
        }
        if ((*bit & possible) == 0) {
          // Privileges that a sequence can have are invalid "for table", the others "for relation".
          const bool never =
              kind == GrantedOn::table && (*bit & all_privileges(GrantedOn::sequence)) == 0;
          throw_error(sqlstate::invalid_grant_operation, "invalid privilege type {} for {}",
                      list_privileges(*bit), on_columns ? "column" : (never ? "relation" : noun));
        }
        bits = *bit;
      }
      if (!on_columns) result.whole |= bits;
      for (const ast::Node* column : item.cols) {
        result.columns.emplace_back(ast::string_of(column), bits);
      }
    }
    return result;
  }

  /// Object of a list of grants, as errors name it.
  struct Object {
    GrantedOn kind;
    std::string_view noun;
    std::string_view name;
    std::string_view column = {};

    [[nodiscard]] std::string denied() const {
      return column.empty() ? fmt::format("{} {}", noun, name) : named();
    }
    [[nodiscard]] std::string named() const {
      return column.empty() ? fmt::format("\"{}\"", name)
                            : fmt::format("column \"{}\" of relation \"{}\"", column, name);
    }
  };
  struct Asked {
    Privileges privileges = 0;
    bool is_all = false;  ///< ALL: privileges without grant option are skipped silently
  };

  Asked all_or(Privileges privileges) const { return {privileges, statement_.privileges.empty()}; }

  /// Returns the list of grants after the change. Privileges on a table apply to its columns.
  std::vector<Grant> changed(AccessList list, Asked asked, const Object& object,
                             const AccessList* of_table = nullptr) {
    AccessList::Grantor grantor{list.owner(), asked.privileges};
    if (!session_.rights.owns(list.owner())) {
      AccessList held = list;
      if (of_table != nullptr) held.add(*of_table);
      const std::vector<Oid> roles = session_.rights.roles_of(session_.user);
      grantor = held.grantor_for(session_.user, roles, asked.privileges);
      Privileges has = held.allowed(roles);
      if (of_table != nullptr) has |= of_table->allowed(roles);
      if (grantor.may == 0 && (has & all_privileges(object.kind)) == 0) {
        throw_error(sqlstate::insufficient_privilege, "permission denied for {}", object.denied());
      }
      warn(asked, grantor.may, object);
    }
    change_list(session_, list, {statement_, grantees_, grantor.role, grantor.may});
    return list.grants();
  }

  void warn(const Asked& asked, Privileges may, const Object& object) {
    if (may == asked.privileges || (may != 0 && asked.is_all)) return;
    const bool grant = statement_.is_grant;
    session_.notice(sink_, Severity::warning, grant ? kNotGranted : kNotRevoked,
                    fmt::format("{} {} for {}", may == 0 ? "no privileges" : "not all privileges",
                                grant ? "were granted" : "could be revoked", object.named()));
  }

  void change_relation(const TablePtr& given) {
    const bool sequence = given->relation.kind == RelationKind::sequence;
    const GrantedOn kind = sequence ? GrantedOn::sequence : GrantedOn::table;
    const std::string_view noun = sequence ? "sequence" : "table";
    Wanted want = wanted(kind, noun);
    if (sequence && (want.whole & ~all_privileges(kind)) != 0) {
      session_.notice(
          sink_, Severity::warning, sqlstate::invalid_grant_operation,
          fmt::format("sequence \"{}\" only supports USAGE, SELECT, and UPDATE privileges",
                      given->relation.name));
      want.whole &= all_privileges(kind);
    }
    const TablePtr table = session_.catalog.lock_for_change(
        *session_.transaction, given, lock::RelationMode::share_update_exclusive);
    Relation relation = table->relation;
    const AccessList before{relation.grants, relation.owner, kind};
    if (want.whole != 0) {
      relation.grants = changed(before, all_or(want.whole), {kind, noun, relation.name});
    }
    if (!statement_.is_grant) ask_for_columns_without_list(relation, want.whole, before);
    std::vector<Privileges> of_columns = columns_of(*table, want);
    for (std::size_t i = 0; i < of_columns.size(); ++i) {
      if (of_columns[i] != 0) change_column(relation, i, of_columns[i], before);
    }
    session_.catalog.replace(*session_.transaction, *table, std::move(relation));
  }

  static constexpr std::string_view kColumnsWithoutList[] = {
      "tableoid", "cmax", "xmax", "cmin", "xmin", "ctid", "last_value", "log_cnt", "is_called"};
  static constexpr std::size_t kSystemColumns = 6;

  /// Handles columns without access lists: system columns and those of sequences. Revoking a right
  /// to all columns warns about them as well, or is refused.
  void ask_for_columns_without_list(const Relation& relation, Privileges whole,
                                    const AccessList& of_table) {
    const Privileges wanted = whole & all_privileges(GrantedOn::column);
    if (wanted == 0 || relation.kind == RelationKind::view) return;
    const bool is_sequence = relation.kind == RelationKind::sequence;
    const std::size_t count = is_sequence ? std::size(kColumnsWithoutList) : kSystemColumns;
    for (const std::string_view name : std::span{kColumnsWithoutList}.first(count)) {
      (void)changed({{}, relation.owner, GrantedOn::column},
                    {wanted, wanted == all_privileges(GrantedOn::column)},
                    {GrantedOn::column, {}, relation.name, name}, &of_table);
    }
  }

  /// Returns the changes of each column's rights. Revoking for the whole table revokes for its
  /// columns.
  std::vector<Privileges> columns_of(const Table& table, const Wanted& want) const {
    const Relation& relation = table.relation;
    std::vector<Privileges> of_columns(relation.columns.size());
    for (const auto& [name, privileges] : want.columns) {
      const auto position = table.column_position(name);
      const bool is_without_list =
          std::ranges::find(kColumnsWithoutList, name) != std::end(kColumnsWithoutList);
      if (!position && is_without_list) {
        throw_error(sqlstate::feature_not_supported,
                    "privileges on the system column \"{}\" are not supported", name);
      }
      if (!position) {
        throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                    name, relation.name);
      }
      of_columns[*position] |= privileges;
    }
    if (statement_.is_grant) return of_columns;
    for (std::size_t i = 0; i < of_columns.size(); ++i) {
      if (!relation.columns[i].dropped) {
        of_columns[i] |= want.whole & all_privileges(GrantedOn::column);
      }
    }
    return of_columns;
  }

  void change_column(Relation& relation, std::size_t position, Privileges privileges,
                     const AccessList& of_table) {
    Column& column = relation.columns[position];
    const Asked asked{privileges, privileges == all_privileges(GrantedOn::column)};
    column.grants = changed({column.grants, relation.owner, GrantedOn::column}, asked,
                            {GrantedOn::column, {}, relation.name, column.name}, &of_table);
    // Column grants without a privilege are removed.
    std::erase_if(column.grants, [](const Grant& grant) { return grant.privileges.empty(); });
  }

  void change_schema(std::string_view name) {
    const SchemaPtr old = schema_named(name);
    Schema schema = *old;
    schema.grants = changed(
        {schema.grants, schema.owner, GrantedOn::schema, everyone_on_schema(schema.oid)},
        all_or(wanted(GrantedOn::schema, "schema").whole), {GrantedOn::schema, "schema", name});
    session_.catalog.replace(*session_.transaction, *old, std::move(schema));
  }

  void change_database(std::string_view name) {
    const DatabasePtr old = session_.catalog.database(name);
    if (!old) {
      throw_error(SqlState{"3D000"}, "database \"{}\" does not exist", name);
    }
    DatabaseEntry database = *old;
    database.grants =
        changed({database.grants, database.owner, GrantedOn::database, kEveryoneOnDatabase},
                all_or(wanted(GrantedOn::database, "database").whole),
                {GrantedOn::database, "database", name});
    session_.catalog.replace(*session_.transaction, *old, std::move(database));
  }

  void change_large_object(Oid oid) {
    LargeObjects objects = large_objects_of(session_);
    LargeObject object = lock_large_object(session_, objects, oid);
    const std::string name = fmt::format("large object {}", oid);
    object.grants =
        changed(access_list(object), all_or(wanted(GrantedOn::large_object, "large object").whole),
                {GrantedOn::large_object, "large object", name});
    replace_large_object(session_, objects, object);
  }

  StatementContext& session_;
  const ast::GrantStmt& statement_;
  ResultSink& sink_;
  std::vector<Oid> grantees_;
};

}  // namespace

std::vector<Oid> grantees_of(StatementContext& session, const ast::GrantStmt& statement) {
  std::vector<Oid> grantees;
  for (const ast::Node* node : statement.grantees) {
    const auto& spec = ast::as<ast::RoleSpec>(node);
    const bool everyone = spec.roletype == ast::RoleSpecType::public_;
    grantees.push_back(everyone ? kPublic : role_of(session, spec)->oid);
  }
  return grantees;
}

void tell_memberships(StatementContext& session, AccessList& list) {
  list.set_memberships([&session, owner = list.owner()](Oid role) {
    std::vector<Oid> roles = session.rights.roles_of(role);
    if (session.rights.is_superuser(role)) roles.push_back(owner);
    return roles;
  });
}

void change_list(StatementContext& session, AccessList& list, const ListChange& change) {
  const ast::GrantStmt& statement = change.statement;
  if (statement.is_grant && statement.grant_option &&
      std::ranges::find(change.grantees, kPublic) != change.grantees.end()) {
    throw SqlError{sqlstate::invalid_grant_operation, "grant options can only be granted to roles"};
  }
  tell_memberships(session, list);
  for (const Oid grantee : change.grantees) {
    if (statement.is_grant) {
      list.grant(grantee, change.grantor, change.privileges,
                 statement.grant_option ? AccessList::GrantOption::with
                                        : AccessList::GrantOption::without);
    } else {
      list.revoke(
          grantee, change.grantor, change.privileges,
          statement.grant_option ? AccessList::Revoked::option : AccessList::Revoked::privileges,
          statement.behavior == ast::DropBehavior::cascade ? AccessList::Dependents::revoke
                                                           : AccessList::Dependents::refuse);
    }
  }
}

void grant_rights(StatementContext& session, const ast::GrantStmt& statement, ResultSink& sink) {
  GrantChange{session, statement, sink}.run();
}

}  // namespace swizzle::sql
