// DROP FUNCTION and PROCEDURE, and the dependents of routines.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Kind = Dependent::Kind;

/// Collects the objects that call one routine, or one operator.
class RoutineDependents {
 public:
  RoutineDependents(StatementContext& session, const Routine& routine, std::vector<Dependent>& list)
      : session_(session),
        oid_(routine.oid),
        on_(described(session, routine)),
        stored_name_(stored_routine_name(routine.oid) + "("),
        stored_cast_(stored_cast_name(routine.oid) + "("),
        stored_constant_(stored_constant(TypeId::regproc, routine.oid)),
        list_(list) {}
  RoutineDependents(StatementContext& session, const UserOperator& op, std::vector<Dependent>& list)
      : session_(session),
        oid_(op.oid),
        on_(described(session, op)),
        stored_name_(stored_operator_name(op.oid) + "("),
        stored_cast_(stored_name_),
        stored_constant_(stored_constant(TypeId::regoper, op.oid)),
        list_(list) {}

  void collect() {
    check_stack();
    for (const TablePtr& table : tables_naming(session_, {oid_})) {
      if (has_query(table->relation.kind)) {
        of_view(table);
      } else {
        of_table(table);
      }
      of_triggers(table);
    }
    add_policies_calling(session_, oid_, on_, list_);
    for (const TypePtr& type : session_.catalog.naming<UserType>({oid_})) of_domain(*type);
    for (const RoutinePtr& other : session_.catalog.naming<Routine>({oid_})) of_routine(*other);
    for (const OperatorPtr& op : session_.catalog.naming<UserOperator>({oid_})) of_operator(*op);
    for (const EventTriggerPtr& trigger : session_.catalog.naming<EventTrigger>({oid_})) {
      if (trigger->function != oid_) continue;
      add_once(list_, {Kind::event_trigger, nullptr, trigger->oid, 0,
                       "event trigger " + trigger->name, on_});
    }
    for (const CastPtr& cast : session_.catalog.naming<UserCast>({oid_})) {
      if (cast->function != oid_) continue;
      add_once(list_, {Kind::cast, nullptr, cast->oid, 0, described(session_, *cast), on_});
    }
  }

 private:
  [[nodiscard]] bool calls(std::string_view sql) const {
    return sql.contains(stored_name_) || sql.contains(stored_cast_) ||
           sql.contains(stored_constant_);
  }

  void of_view(const TablePtr& view) {
    const auto& called = view->relation.view_routines;
    if (std::ranges::find(called, oid_, &ViewRoutine::routine) == called.end()) return;
    add_once(list_, {Kind::view, view, kNoOid, 0, described(session_, *view), on_});
    for (Dependent& next : dependents_of(session_, std::span{&view, 1})) {
      add_once(list_, std::move(next));
    }
  }

  /// True if the relation's partition key, or that of an ancestor, calls the function: the table is
  /// dropped too.
  [[nodiscard]] bool is_partitioned_by(const Relation& relation) const {
    check_stack();
    const auto& key = relation.partition_key;
    if (key && std::ranges::any_of(key->columns, [&](const PartitionColumn& column) {
          return calls(column.expression_sql);
        })) {
      return true;
    }
    if (relation.partition_of == kNoOid) return false;
    const TablePtr whole = session_.catalog.table(relation.partition_of);
    return whole && is_partitioned_by(whole->relation);
  }

