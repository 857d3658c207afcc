#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/sql_error.h"

/// ALTER FUNCTION and PROCEDURE, and the part of their definitions that CREATE shares.
namespace swizzle::sql {
namespace {

struct RoutineName {
  std::string schema;
  std::string name;
};

RoutineName name_of_object(const ast::ObjectWithArgs& object) {
  RoutineName name;
  name.name = ast::string_of(object.objname.back());
  if (object.objname.size() > 1) {
    name.schema = ast::string_of(object.objname[object.objname.size() - 2]);
  }
  return name;
}

std::string written(const RoutineName& name) {
  return name.schema.empty() ? name.name : name.schema + "." + name.name;
}

std::string type_list(StatementContext& session, std::span<const TypeId> types) {
  std::string list;
  for (const TypeId type : types) {
    if (!list.empty()) list += ", ";
    list += session.names.name_of(TypeId::regtype, raw(type)).value_or(format_type(type));
  }
  return list;
}

std::vector<TypeId> types_named(StatementContext& session, ast::NodeList names) {
  std::vector<TypeId> types;
  for (const ast::Node* node : names) {
    types.push_back(signature_type(session, ast::as<ast::TypeName>(node), nullptr).type);
  }
  return types;
}

/// All that the name can mean, along the search path.
std::vector<RoutinePtr> candidates(StatementContext& session, const RoutineName& name) {
  std::vector<RoutinePtr> found;
  for (const auto& one : session.names.find_routines(name.schema, name.name)) {
    found.push_back(one.callable->routine);
  }
  return found;
}

bool fits(RoutineKind kind, ast::ObjectType type) {
  if (type == ast::ObjectType::routine) return true;
  if (type == ast::ObjectType::aggregate) return kind == RoutineKind::aggregate;
  return (kind == RoutineKind::procedure) == (type == ast::ObjectType::procedure);
}

double number_of(const ast::Node* node) {
  if (const auto* whole = ast::try_as<ast::Integer>(node)) return whole->ival;
  return std::strtod(std::string{ast::as<ast::Float>(node).fval}.c_str(), nullptr);
}

/// Returns the procedure whose parameters, OUT ones too, have these types.
RoutinePtr procedure_by_all_types(const std::vector<RoutinePtr>& found,
                                  const std::vector<TypeId>& types) {
  for (const RoutinePtr& one : found) {
    if (one->kind != RoutineKind::procedure) continue;
    std::vector<TypeId> all;
    for (const RoutineParameter& parameter : one->parameters) all.push_back(parameter.type);
    if (all == types) return one;
  }
  return nullptr;
}

bool has_modes(const ast::ObjectWithArgs& object) {
  for (const ast::Node* node : object.objfuncargs) {
    const auto mode = ast::as<ast::FunctionParameter>(node).mode;
    if (mode != ast::FunctionParameterMode::default_) return true;
  }
  return false;
}

}  // namespace

bool is_builtin_function(std::string_view name) {
  return !functions_named(name).empty() || !unsupported_functions(name).empty();
}

std::string_view routine_noun(ast::ObjectType type) noexcept {
  if (type == ast::ObjectType::procedure) return "procedure";
  if (type == ast::ObjectType::aggregate) return "aggregate";
  return type == ast::ObjectType::routine ? "routine" : "function";
}

RoutinePtr find_named_routine(StatementContext& session, const ast::ObjectWithArgs& object,
                              ast::ObjectType type) {
  const RoutineName name = name_of_object(object);
  if (!name.schema.empty() && !session.names.schema_exists(name.schema)) {
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name.schema);
  }
  std::vector<RoutinePtr> found = candidates(session, name);
  if (object.args_unspecified) {
    std::erase_if(found, [&](const RoutinePtr& one) { return !fits(one->kind, type); });
    if (found.size() > 1) {
      throw sql_error(sqlstate::ambiguous_function, "{} name \"{}\" is not unique",
                      routine_noun(type), written(name))
          .with_hint(fmt::format("Specify the argument list to select the {} unambiguously.",
                                 routine_noun(type)));
    }
    return found.empty() ? nullptr : found.front();
  }
  const std::vector<TypeId> types = types_named(session, object.objargs);
  const RoutinePtr by_all = procedure_by_all_types(found, types);
  for (const auto& one : session.names.find_routines(name.schema, name.name)) {
    if (one.callable->routine->argument_types() != types) continue;
    // The built-in one comes first.
    if (!one.before_builtin && names_builtin(session, object)) return nullptr;
    const RoutinePtr& by_inputs = one.callable->routine;
    const bool may_name_outputs =
        type == ast::ObjectType::procedure || type == ast::ObjectType::routine;
    if (may_name_outputs && by_all && by_all->oid != by_inputs->oid && !has_modes(object)) {
      throw_error(sqlstate::ambiguous_function, "{} name \"{}\" is not unique", routine_noun(type),
                  written(name));
    }
    return by_inputs;
  }
  return by_all;
}

