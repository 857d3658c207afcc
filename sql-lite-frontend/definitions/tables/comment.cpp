#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/rights/large_objects.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/subscriptions/subscriptions.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/triggers/event_triggers.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/procedure_names.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/user_types.h"

/// COMMENT ON.
namespace swizzle::sql {
namespace {

using ast::ObjectType;

/// Objects that came with the server belong to its superuser.
struct BuiltinName {
  std::string_view name;
  Oid oid;
};
constexpr std::array kLanguages{BuiltinName{"internal", 12}, BuiltinName{"c", 13},
                                BuiltinName{"sql", 14}};
constexpr std::array kMethods{BuiltinName{"heap", 2}, BuiltinName{"btree", 403},
                              BuiltinName{"gin", 2742}};
constexpr std::array kTablespaces{BuiltinName{"pg_default", 1663}, BuiltinName{"pg_global", 1664}};

std::string_view last_name(const ast::Node* object) {
  if (const auto* list = ast::try_as<ast::List>(object)) return ast::string_of(list->items.back());
  return ast::string_of(object);
}

bool is_of_kind(const Relation& relation, ObjectType type) {
  switch (type) {
    case ObjectType::view:
      return relation.kind == RelationKind::view;
    case ObjectType::matview:
      return relation.kind == RelationKind::materialized;
    case ObjectType::sequence:
      return relation.kind == RelationKind::sequence;
    default:
      return is_table(relation.kind) || relation.kind == RelationKind::computed;
  }
}

std::string_view kind_with_article(ObjectType type) {
  switch (type) {
    case ObjectType::view:
      return "a view";
    case ObjectType::matview:
      return "a materialized view";
    case ObjectType::sequence:
      return "a sequence";
    default:
      return "a table";
  }
}

/// Executes one COMMENT statement.
class Commenting {
 public:
  Commenting(StatementContext& session, const ast::CommentStmt& statement, ResultSink& sink)
      : session_(session), statement_(statement), sink_(sink), text_(statement.comment) {}

  void run() {
    switch (statement_.objtype) {
      case ObjectType::table:
      case ObjectType::view:
      case ObjectType::matview:
      case ObjectType::sequence:
        return on_relation();
      case ObjectType::column:
        return on_column();
      case ObjectType::tabconstraint:
        return on_constraint();
      case ObjectType::trigger:
        return comment_on_trigger(session_, names(), text_);
      case ObjectType::policy:
        return comment_on_policy(session_, names(), text_);
      case ObjectType::index:
        return on_index();
      case ObjectType::schema:
        return on_schema();
      case ObjectType::database:
        return on_database();
      case ObjectType::role:
        return on_role();
      case ObjectType::function:
      case ObjectType::aggregate:
      case ObjectType::routine:
        return on_function();
      case ObjectType::operator_:
        return comment_on_operator(session_, ast::as<ast::ObjectWithArgs>(statement_.object),
                                   text_);
      case ObjectType::cast:
        return comment_on_cast(session_, names(), text_);
      case ObjectType::largeobject:
        return comment_on_large_object(session_, statement_.object, text_);
      case ObjectType::publication:
        return comment_on_publication(session_, ast::string_of(statement_.object), text_);
      case ObjectType::event_trigger:
        return comment_on_event_trigger(session_, ast::string_of(statement_.object), text_);
      case ObjectType::subscription:
        return comment_on_subscription(session_, ast::string_of(statement_.object), text_);
      case ObjectType::extension:
        return comment_on_extension(session_, ast::string_of(statement_.object), text_);
      case ObjectType::type:
      case ObjectType::domain:
        return on_type();
      case ObjectType::domconstraint:
        return comment_on_domain_check(session_, names(), text_);
      case ObjectType::language:
        return on_builtin("language", class_id::pg_language, kLanguages);
      case ObjectType::collation:
        return on_collation();
      case ObjectType::tsdictionary:
      case ObjectType::tsconfiguration:
        return on_text_search();
      case ObjectType::access_method:
        return on_builtin("access method", class_id::pg_am, kMethods);
      case ObjectType::tablespace:
        return on_builtin("tablespace", class_id::pg_tablespace, kTablespaces, kSharedCatalog);
      default:
        throw_error(sqlstate::feature_not_supported, "COMMENT ON {} is not supported",
                    object_type_name(statement_.objtype));
    }
  }