  void of_table(const TablePtr& table) {
    if (is_partitioned_by(table->relation)) {
      add_once(list_, {Kind::table, table, kNoOid, 0, described(session_, *table), on_});
      for (Dependent& next : dependents_of(session_, std::span{&table, 1})) {
        add_once(list_, std::move(next));
      }
      return;
    }
    const std::string name =
        session_.names.name_of(TypeId::regclass, table->relation.oid).value_or("");
    for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
      const Column& column = table->relation.columns[i];
      if (column.dropped || !calls(column.default_sql)) continue;
      const std::string described = fmt::format("column {} of table {}", column.name, name);
      const Kind kind = column.generated ? Kind::generated_column : Kind::default_value;
      add_once(list_, {kind, table, kNoOid, i,
                       column.generated ? described : "default value for " + described, on_});
    }
    for (const Constraint& constraint : table->relation.constraints) {
      if (constraint.kind != ConstraintKind::check || !calls(constraint.check_sql)) continue;
      add_once(list_, {Kind::constraint, table, constraint.oid, 0,
                       fmt::format("constraint {} on table {}", constraint.name, name), on_});
    }
    for (const Index& index : table->relation.indexes) {
      const bool names = std::ranges::any_of(index.columns, [this](const IndexColumn& column) {
        return calls(column.expression_sql);
      });
      if (!names && !calls(index.predicate_sql)) continue;
      add_once(list_, {Kind::index, table, index.oid, 0, "index " + index.name, on_});
    }
  }

  void of_domain(const UserType& domain) {
    if (calls(domain.default_sql)) {
      const std::string name =
          "type " + session_.names.user_type_name(domain.id()).value_or(domain.name);
      add_once(list_, {Kind::type, nullptr, domain.oid, 0, name, on_});
      const TypePtr type = session_.names.user_type(domain.id());
      for (Dependent& next : dependents_of_types(session_, std::span{&type, 1})) {
        add_once(list_, std::move(next));
      }
    }
    for (const DomainCheck& check : domain.checks) {
      if (!calls(check.sql)) continue;
      add_once(list_, {Kind::constraint, nullptr, check.oid, 0, "constraint " + check.name, on_});
    }
  }

  void of_triggers(const TablePtr& table) {
    for (const Trigger& trigger : table->relation.triggers) {
      if (trigger.function != oid_ && !calls(trigger.when_sql)) continue;
      add_once(list_,
               {Kind::trigger, table, trigger.oid, 0, described(session_, *table, trigger), on_});
    }
  }

  void of_routine(const Routine& other) {
    if (other.oid == oid_) return;
    const auto& called = other.body_routines;
    const bool in_body =
        std::ranges::find(called, oid_, &ViewRoutine::routine) != called.end() || is_part_of(other);
    const bool in_default = std::ranges::any_of(
        other.parameters,
        [this](const RoutineParameter& parameter) { return calls(parameter.default_sql); });
    if (!in_body && !in_default) return;
    Dependent dependent{Kind::routine, nullptr, other.oid, 0, described(session_, other), on_};
    if (std::ranges::find(list_, dependent.name, &Dependent::name) != list_.end()) return;
    list_.push_back(std::move(dependent));
    RoutineDependents{session_, other, list_}.collect();
  }

  /// True if the other routine is an aggregate that uses this function.
  [[nodiscard]] bool is_part_of(const Routine& other) const {
    if (!other.aggregate) return false;
    const AggregateDefinition& made = *other.aggregate;
    const Oid parts[] = {made.transition,        made.final,          made.combine,
                         made.moving_transition, made.moving_inverse, made.moving_final,
                         made.sort_operator};
    return std::ranges::find(parts, oid_) != std::end(parts);
  }

  void of_operator(const UserOperator& op) {
    if (op.function != oid_ && op.restriction != oid_ && op.join != oid_) return;
    Dependent dependent{Kind::op, nullptr, op.oid, 0, described(session_, op), on_};
    if (std::ranges::find(list_, dependent.name, &Dependent::name) != list_.end()) return;
    list_.push_back(std::move(dependent));
    RoutineDependents{session_, op, list_}.collect();
  }

  StatementContext& session_;
  Oid oid_;
  std::string on_;
  std::string stored_name_;
  std::string stored_cast_;
  std::string stored_constant_;
  std::vector<Dependent>& list_;
};

}  // namespace

void add_routine(StatementContext& session, const Routine& routine, const std::string& on,
                 std::vector<Dependent>& list) {
  const std::string name = described(session, routine);
  if (std::ranges::find(list, name, &Dependent::name) != list.end()) return;
  list.push_back({Kind::routine, nullptr, routine.oid, 0, name, on});
  RoutineDependents{session, routine, list}.collect();
}

std::string described(StatementContext& session, const Routine& routine) {
  // PostgreSQL says "function" for procedures and aggregates too.
  return "function " + session.names.routine_signature(routine);
}

std::vector<Dependent> dependents_of_routines(StatementContext& session,
                                              std::span<const RoutinePtr> routines) {
  std::vector<Dependent> list;
  for (const RoutinePtr& routine : routines) RoutineDependents{session, *routine, list}.collect();
  // Older ones first.
  std::ranges::stable_sort(list, {}, [](const Dependent& dependent) {
    return dependent.oid != kNoOid ? dependent.oid : dependent.table->relation.oid;
  });
  std::erase_if(list, [&](const Dependent& dependent) {
    return dependent.kind == Kind::routine &&
           std::ranges::any_of(
               routines, [&](const RoutinePtr& routine) { return routine->oid == dependent.oid; });
  });
  return list;
}

std::vector<Dependent> dependents_of_operators(StatementContext& session,
                                               std::span<const OperatorPtr> operators) {
  std::vector<Dependent> list;
  for (const OperatorPtr& op : operators) RoutineDependents{session, *op, list}.collect();
  std::erase_if(list, [&](const Dependent& dependent) {
    return dependent.kind == Kind::op && std::ranges::any_of(operators, [&](const OperatorPtr& op) {
             return op->oid == dependent.oid;
           });
  });
  return list;
}

