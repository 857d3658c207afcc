#include "sql-lite-frontend/definitions/system_catalog/objects.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/system_catalog/dependencies.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/resolve.h"

namespace swizzle::sql {
namespace {

Value numbers(Execution& execution, std::span<const std::int16_t> columns) {
  std::vector<Value> values;
  for (const std::int16_t column : columns) values.push_back(Value::from_int(column));
  return make_array(execution.row_arena, TypeId::int2, values);
}
/// Returns an int2vector or oidvector, whose subscripts begin at 0.
Value vector_of(Execution& execution, TypeId element, std::span<const Value> values) {
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 0};
  return make_array(execution.row_arena, element, {&dimension, 1}, values);
}

std::string owner_name(StatementContext& session, Oid oid) {
  const RolePtr role = session.catalog.role(oid);
  return role ? role->name : "postgres";
}

}  // namespace

namespace {

/// Parts of an index as in the vectors of pg_index.
struct IndexVectors {
  std::vector<Value> columns;
  std::vector<Value> collations;
  std::vector<Value> classes;
  std::vector<Value> options;
};

Oid class_of(IndexMethod method, TypeId type, std::string_view name) {
  if (method != IndexMethod::inverted) return operator_class(type, name);
  const ElementClassInfo* found = find_element_class(type, name);
  return found == nullptr ? kNoOid : found->oid;
}

IndexVectors vectors_of(const Relation& relation, const Index& index) {
  IndexVectors out;
  for (const IndexColumn& part : index.columns) {
    const TypeId type = part.column == 0
                            ? part.type
                            : relation.columns[static_cast<std::size_t>(part.column) - 1].type;
    const bool descending = part.direction == SortDirection::descending;
    const bool nulls_first = part.nulls == NullsOrder::first;
    out.columns.push_back(Value::from_int(part.column));
    out.options.push_back(Value::from_int((descending ? 1 : 0) + (nulls_first ? 2 : 0)));
    out.classes.push_back(Value::from_oid(class_of(index.method, type, part.operator_class)));
    const bool has_own = part.collation != kNoOid && !follows_database(type);
    out.collations.push_back(
        Value::from_oid(has_own ? shown_number(part.collation) : default_collation(type)));
  }
  for (const std::int16_t column : index.included) {
    out.columns.push_back(Value::from_int(column));
  }
  return out;
}

/// Returns conexclop: the operators in the written order.
Value exclusion_operators(Execution& execution, const Table& table, const Constraint& constraint) {
  const Index* index = table.index_by_oid(constraint.index);
  const bool excludes =
      constraint.kind != ConstraintKind::foreign_key && index != nullptr && index->excludes();
  if (!excludes) return Value::null();
  std::vector<Value> operators(index->columns.size(), Value::from_oid(kNoOid));
  for (const IndexColumn& column : index->columns) {
    const auto found = try_resolve_operator(column.excludes_by, column.type, column.type);
    if (!found) continue;
    operators[static_cast<std::size_t>(column.written_place)] = Value::from_oid(found->op->oid);
  }
  return make_array(execution.row_arena, TypeId::oid, operators);
}

Value index_expressions(Execution& execution, const Table& table, const Index& index) {
  std::string text;
  for (const IndexColumn& part : index.columns) {
    if (part.column != 0) continue;
    if (!text.empty()) text += ", ";
    text += printed_expression(context_of(execution), table, part.expression_sql);
  }
  return text.empty() ? Value::null() : text_value(execution, text);
}

}  // namespace

void index_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    for (const Index& index : table->relation.indexes) {
      const IndexVectors parts = vectors_of(table->relation, index);
      const Value row[] = {
          Value::from_oid(index.oid),
          Value::from_oid(table->relation.oid),
          Value::from_int(static_cast<std::int64_t>(parts.columns.size())),
          Value::from_int(static_cast<std::int64_t>(parts.classes.size())),
          flag(index.is_key()),
          flag(index.nulls_not_distinct),
          flag(index.primary),
          flag(index.excludes()),
          flag(!index.deferrable),
          flag(false),
          flag(index.is_valid() && is_whole(session, *table, index)),
          flag(false),
          flag(index.takes_entries()),
          flag(true),
          flag(table->relation.replica_identity == 'i' &&
               table->relation.replica_index == index.oid),
          vector_of(execution, TypeId::int2, parts.columns),
          vector_of(execution, TypeId::oid, parts.collations),
          vector_of(execution, TypeId::oid, parts.classes),
          vector_of(execution, TypeId::int2, parts.options),
          index_expressions(execution, *table, index),
          index.predicate_sql.empty()
              ? Value::null()
              : text_value(execution, printed_expression(session, *table, index.predicate_sql))};
      emit(row);
    }
  }
}