 private:
  using Names = ast::NodeList;

  [[nodiscard]] Names names() const { return ast::as<ast::List>(statement_.object).items; }
  [[nodiscard]] Oid database() const { return session_.catalog.of_database().database(); }

  TablePtr find(Names names) {
    ast::RangeVar range;
    range.relname = ast::string_of(names.back());
    if (names.size() > 1) range.schemaname = ast::string_of(names[names.size() - 2]);
    Binder binder{session_.names, arena_};
    return binder.require_relation(range);
  }
  TablePtr lock(const TablePtr& table) {
    return session_.rights.lock_own(table, lock::RelationMode::share_update_exclusive);
  }
  void replace(const Table& table, Relation relation) {
    session_.catalog.replace(*session_.transaction, table, std::move(relation));
  }
  void put(Oid of_catalog, Oid object, Oid where, std::uint32_t part = 0) {
    put_comment(session_.catalog.of_database(), *session_.transaction, where,
                {of_catalog, object, part, text_});
  }
  void require_superuser(std::string_view what, std::string_view name) const {
    if (session_.rights.is_superuser(session_.user)) return;
    throw_error(sqlstate::insufficient_privilege, "must be owner of {} {}", what, name);
  }

  void on_relation() {
    const TablePtr found = find(names());
    if (!is_of_kind(found->relation, statement_.objtype)) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not {}", found->relation.name,
                  kind_with_article(statement_.objtype));
    }
    if (found->computed != nullptr) {
      require_superuser("table", found->relation.name);
      return put(class_id::pg_class, found->relation.oid, database());
    }
    const TablePtr table = lock(found);
    Relation relation = table->relation;
    relation.comment = text_;
    replace(*table, std::move(relation));
  }