bool names_builtin(StatementContext& session, const ast::ObjectWithArgs& object) {
  const RoutineName name = name_of_object(object);
  if (!name.schema.empty() && name.schema != "pg_catalog") return false;
  const std::vector<TypeId> types = types_named(session, object.objargs);
  const auto takes_them = [&](const Function& builtin) {
    return std::ranges::equal(builtin.arguments, types);
  };
  const auto known = functions_named(name.name);
  return std::ranges::any_of(known, [&](const Function* one) { return takes_them(*one); }) ||
         std::ranges::any_of(unsupported_functions(name.name), takes_them);
}

RoutinePtr require_named_routine(StatementContext& session, const ast::ObjectWithArgs& object,
                                 ast::ObjectType type) {
  const RoutineName name = name_of_object(object);
  const RoutinePtr found = find_named_routine(session, object, type);
  if (!found) {
    const bool may_be_builtin = name.schema.empty() || name.schema == "pg_catalog";
    if (object.args_unspecified) {
      if (may_be_builtin && is_builtin_function(name.name)) {
        throw SqlError{sqlstate::feature_not_supported,
                       "changing a built-in function is not supported"};
      }
      throw_error(sqlstate::undefined_function, "could not find a {} named \"{}\"",
                  routine_noun(type), written(name));
    }
    const std::vector<TypeId> types = types_named(session, object.objargs);
    const bool is_builtin = names_builtin(session, object);
    if (is_builtin && !session.rights.is_superuser(session.user)) {
      throw_error(sqlstate::insufficient_privilege, "must be owner of function {}", name.name);
    }
    if (is_builtin) {
      throw SqlError{sqlstate::feature_not_supported,
                     "changing a built-in function is not supported"};
    }
    throw_error(sqlstate::undefined_function, "{} {}({}) does not exist", routine_noun(type),
                written(name), type_list(session, types));
  }
  if (!fits(found->kind, type)) {
    if (type == ast::ObjectType::aggregate) {
      throw_error(sqlstate::wrong_object_type, "function {}({}) is not an aggregate", written(name),
                  type_list(session, found->argument_types()));
    }
    throw_error(sqlstate::wrong_object_type, "{}({}) is not a {}", written(name),
                type_list(session, found->argument_types()), routine_noun(type));
  }
  return found;
}

void require_owner(StatementContext& session, const Routine& routine) {
  if (session.rights.owns(routine.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of {} {}",
              routine.kind == RoutineKind::procedure   ? "procedure"
              : routine.kind == RoutineKind::aggregate ? "aggregate"
                                                       : "function",
              routine.name);
}

bool apply_common_option(StatementContext& session, const ast::DefElem& option, Routine& routine) {
  const auto flag = [&] { return ast::as<ast::Boolean>(option.arg).boolval; };
  if (option.defname == "volatility") {
    routine.volatility = ast::string_of(option.arg).front();
  } else if (option.defname == "strict") {
    routine.strict = flag();
  } else if (option.defname == "security") {
    routine.security_definer = flag();
  } else if (option.defname == "leakproof") {
    if (flag() && !session.rights.is_superuser(session.user)) {
      throw SqlError{sqlstate::insufficient_privilege,
                     "only superuser can define a leakproof function"};
    }
    routine.leakproof = flag();
  } else if (option.defname == "parallel") {
    const std::string_view how = ast::string_of(option.arg);
    if (how != "safe" && how != "restricted" && how != "unsafe") {
      throw SqlError{sqlstate::syntax_error,
                     "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE"};
    }
    routine.parallel = how.front();
  } else if (option.defname == "cost") {
    routine.cost = static_cast<float>(number_of(option.arg));
    if (routine.cost <= 0) {
      throw SqlError{sqlstate::invalid_parameter_value, "COST must be positive"};
    }
  } else if (option.defname == "rows") {
    routine.rows = static_cast<float>(number_of(option.arg));
    if (routine.rows <= 0) {
      throw SqlError{sqlstate::invalid_parameter_value, "ROWS must be positive"};
    }
  } else if (option.defname == "set") {
    const std::string_view name = ast::as<ast::VariableSetStmt>(option.arg).name;
    if (name == "transaction_isolation" || name == "transaction_read_only" ||
        name == "transaction_deferrable") {
      throw_error(sqlstate::feature_not_supported,
                  "parameter \"{}\" cannot be set locally in functions", name);
    }
    session.variables.change_stored(routine.settings, ast::as<ast::VariableSetStmt>(option.arg));
  } else if (option.defname == "support") {
    throw SqlError{sqlstate::feature_not_supported, "SUPPORT of a function is not supported"};
  } else {
    return false;
  }
  return true;
}

void check_costs(const Routine& routine) {
  if (routine.rows > 0 && !routine.returns_set) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "ROWS is not applicable when function does not return a set"};
  }
}