namespace {

void emit_domain_constraint(Execution& execution, const EmitRow& emit, const UserType& domain,
                            const DomainCheck& check) {
  const Value none = Value::from_oid(kNoOid);
  const std::string shown = shown_domain_check(context_of(execution), domain, check, false);
  Value condition = Value::null();
  // Remove the keyword and its parentheses.
  if (!check.is_not_null) condition = text_value(execution, shown.substr(7, shown.rfind(')') - 7));
  const Value row[] = {Value::from_oid(check.oid),
                       text_value(execution, check.name),
                       Value::from_oid(domain.schema),
                       letter(check.is_not_null ? 'n' : 'c'),
                       flag(false),
                       flag(false),
                       flag(true),
                       flag(check.validated),
                       none,
                       Value::from_oid(domain.oid),
                       none,
                       none,
                       none,
                       letter(' '),
                       letter(' '),
                       letter(' '),
                       flag(true),
                       Value::from_int(0),
                       flag(false),
                       flag(false),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       condition};
  emit(row);
}

/// Emits the constraint of a constraint trigger.
void emit_trigger_constraint(Execution& execution, const Table& table, const Trigger& trigger,
                             const EmitRow& emit) {
  const Value row[] = {Value::from_oid(trigger.constraint),
                       text_value(execution, trigger.name),
                       Value::from_oid(table.relation.schema),
                       letter('t'),
                       flag(trigger.deferrable),
                       flag(trigger.initially_deferred),
                       flag(true),
                       flag(true),
                       Value::from_oid(table.relation.oid),
                       Value::from_oid(kNoOid),
                       Value::from_oid(kNoOid),
                       Value::from_oid(kNoOid),
                       Value::from_oid(kNoOid),
                       letter(' '),
                       letter(' '),
                       letter(' '),
                       flag(true),
                       Value::from_int(0),
                       flag(true),
                       flag(false),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null()};
  emit(row);
}

}  // namespace

namespace {

/// True for constraints whose copies in partitions have no parent in pg_constraint.
bool is_of_column_values(const Constraint& constraint) {
  return constraint.kind == ConstraintKind::check || constraint.kind == ConstraintKind::not_null;
}

/// Returns conperiod.
bool has_period(const Table& table, const Constraint& constraint) {
  const Index* const index = table.index_by_oid(constraint.index);
  return constraint.has_period || (index != nullptr && index->without_overlaps);
}

/// Returns connoinherit.
bool is_not_inherited(const Relation& relation, const Constraint& constraint) {
  if (is_of_column_values(constraint)) return constraint.no_inherit;
  const bool of_partitions = constraint.kind == ConstraintKind::foreign_key
                                 ? relation.is_partitioned()
                                 : constraint.parent != kNoOid;
  return constraint.parent == kNoOid && !of_partitions;
}

}  // namespace

void constraint_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    for (const Trigger& trigger : table->relation.triggers) {
      if (trigger.constraint != kNoOid) emit_trigger_constraint(execution, *table, trigger, emit);
    }
    for (const Constraint& constraint : table->relation.constraints) {
      const bool foreign = constraint.kind == ConstraintKind::foreign_key;
      const Value row[] = {
          Value::from_oid(constraint.oid),
          text_value(execution, constraint.name),
          Value::from_oid(table->relation.schema),
          letter(static_cast<char>(constraint.kind)),
          flag(constraint.deferrable),
          flag(constraint.initially_deferred),
          flag(constraint.enforced),
          flag(constraint.validated),
          Value::from_oid(table->relation.oid),
          Value::from_oid(kNoOid),
          Value::from_oid(constraint.index),
          Value::from_oid(is_of_column_values(constraint) ? kNoOid : constraint.parent),
          Value::from_oid(constraint.referenced_table),
          letter(foreign ? static_cast<char>(constraint.on_update) : ' '),
          letter(foreign ? static_cast<char>(constraint.on_delete) : ' '),
          letter(foreign ? constraint.match : ' '),
          flag(!constraint.is_inherited() || constraint.also_local),
          Value::from_int(constraint.parent == kNoOid ? constraint.inherit_count : 1),
          flag(is_not_inherited(table->relation, constraint)),
          flag(has_period(*table, constraint)),
          numbers(execution, constraint.columns),
          foreign ? numbers(execution, constraint.referenced_columns) : Value::null(),
          exclusion_operators(execution, *table, constraint),
          constraint.check_sql.empty()
              ? Value::null()
              : text_value(execution, printed_expression(session, *table, constraint.check_sql))};
      emit(row);
    }
  }
  for (const TypePtr& type : types_for(session, emit.key)) {
    for (const DomainCheck& check : type->checks)
      emit_domain_constraint(execution, emit, *type, check);
  }
}

void default_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
      const Column& column = table->relation.columns[i];
      if (!has_default_row(column)) continue;
      const Value row[] = {
          Value::from_oid(default_oid(table->relation, i)), Value::from_oid(table->relation.oid),
          Value::from_int(static_cast<std::int64_t>(i) + 1),
          text_value(execution, printed_expression(session, *table, column.default_sql))};
      emit(row);
    }
  }
}