  void on_column() {
    if (names().size() < 2) {
      throw SqlError{sqlstate::syntax_error, "column name must be qualified"};
    }
    const std::string_view name = ast::string_of(names().back());
    const Names of = names().first(names().size() - 1);
    if (comment_on_attribute(session_, of, name, text_)) return;
    const TablePtr found = find(of);
    if (found->relation.kind == RelationKind::sequence) {
      throw sql_error(sqlstate::wrong_object_type, "cannot set comment on relation \"{}\"",
                      found->relation.name)
          .with_detail("This operation is not supported for sequences.");
    }
    const auto position = found->column_position(name);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, found->relation.name);
    }
    if (found->computed != nullptr) {
      require_superuser("table", found->relation.name);
      return put(class_id::pg_class, found->relation.oid, database(),
                 static_cast<std::uint32_t>(*position + 1));
    }
    const TablePtr table = lock(found);
    Relation relation = table->relation;
    relation.columns[*position].comment = text_;
    replace(*table, std::move(relation));
  }

  void on_constraint() {
    const std::string_view name = ast::string_of(names().back());
    const TablePtr table = lock(find(names().first(names().size() - 1)));
    Relation relation = table->relation;
    const auto found = std::ranges::find(relation.constraints, name, &Constraint::name);
    if (found == relation.constraints.end()) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" for table \"{}\" does not exist",
                  name, relation.name);
    }
    found->comment = text_;
    replace(*table, std::move(relation));
  }

  void on_index() {
    const std::string_view name = ast::string_of(names().back());
    std::vector<Oid> schemas = session_.names.search_path();
    if (names().size() > 1) {
      const SchemaPtr named = session_.catalog.schema(ast::string_of(names()[names().size() - 2]));
      schemas.assign(1, named ? named->oid : kNoOid);
    }
    TablePtr table;
    for (const Oid oid : schemas) {
      table = session_.catalog.table_of_index(oid, name);
      if (table) break;
    }
    if (!table) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not an index",
                  find(names())->relation.name);
    }
    table = lock(table);
    Relation relation = table->relation;
    std::ranges::find(relation.indexes, name, &Index::name)->comment = text_;
    replace(*table, std::move(relation));
  }

  void on_schema() {
    const std::string_view name = ast::string_of(statement_.object);
    const SchemaPtr schema = session_.catalog.schema(name);
    if (!schema) {
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name);
    }
    session_.rights.require_owner(*schema);
    Schema changed = *schema;
    changed.comment = text_;
    session_.catalog.replace(*session_.transaction, *schema, std::move(changed));
  }

  void on_database() {
    const std::string_view name = ast::string_of(statement_.object);
    const DatabasePtr entry = session_.catalog.database(name);
    if (!entry) {
      // A dump that is restored into another database contains the old name.
      return session_.notice(sink_, Severity::warning, sqlstate::invalid_catalog_name,
                             fmt::format("database \"{}\" does not exist", name));
    }
    session_.rights.require_owner(*entry);
    DatabaseEntry changed = *entry;
    changed.comment = text_;
    session_.catalog.replace(*session_.transaction, *entry, std::move(changed));
  }

  void on_role() {
    const std::string_view name = ast::string_of(statement_.object);
    const RolePtr role = session_.catalog.role(name);
    if (!role) throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", name);
    if (!session_.rights.is_superuser(session_.user)) {
      const auto refuse = [](std::string detail) {
        throw SqlError{sqlstate::insufficient_privilege, "permission denied"}.with_detail(
            std::move(detail));
      };
      const RolePtr self = session_.catalog.role(session_.user);
      if (role->superuser) refuse("The current user must have the SUPERUSER attribute.");
      if (!self || !self->create_role) {
        refuse("The current user must have the CREATEROLE attribute.");
      }
      if (!session_.rights.is_admin_of(session_.user, role->oid)) {
        refuse(
            fmt::format("The current user must have the ADMIN option on role \"{}\".", role->name));
      }
    }
    Role changed = *role;
    changed.comment = text_;
    session_.catalog.replace(*session_.transaction, *role, std::move(changed));
  }

  /// PostgreSQL reports an unknown type here without a position.
  TypeId type_named(const ast::Node* node) {
    Binder binder{session_.names, arena_};
    try {
      return binder.bind_type(ast::as<ast::TypeName>(node)).type;
    } catch (SqlError& error) {
      error.fields().position = 0;
      throw;
    }
  }

  const Function* function_named(const ast::ObjectWithArgs& object, std::string_view name) const {
    const std::span<const Function* const> known = functions_named(name);
    if (known.size() == 1) return known.front();
    if (known.empty()) {
      throw_error(sqlstate::undefined_function, "could not find a function named \"{}\"",
                  ast::string_of(object.objname.back()));
    }
    throw sql_error(sqlstate::ambiguous_function, "function name \"{}\" is not unique", name)
        .with_hint("Specify the argument list to select the function unambiguously.");
  }

  const Function* find_function(const ast::ObjectWithArgs& object) {
    if (object.objname.size() > 1) {
      const std::string_view schema = ast::string_of(object.objname[object.objname.size() - 2]);
      if (!session_.names.schema_exists(schema)) {
        throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
      }
    }
    const std::string_view name = ast::string_of(object.objname.back());
    if (object.args_unspecified) return function_named(object, name);
    std::vector<TypeId> types;
    for (const ast::Node* type : object.objargs) types.push_back(type_named(type));
    for (const Function* known : functions_named(name)) {
      if (std::ranges::equal(known->arguments, types)) return known;
    }
    std::string list;
    for (const TypeId type : types) list += (list.empty() ? "" : ", ") + format_type(type);
    throw_error(sqlstate::undefined_function, "{} {}({}) does not exist",
                statement_.objtype == ObjectType::aggregate ? "aggregate" : "function", name, list);
  }

  void on_function() {
    const auto& named = ast::as<ast::ObjectWithArgs>(statement_.object);
    RoutinePtr made;
    if (is_routine(statement_.objtype)) {
      const bool is_users = named.objname.size() > 1 &&
                            ast::string_of(named.objname[named.objname.size() - 2]) != "pg_catalog";
      made = is_users ? require_named_routine(session_, named, statement_.objtype)
                      : find_named_routine(session_, named, statement_.objtype);
    }
    if (made) {
      if (statement_.objtype == ObjectType::aggregate && made->kind != RoutineKind::aggregate) {
        throw_error(sqlstate::wrong_object_type, "function {} is not an aggregate",
                    session_.names.name_of(TypeId::regprocedure, made->oid).value_or(made->name));
      }
      require_owner(session_, *made);
      const RoutinePtr locked = session_.catalog.lock_routine(*session_.transaction, *made);
      Routine changed = *locked;
      changed.comment = text_;
      return session_.catalog.replace(*session_.transaction, *locked, std::move(changed));
    }
    const Function* function = find_function(ast::as<ast::ObjectWithArgs>(statement_.object));
    if (statement_.objtype == ObjectType::aggregate && function->kind != FunctionKind::aggregate) {
      throw_error(sqlstate::wrong_object_type, "function {} is not an aggregate",
                  procedure_name(*function));
    }
    require_superuser(function->kind == FunctionKind::aggregate ? "aggregate" : "function",
                      function->name);
    put(class_id::pg_proc, function->oid, database());
  }

  void on_type() {
    const TypeName written = sql::type_named(ast::as<ast::TypeName>(statement_.object).names);
    const TypePtr shell = find_type_named(session_, written);
    if (shell && shell->is_shell()) return comment_on_type(session_, *shell, text_);
    const TypeId type = type_named(statement_.object);
    const TypePtr made = session_.names.user_type(type);
    if (statement_.objtype == ObjectType::domain && !is_domain(type)) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a domain",
                  made ? made->name : format_type(type));
    }
    if (made) return comment_on_type(session_, *made, text_);
    require_superuser("type", format_type(type));
    put(class_id::pg_type, raw(type), database());
  }

  void on_collation() {
    if (comment_on_collation(session_, names(), text_)) return;
    const std::string_view name = ast::string_of(names().back());
    require_superuser("collation", name);
    put(class_id::pg_collation, *builtin_collation(name), database());
  }

  void on_text_search() {
    Oid number = kNoOid;
    if (comment_on_text_search(session_, statement_.objtype, names(), text_, number)) return;
    const bool is_config = statement_.objtype == ObjectType::tsconfiguration;
    put(is_config ? class_id::pg_ts_config : class_id::pg_ts_dict, number, database());
  }

  void on_builtin(std::string_view what, Oid of_catalog, std::span<const BuiltinName> known) {
    on_builtin(what, of_catalog, known, database());
  }
  void on_builtin(std::string_view what, Oid of_catalog, std::span<const BuiltinName> known,
                  Oid where) {
    const std::string_view name = last_name(statement_.object);
    const auto found = std::ranges::find(known, name, &BuiltinName::name);
    if (found == known.end()) {
      throw_error(sqlstate::undefined_object, "{} \"{}\" does not exist", what, name);
    }
    require_superuser(what, name);
    put(of_catalog, found->oid, where);
  }

  StatementContext& session_;
  const ast::CommentStmt& statement_;
  ResultSink& sink_;
  std::string text_;
  Arena arena_;
};

}  // namespace

void comment_on(StatementContext& session, const ast::CommentStmt& statement, ResultSink& sink) {
  Commenting{session, statement, sink}.run();
}

}  // namespace swizzle::sql
