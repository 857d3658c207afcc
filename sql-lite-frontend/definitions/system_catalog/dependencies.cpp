#include "sql-lite-frontend/definitions/system_catalog/dependencies.h"

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/system_catalog/dependency_row.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/user_types.h"

/// pg_depend: dependencies are not stored, but computed from the definitions.
namespace swizzle::sql {
namespace {

constexpr Oid kPlpgsqlLanguage = 13563;
/// Dependencies on objects with smaller oids, which cannot be dropped, are not shown.
constexpr Oid kFirstUnpinnedOid = 12000;

void emit_routine(const EmitRow& emit, StatementContext& session, const RoutinePtr& entry) {
  const Routine& routine = *entry;
  const ObjectAddress address{class_id::pg_proc, routine.oid};
  emit_schema(emit, address, routine.schema);
  if (routine.language == "plpgsql")
    emit_dependency(emit, address, {class_id::pg_language, kPlpgsqlLanguage}, Dependency::normal);
  std::vector<Oid> types;
  const auto depends_on = [&](Oid type) {
    if (type == kNoOid || std::ranges::find(types, type) != types.end()) return;
    types.push_back(type);
    emit_dependency(emit, address, {class_id::pg_type, type}, Dependency::normal);
  };
  const auto on_type = [&](TypeId type) {
    if (is_user_type(type)) depends_on(raw(type));
  };
  on_type(routine.result);
  for (const RoutineParameter& parameter : routine.parameters) {
    on_type(parameter.type);
    emit_calls(emit, address, parameter.default_sql);
  }
  const std::vector<BodyColumn> columns = columns_of_body(session, entry);
  for (const BodyColumn& column : columns) {
    if (column.relation < kFirstUserOid) continue;
    emit_dependency(
        emit, address,
        {class_id::pg_class, column.relation, static_cast<std::int64_t>(column.position) + 1},
        Dependency::normal);
  }
  for (const ViewName& name : routine.body_names) {
    const bool by_column =
        std::ranges::find(columns, name.relation, &BodyColumn::relation) != columns.end();
    if (name.relation < kFirstUserOid || by_column) continue;
    emit_dependency(emit, address, {class_id::pg_class, name.relation}, Dependency::normal);
  }
  for (const ViewRoutine& called : routine.body_routines) emit_called(emit, address, called);
  if (!routine.aggregate) return;
  const AggregateDefinition& made = *routine.aggregate;
  on_type(made.state);
  on_type(made.moving_state);
  for (const Oid part : {made.transition, made.final, made.combine, made.moving_transition,
                         made.moving_inverse, made.moving_final}) {
    if (part < kFirstUserOid) continue;
    emit_dependency(emit, address, {class_id::pg_proc, part}, Dependency::normal);
  }
  if (made.sort_operator >= kFirstUserOid) {
    emit_dependency(emit, address, {class_id::pg_operator, made.sort_operator}, Dependency::normal);
  }
}

void emit_made(const EmitRow& emit, StatementContext& session) {
  const auto on_type = [&](const ObjectAddress& address, TypeId type) {
    if (!is_user_type(type)) return;
    emit_dependency(emit, address, {class_id::pg_type, raw(type)}, Dependency::normal);
  };
  const auto on_function = [&](const ObjectAddress& address, Oid function) {
    if (function < kFirstUserOid) return;
    emit_dependency(emit, address, {class_id::pg_proc, function}, Dependency::normal);
  };
  for (const OperatorPtr& op : session.catalog.all_made<UserOperator>()) {
    const ObjectAddress address{class_id::pg_operator, op->oid};
    emit_schema(emit, address, op->schema);
    for (const TypeId type : {op->left, op->right, op->result}) on_type(address, type);
    on_function(address, op->function);
  }
  for (const CastPtr& cast : session.catalog.all_made<UserCast>()) {
    const ObjectAddress address{class_id::pg_cast, cast->oid};
    on_type(address, cast->source);
    on_type(address, cast->target);
    on_function(address, cast->function);
  }
  for (const EventTriggerPtr& trigger : session.catalog.all_made<EventTrigger>())
    on_function({class_id::pg_event_trigger, trigger->oid}, trigger->function);
  for (const auto& publication : session.catalog.all_made<Publication>()) {
    const ObjectAddress on{class_id::pg_publication, publication->oid};
    for (const Publication::Member& member : publication->members) {
      const ObjectAddress address{class_id::pg_publication_rel, member.oid};
      emit_dependency(emit, address, on, Dependency::automatic);
      emit_dependency(emit, address, {class_id::pg_class, member.table}, Dependency::automatic);
    }
    for (const Publication::WholeSchema& whole : publication->schemas) {
      const ObjectAddress address{class_id::pg_publication_namespace, whole.oid};
      emit_dependency(emit, address, on, Dependency::automatic);
      emit_dependency(emit, address, {class_id::pg_namespace, whole.schema}, Dependency::automatic);
    }
  }
  for (const CollationPtr& collation : session.catalog.all_made<UserCollation>())
    emit_schema(emit, {class_id::pg_collation, collation->oid}, collation->schema);
  for (const ExtensionPtr& extension : session.catalog.all_made<Extension>()) {
    const ObjectAddress address{class_id::pg_extension, extension->oid};
    emit_dependency(emit, address, {class_id::pg_namespace, extension->schema}, Dependency::normal);
    if (extension->name == "unaccent") {
      emit_dependency(emit, {class_id::pg_ts_template, kUnaccentTextTemplate}, address,
                      Dependency::extension);
    }
    for (const Extension::Member& member : extension->members) {
      emit_dependency(emit, {member.catalog, member.object}, address, Dependency::extension);
    }
    for (const ElementClassInfo& one : element_classes()) {
      if (one.extension != extension->name) continue;
      emit_dependency(emit, {class_id::pg_opclass, one.oid}, address, Dependency::extension);
      emit_dependency(emit, {class_id::pg_opfamily, one.family}, address, Dependency::extension);
    }
  }
}

void emit_user_type(const EmitRow& emit, const UserType& type) {
  const ObjectAddress address{class_id::pg_type, type.oid};
  if (!type.is_of_relation()) emit_schema(emit, address, type.schema);
  if (type.is_shell()) return;
  emit_dependency(emit, {class_id::pg_type, raw(array_type(type.id()))}, address,
                  Dependency::internal);
  if (is_user_type(type.base)) {
    emit_dependency(emit, address, {class_id::pg_type, raw(type.base)},
                    is_user_multirange(type.id()) ? Dependency::internal : Dependency::normal);
  }
  if (type.difference >= kFirstUserOid)
    emit_dependency(emit, address, {class_id::pg_proc, type.difference}, Dependency::normal);
  emit_collation(emit, address, type.collation);
  if (type.relation != kNoOid) {
    emit_dependency(emit, {class_id::pg_class, type.relation}, address, Dependency::internal);
  }
  for (std::size_t i = 0; i < type.attributes.size(); ++i) {
    if (!is_user_type(type.attributes[i].type)) continue;
    emit_dependency(emit, {class_id::pg_class, type.relation, static_cast<std::int64_t>(i) + 1},
                    {class_id::pg_type, raw(type.attributes[i].type)}, Dependency::normal);
  }
  emit_calls(emit, address, type.default_sql);
  for (const DomainCheck& check : type.checks) {
    const ObjectAddress constraint{class_id::pg_constraint, check.oid};
    emit_dependency(emit, constraint, address, Dependency::automatic);
    emit_calls(emit, constraint, check.sql);
  }
}

/// Emits the objects that belong to plpgsql, as far as they exist here.
void emit_language(const EmitRow& emit) {
  emit_dependency(emit, {class_id::pg_language, kPlpgsqlLanguage},
                  {class_id::pg_extension, kPlpgsqlExtension}, Dependency::extension);
}

void emit_text_search(const EmitRow& emit, StatementContext& session) {
  for (const auto& made : session.catalog.all_made<UserTextDictionary>())
    emit_schema(emit, {class_id::pg_ts_dict, made->oid}, made->schema);
  for (const auto& made : session.catalog.all_made<UserTextConfig>()) {
    const ObjectAddress address{class_id::pg_ts_config, made->oid};
    emit_schema(emit, address, made->schema);
    std::vector<Oid> seen;
    for (const UserTextConfig::Mapping& mapping : made->mappings) {
      const bool is_pinned = mapping.dictionary < kFirstUnpinnedOid;
      if (is_pinned || std::ranges::find(seen, mapping.dictionary) != seen.end()) continue;
      seen.push_back(mapping.dictionary);
      emit_dependency(emit, address, {class_id::pg_ts_dict, mapping.dictionary},
                      Dependency::normal);
    }
  }
}

}  // namespace

void dependency_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  // Built-in objects are not in the dependency index.
  const RowKey key = emit.key.number < kFirstUserOid ? RowKey{} : emit.key;
  for (const TablePtr& table : tables_for_dependency(session, key))
    emit_relation(emit, session, *table);
  for (const TypePtr& type : types_for(session, key)) emit_user_type(emit, *type);
  emit_text_search(emit, session);
  for (const RoutinePtr& routine : routines_for(session, key)) {
    emit_routine(emit, session, routine);
  }
  emit_made(emit, session);
  emit_language(emit);
}

void rule_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : tables_for(context_of(execution), emit.key)) {
    const Relation& relation = table->relation;
    if (!has_query(relation.kind)) continue;
    constexpr char kSelect = '1';
    constexpr char kAlways = 'O';
    const Value row[] = {Value::from_oid(rule_oid(relation)),
                         make_text(execution.row_arena, "_RETURN"),
                         Value::from_oid(relation.oid),
                         Value::from_int(kSelect),
                         Value::from_int(kAlways),
                         Value::from_bool(true)};
    emit(row);
  }
}

}  // namespace swizzle::sql