void alter_routine(StatementContext& session, const ast::AlterFunctionStmt& statement) {
  const RoutinePtr found = require_named_routine(session, *statement.func, statement.objtype);
  require_owner(session, *found);
  if (found->kind == RoutineKind::aggregate) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is an aggregate function", found->name);
  }
  const RoutinePtr locked = session.catalog.lock_routine(*session.transaction, *found);
  Routine changed = *locked;
  std::vector<std::string_view> seen;
  for (const ast::Node* node : statement.actions) {
    const auto& option = ast::as<ast::DefElem>(node);
    note_option(option, seen);
    const bool of_procedures = option.defname == "set" || option.defname == "security";
    if (locked->kind == RoutineKind::procedure && !of_procedures) {
      throw SqlError{sqlstate::invalid_function_definition,
                     "invalid attribute in procedure definition"}
          .at_position(option.location + 1);
    }
    apply_common_option(session, option, changed);
  }
  check_costs(changed);
  session.catalog.replace(*session.transaction, *locked, std::move(changed));
}

namespace {

/// 42723 where the schema has another of that name with the same arguments.
void refuse_taken(StatementContext& session, const Routine& routine, Oid schema,
                  std::string_view name) {
  for (const RoutinePtr& other : session.catalog.routines_named(name)) {
    if (other->oid == routine.oid || other->schema != schema ||
        other->argument_types() != routine.argument_types()) {
      continue;
    }
    throw_error(sqlstate::duplicate_function, "function {}({}) already exists in schema \"{}\"",
                name, type_list(session, routine.argument_types()),
                session.names.schema_name(schema));
  }
}

RoutinePtr lock_own_routine(StatementContext& session, const ast::Node* object,
                            ast::ObjectType type) {
  const RoutinePtr found =
      require_named_routine(session, ast::as<ast::ObjectWithArgs>(object), type);
  require_owner(session, *found);
  return session.catalog.lock_routine(*session.transaction, *found);
}

}  // namespace

void rename_routine(StatementContext& session, const ast::RenameStmt& statement) {
  const RoutinePtr routine = lock_own_routine(session, statement.object, statement.rename_type);
  refuse_taken(session, *routine, routine->schema, statement.newname);
  if (const SchemaPtr schema = session.catalog.schema(routine->schema)) {
    session.rights.require(*schema, privilege::kCreate);
  }
  Routine changed = *routine;
  changed.name = statement.newname;
  session.catalog.replace(*session.transaction, *routine, std::move(changed));
}

void set_routine_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const RoutinePtr routine = lock_own_routine(session, statement.object, statement.object_type);
  const RolePtr owner =
      require_new_owner(session, *statement.newowner, routine->owner, routine->schema);
  if (!owner) return;
  Routine changed = *routine;
  if (!changed.grants.empty()) {
    AccessList list{changed.grants, changed.owner, GrantedOn::function, kEveryoneOnFunction};
    list.change_owner(owner->oid);
    changed.grants = list.grants();
  }
  changed.owner = owner->oid;
  session.catalog.replace(*session.transaction, *routine, std::move(changed));
}

void set_routine_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement) {
  const RoutinePtr routine = lock_own_routine(session, statement.object, statement.object_type);
  if (routine->schema == session.names.temp_schema || statement.newschema == "pg_temp") {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot move objects into or out of temporary schemas"};
  }
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == routine->schema) return;
  refuse_taken(session, *routine, schema->oid, routine->name);
  Routine changed = *routine;
  changed.schema = schema->oid;
  session.catalog.replace(*session.transaction, *routine, std::move(changed));
}

}  // namespace swizzle::sql