namespace {

/// Adds the objects sorted by age, each with its callers; direct dependents of the type are
/// reported as such.
void add_with_calls(StatementContext& session, std::vector<Dependent> direct,
                    std::vector<Dependent>& list) {
  std::ranges::sort(direct, {}, &Dependent::oid);
  const auto is_direct = [&direct](const Dependent& one) {
    return std::ranges::find(direct, one.name, &Dependent::name) != direct.end();
  };
  for (const Dependent& one : direct) {
    if (std::ranges::find(list, one.name, &Dependent::name) != list.end()) continue;
    list.push_back(one);
    std::vector<Dependent> calls;
    if (one.kind == Kind::routine) {
      if (const RoutinePtr routine = session.catalog.routine(one.oid)) {
        RoutineDependents{session, *routine, calls}.collect();
      }
    } else if (one.kind == Kind::op) {
      if (const OperatorPtr op = session.catalog.made<UserOperator>(one.oid)) {
        RoutineDependents{session, *op, calls}.collect();
      }
    }
    for (Dependent& call : calls) {
      if (!is_direct(call)) add_once(list, std::move(call));
    }
  }
}

}  // namespace

void add_routines_of_types(StatementContext& session, std::span<const TypePtr> types,
                           std::vector<Dependent>& list) {
  for (const TypePtr& type : types) {
    const std::string on = "type " + session.names.user_type_name(type->id()).value_or(type->name);
    const auto is_it = [&](TypeId one) {
      return one == type->id() || one == array_type(type->id());
    };
    std::vector<Dependent> direct;
    const NamedObjects numbers = numbers_of(type->id());
    for (const RoutinePtr& routine : session.catalog.naming<Routine>(numbers)) {
      const bool names =
          is_it(routine->result) ||
          std::ranges::any_of(routine->parameters,
                              [&](const RoutineParameter& p) {
                                return is_it(p.type) ||
                                       p.default_sql.contains(stored_cast_target(type->id()));
                              }) ||
          std::ranges::find(routine->body_types, type->oid, &ViewType::type) !=
              routine->body_types.end() ||
          is_named_in(routine->body_routines, type->oid) ||
          is_named_in(routine->body_routines, raw(array_type(type->id())));
      const bool in_state = routine->aggregate && (is_it(routine->aggregate->state) ||
                                                   is_it(routine->aggregate->moving_state));
      if (!names && !in_state) continue;
      direct.push_back({Kind::routine, nullptr, routine->oid, 0, described(session, *routine), on});
    }
    for (const OperatorPtr& op : session.catalog.naming<UserOperator>(numbers)) {
      if (!is_it(op->left) && !is_it(op->right) && !is_it(op->result)) continue;
      direct.push_back({Kind::op, nullptr, op->oid, 0, described(session, *op), on});
    }
    for (const CastPtr& cast : session.catalog.naming<UserCast>(numbers)) {
      if (!is_it(cast->source) && !is_it(cast->target)) continue;
      direct.push_back({Kind::cast, nullptr, cast->oid, 0, described(session, *cast), on});
    }
    add_with_calls(session, std::move(direct), list);
  }
}

void add_routines_of_relations(StatementContext& session, std::span<const TablePtr> relations,
                               std::vector<Dependent>& list) {
  for (const TablePtr& table : relations) {
    const Oid oid = table->relation.oid;
    for (const RoutinePtr& routine : session.catalog.naming<Routine>({oid})) {
      const bool in_body = std::ranges::find(routine->body_names, oid, &ViewName::relation) !=
                               routine->body_names.end() ||
                           is_named_in(routine->body_routines, oid);
      if (in_body) add_routine(session, *routine, described(session, *table), list);
    }
  }
}

void add_routines_of_schema(StatementContext& session, const Schema& schema,
                            std::vector<Dependent>& dependents) {
  std::vector<RoutinePtr> inside;
  for (const RoutinePtr& routine : session.catalog.naming<Routine>({schema.oid})) {
    if (routine->schema == schema.oid) inside.push_back(routine);
  }
  for (const RoutinePtr& routine : inside) {
    add_once(dependents, {Kind::routine, nullptr, routine->oid, 0, described(session, *routine),
                          "schema " + schema.name});
  }
  std::vector<OperatorPtr> operators;
  for (const OperatorPtr& op : session.catalog.naming<UserOperator>({schema.oid})) {
    if (op->schema == schema.oid) operators.push_back(op);
  }
  for (const OperatorPtr& op : operators) {
    add_once(dependents,
             {Kind::op, nullptr, op->oid, 0, described(session, *op), "schema " + schema.name});
  }
  std::vector<Dependent> further = dependents_of_routines(session, inside);
  for (Dependent& dependent : dependents_of_operators(session, operators)) {
    further.push_back(std::move(dependent));
  }
  for (Dependent& dependent : further) {
    if (dependent.table && dependent.table->relation.schema == schema.oid) continue;
    add_once(dependents, std::move(dependent));
  }
}