void description_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  const auto describe = [&](Oid object, Oid catalog, std::int64_t part, const std::string& text) {
    if (text.empty()) return;
    const Value row[] = {Value::from_oid(object), Value::from_oid(catalog), Value::from_int(part),
                         text_value(execution, text)};
    emit(row);
  };
  Catalog& catalog = session.catalog.of_database();
  bool any_on_plpgsql = false;
  for (const Comment& comment :
       read_comments(catalog, *execution.transaction, catalog.database())) {
    any_on_plpgsql |=
        comment.catalog == class_id::pg_extension && comment.object == kPlpgsqlExtension;
    describe(comment.object, comment.catalog, comment.part, comment.text);
  }
  if (!any_on_plpgsql) {
    describe(kPlpgsqlExtension, class_id::pg_extension, 0,
             std::string{plpgsql_extension().comment});
  }
  for (const SchemaPtr& schema : session.catalog.schemas()) {
    describe(schema->oid, class_id::pg_namespace, 0, schema->comment);
  }
  for (const TypePtr& type : types_for(session, emit.key)) {
    describe(type->oid, class_id::pg_type, 0, type->comment);
    for (const DomainCheck& check : type->checks) {
      describe(check.oid, class_id::pg_constraint, 0, check.comment);
    }
    for (std::size_t i = 0; i < type->attributes.size(); ++i) {
      describe(type->relation, class_id::pg_class, static_cast<std::int64_t>(i) + 1,
               type->attributes[i].comment);
    }
  }
  for (const RoutinePtr& routine : routines_for(session, emit.key)) {
    describe(routine->oid, class_id::pg_proc, 0, routine->comment);
  }
  for (const OperatorPtr& op : session.catalog.all_made<UserOperator>()) {
    describe(op->oid, class_id::pg_operator, 0, op->comment);
  }
  for (const CastPtr& cast : session.catalog.all_made<UserCast>()) {
    describe(cast->oid, class_id::pg_cast, 0, cast->comment);
  }
  for (const CollationPtr& collation : session.catalog.all_made<UserCollation>()) {
    describe(collation->oid, class_id::pg_collation, 0, collation->comment);
  }
  for (const auto& made : session.catalog.all_made<UserTextDictionary>()) {
    describe(made->oid, class_id::pg_ts_dict, 0, made->comment);
  }
  for (const auto& made : session.catalog.all_made<UserTextConfig>()) {
    describe(made->oid, class_id::pg_ts_config, 0, made->comment);
  }
  for (const PublicationPtr& publication : session.catalog.all_made<Publication>()) {
    describe(publication->oid, class_id::pg_publication, 0, publication->comment);
  }
  for (const EventTriggerPtr& trigger : session.catalog.all_made<EventTrigger>()) {
    describe(trigger->oid, class_id::pg_event_trigger, 0, trigger->comment);
  }
  for (const ExtensionPtr& extension : session.catalog.all_made<Extension>()) {
    describe(extension->oid, class_id::pg_extension, 0, extension->comment);
  }
  for (const TablePtr& table : tables_for(session, emit.key)) {
    const Relation& relation = table->relation;
    describe(relation.oid, class_id::pg_class, 0, relation.comment);
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      describe(relation.oid, class_id::pg_class, static_cast<std::int64_t>(i) + 1,
               relation.columns[i].comment);
    }
    for (const Index& index : relation.indexes) {
      describe(index.oid, class_id::pg_class, 0, index.comment);
    }
    for (const Trigger& trigger : relation.triggers) {
      describe(trigger.oid, class_id::pg_trigger, 0, trigger.comment);
    }
    for (const Policy& policy : relation.policies) {
      describe(policy.oid, class_id::pg_policy, 0, policy.comment);
    }
    for (const Constraint& constraint : relation.constraints) {
      describe(constraint.oid, class_id::pg_constraint, 0, constraint.comment);
    }
  }
}

void sequence_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : tables_for(context_of(execution), emit.key)) {
    if (!table->relation.sequence) continue;
    const SequenceDefinition& sequence = *table->relation.sequence;
    const Value row[] = {Value::from_oid(table->relation.oid), Value::from_oid(raw(sequence.type)),
                         Value::from_int(sequence.start),      Value::from_int(sequence.increment),
                         Value::from_int(sequence.maximum),    Value::from_int(sequence.minimum),
                         Value::from_int(sequence.cache),      flag(sequence.cycle)};
    emit(row);
  }
}

void view_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind != RelationKind::view) continue;
    const Value row[] = {text_value(execution, session.names.schema_name(relation.schema)),
                         text_value(execution, relation.name),
                         text_value(execution, owner_name(session, relation.owner)),
                         text_value(execution, definition_of_view(session, *table))};
    emit(row);
  }
}

void index_view_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    for (const Index& index : relation.indexes) {
      const Value row[] = {
          text_value(execution, session.names.schema_name(relation.schema)),
          text_value(execution, relation.name), text_value(execution, index.name), Value::null(),
          text_value(execution,
                     definition_of_index(session, index.oid, 0, Layout::plain).value_or(""))};
      emit(row);
    }
  }
}

}  // namespace swizzle::sql