namespace {

std::string joined_names(ast::NodeList names) {
  std::string text;
  for (const ast::Node* name : names) {
    if (!text.empty()) text += ".";
    text += ast::string_of(name);
  }
  return text;
}

/// Returns the routine's name as written, for the notice of IF EXISTS.
std::string written_object(const ast::ObjectWithArgs& object) {
  std::string arguments;
  for (const ast::Node* argument : object.objargs) {
    const auto& type = ast::as<ast::TypeName>(argument);
    if (!arguments.empty()) arguments += ',';
    arguments += joined_names(type.names);
    if (!type.array_bounds.empty()) arguments += "[]";
  }
  return joined_names(object.objname) + "(" + arguments + ")";
}

/// "lower(text)"
std::string written_object_types(StatementContext& session, const ast::ObjectWithArgs& object) {
  std::string arguments;
  for (const ast::Node* argument : object.objargs) {
    if (!arguments.empty()) arguments += ',';
    arguments +=
        format_type(signature_type(session, ast::as<ast::TypeName>(argument), nullptr).type);
  }
  return std::string{ast::string_of(object.objname.back())} + "(" + arguments + ")";
}

/// Returns the missing part of the name, without which no object of that name can exist.
std::string missing_part(StatementContext& session, const ast::ObjectWithArgs& object) {
  if (object.objname.size() > 1) {
    const std::string_view schema = ast::string_of(object.objname[object.objname.size() - 2]);
    if (!session.names.schema_exists(schema)) return fmt::format("schema \"{}\"", schema);
  }
  for (const ast::Node* argument : object.objargs) {
    const auto& type = ast::as<ast::TypeName>(argument);
    try {
      static_cast<void>(signature_type(session, type, nullptr));
    } catch (const SqlError& error) {
      if (error.state() == sqlstate::invalid_schema_name) return error.error().message();
      return fmt::format("type \"{}\"", joined_names(type.names));
    }
  }
  return {};
}

}  // namespace

namespace {

void refuse_aggregate_as_function(const Routine& routine, ast::ObjectType said) {
  if (routine.kind != RoutineKind::aggregate || said != ast::ObjectType::function) return;
  throw sql_error(sqlstate::wrong_object_type, "\"{}\" is an aggregate function", routine.name)
      .with_hint("Use DROP AGGREGATE to drop aggregate functions.");
}

}  // namespace

void drop_routines(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  const std::string_view noun = routine_noun(statement.remove_type);
  std::vector<RoutinePtr> routines;
  for (const ast::Node* node : statement.objects) {
    const auto& object = ast::as<ast::ObjectWithArgs>(node);
    RoutinePtr routine;
    if (statement.missing_ok) {
      const std::string missing = missing_part(session, object);
      if (missing.empty()) routine = find_named_routine(session, object, statement.remove_type);
      const bool is_builtin = is_builtin_function(ast::string_of(object.objname.back()));
      if (!routine && !is_builtin) {
        notice_missing(
            session, sink,
            missing.empty() ? fmt::format("{} {}", noun, written_object(object)) : missing);
        continue;
      }
    }
    if (!object.args_unspecified && !find_named_routine(session, object, statement.remove_type) &&
        names_builtin(session, object)) {
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop function {} because it is required by the database system",
                  written_object_types(session, object));
    }
    routine = require_named_routine(session, object, statement.remove_type);
    refuse_aggregate_as_function(*routine, statement.remove_type);
    refuse_extension_member(session, {class_id::pg_proc, routine->oid},
                            described(session, *routine));
    const SchemaPtr schema = session.catalog.schema(routine->schema);
    if (!schema || !session.rights.owns(schema->owner)) require_owner(session, *routine);
    routines.push_back(session.catalog.lock_routine(*session.transaction, *routine));
  }
  if (!routines.empty()) {
    const std::string what =
        routines.size() == 1 ? described(session, *routines[0]) : std::string{kSeveralObjects};
    drop_dependents(session, dependents_of_routines(session, routines), what, statement.behavior,
                    sink);
    for (const RoutinePtr& routine : routines) {
      if (session.catalog.routine(routine->oid) == routine) {
        session.catalog.remove(*session.transaction, *routine);
      }
    }
  }
}

}  // namespace swizzle::sql
