// Schemas, relations, their columns and their types.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/session/names/domains.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/system_catalog/objects.h"
#include "sql-lite-frontend/system_catalog/privileges.h"
#include "sql-lite-frontend/system_catalog/row_values.h"
#include "sql-lite-frontend/types/brought/brought_types.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// attcollation.
Oid collation_of(const Column& column) {
  return column.collation != kNoOid ? column.collation : default_collation(column.type);
}

}  // namespace

void schema_rows(Execution& execution, const EmitRow& emit) {
  for (const SchemaPtr& schema : execution.session.catalog.schemas()) {
    const Value row[] = {Value::from_oid(schema->oid), text_value(execution, schema->name),
                         Value::from_oid(schema->owner), acl_value(execution, schema->grants)};
    emit(row);
  }
  Session::State& session = execution.session;
  if (session.names.temp_schema == kNoOid) return;
  const Value row[] = {Value::from_oid(session.names.temp_schema),
                       text_value(execution, session.names.schema_name(session.names.temp_schema)),
                       Value::from_oid(session.user), Value::null()};
  emit(row);
}

void table_view_rows(Execution& execution, const EmitRow& emit) {
  Session::State& session = execution.session;
  for (const ComputedRelation& computed : computed_relations()) {
    if (computed.kind != 'r') continue;
    const Value row[] = {text_value(execution, session.names.schema_name(computed.schema)),
                         text_value(execution, computed.name),
                         text_value(execution, "postgres"),
                         Value::null(),
                         Value::from_bool(true),
                         Value::from_bool(false),
                         Value::from_bool(false),
                         Value::from_bool(false)};
    emit(row);
  }
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind != RelationKind::table) continue;
    const RolePtr owner = session.catalog.role(relation.owner);
    const Value row[] = {text_value(execution, session.names.schema_name(relation.schema)),
                         text_value(execution, relation.name),
                         text_value(execution, owner ? owner->name : "postgres"),
                         Value::null(),
                         Value::from_bool(!relation.indexes.empty()),
                         Value::from_bool(false),
                         Value::from_bool(false),
                         Value::from_bool(false)};
    emit(row);
  }
}

namespace {

/// A row of pg_class besides what its Relation says.
struct ClassRow {
  Oid oid = kNoOid;
  std::string_view name;
  char kind = 'r';
  std::int64_t pages = 0;
  double tuples = -1;
  std::size_t columns = 0;
  std::size_t checks = 0;
  bool has_index = false;
  bool has_triggers = false;
  IndexMethod method = IndexMethod::tree;
  std::span<const std::string> options = {};
  std::span<const Grant> grants = {};
};
Oid oid_of(IndexMethod method) noexcept {
  if (method == IndexMethod::excluding || method == IndexMethod::ranges) return 783;
  return method == IndexMethod::inverted ? 2742 : 403;
}

void emit_class(Execution& execution, const EmitRow& emit, const Relation& relation,
                const ClassRow& facts) {
  const char kind = facts.kind;
  const bool is_heap = kind == 'r' || kind == 'm';
  const bool has_storage = is_heap || kind == 'i' || kind == 'S';
  const bool has_rows = is_heap || kind == 'v' || kind == 'c';
  constexpr Oid kHeap = 2;
  const Oid access_method = is_heap ? kHeap : (kind == 'i' ? oid_of(facts.method) : kNoOid);
  const Value row[] = {
      Value::from_oid(facts.oid),
      text_value(execution, facts.name),
      Value::from_oid(relation.schema),
      Value::from_oid(has_rows ? relation.row_type : kNoOid),
      Value::from_oid(relation.owner),
      Value::from_oid(access_method),
      Value::from_oid(has_storage ? facts.oid : kNoOid),
      Value::from_int(facts.pages),
      Value::from_float4(static_cast<float>(facts.tuples)),
      flag(facts.has_index),
      letter(static_cast<char>(relation.persistence)),
      letter(kind),
      number(facts.columns),
      number(facts.checks),
      flag(kind == 'v' || kind == 'm'),
      flag(facts.has_triggers),
      flag(kind != 'm' || relation.populated),
      letter(relation.schema == kPgCatalogSchema || !is_heap ? 'n' : relation.replica_identity),
      options_value(execution, facts.options),
      acl_value(execution, facts.grants)};
  emit(row);
}

/// Foreign keys are triggers to PostgreSQL, too, on both tables.
std::set<Oid> tables_with_triggers(Session::State& session) {
  std::set<Oid> tables;
  for (const TablePtr& table : session.catalog.tables()) {
    if (!table->relation.triggers.empty()) tables.insert(table->relation.oid);
    for (const Constraint& constraint : table->relation.constraints) {
      if (constraint.kind != ConstraintKind::foreign_key) continue;
      tables.insert(table->relation.oid);
      tables.insert(constraint.referenced_table);
    }
  }
  return tables;
}

}  // namespace

void class_rows(Execution& execution, const EmitRow& emit) {
  Session::State& session = execution.session;
  const std::set<Oid> with_triggers = tables_with_triggers(session);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const auto checks = static_cast<std::size_t>(
        std::ranges::count(relation.constraints, ConstraintKind::check, &Constraint::kind));
    ClassRow row{.oid = relation.oid,
                 .name = relation.name,
                 .kind = static_cast<char>(relation.kind),
                 .pages = relation.estimated_pages,
                 .tuples = relation.estimated_rows,
                 .columns = relation.columns.size(),
                 .checks = checks,
                 .has_index = !relation.indexes.empty(),
                 .has_triggers = with_triggers.contains(relation.oid),
                 .options = relation.options,
                 .grants = relation.grants};
    if (relation.kind == RelationKind::sequence) row.columns = 3;
    emit_class(execution, emit, relation, row);
    for (const Index& index : relation.indexes) {
      emit_class(execution, emit, relation,
                 {.oid = index.oid,
                  .name = index.name,
                  .kind = 'i',
                  .pages = index.estimated_pages,
                  .tuples = std::max(relation.estimated_rows, 0.0),
                  .columns = index.columns.size() + index.included.size(),
                  .method = index.method});
    }
  }
  for (const TypePtr& type : session.catalog.types()) {
    if (!is_composite(type->id())) continue;
    Relation rows;
    rows.schema = type->schema;
    rows.owner = type->owner;
    rows.row_type = type->oid;
    emit_class(execution, emit, rows,
               {.oid = type->relation,
                .name = type->name,
                .kind = 'c',
                .tuples = -1,
                .columns = type->attributes.size()});
  }
  Relation system;
  for (const ComputedRelation& computed : computed_relations()) {
    system.schema = computed.schema;
    emit_class(execution, emit, system,
               {.oid = computed.oid,
                .name = computed.name,
                .kind = computed.kind,
                .columns = computed.columns.size()});
  }
}

namespace {

/// A row of pg_attribute besides what its Column says.
struct AttributeRow {
  Oid relation = kNoOid;
  std::int64_t number = 0;
  std::string_view name;
};

void emit_attribute(Execution& execution, const EmitRow& emit, const Column& column,
                    const AttributeRow& facts) {
  const Type* type = find_type(column.type);
  const Value row[] = {Value::from_oid(facts.relation),
                       text_value(execution, facts.name),
                       Value::from_oid(column.dropped ? 0 : raw(column.type)),
                       Value::from_int(-1),
                       Value::from_int(type != nullptr ? type->length : -1),
                       Value::from_int(facts.number),
                       Value::from_int(is_array(column.type) ? 1 : 0),
                       Value::from_int(-1),
                       Value::from_int(column.typmod),
                       flag(type != nullptr && type->by_value),
                       letter(type != nullptr ? type->alignment : 'i'),
                       letter(type != nullptr ? type->storage : 'p'),
                       letter(0),
                       flag(column.not_null),
                       flag(!column.default_sql.empty() && column.identity == 0),
                       flag(column.missing.has_value()),
                       letter(column.identity),
                       letter(column.generated ? 's' : 0),
                       flag(column.dropped),
                       flag(true),
                       Value::from_oid(collation_of(column)),
                       acl_value(execution, column.grants)};
  emit(row);
}

void index_attributes(Execution& execution, const EmitRow& emit, const Relation& relation,
                      const Index& index) {
  std::int64_t number = 0;
  for (const IndexColumn& part : index.columns) {
    ++number;
    Column column;
    column.type = part.type;
    // As PostgreSQL names it: after the function, if it is a call of one.
    std::string label = part.expression_sql.substr(0, part.expression_sql.find('('));
    if (label.empty() || label.size() == part.expression_sql.size()) label = "expr";
    if (part.column != 0) {
      const Column& indexed = relation.columns[static_cast<std::size_t>(part.column) - 1];
      column.type = indexed.type;
      column.typmod = indexed.typmod;
      label = indexed.name;
    }
    column.collation = shown_number(part.collation);
    emit_attribute(execution, emit, column, {index.oid, number, label});
  }
  for (const std::int16_t included : index.included) {
    const Column& indexed = relation.columns[static_cast<std::size_t>(included) - 1];
    Column column;
    column.type = indexed.type;
    column.typmod = indexed.typmod;
    column.collation = indexed.collation;
    emit_attribute(execution, emit, column, {index.oid, ++number, indexed.name});
  }
}

void sequence_attributes(Execution& execution, const EmitRow& emit, Oid sequence) {
  const std::pair<std::string_view, TypeId> columns[] = {
      {"last_value", TypeId::int8}, {"log_cnt", TypeId::int8}, {"is_called", TypeId::bool_}};
  std::int64_t number = 0;
  for (const auto& [label, type] : columns) {
    Column column;
    column.type = type;
    column.not_null = true;
    emit_attribute(execution, emit, column, {sequence, ++number, label});
  }
}

}  // namespace

void attribute_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind == RelationKind::sequence) {
      sequence_attributes(execution, emit, relation.oid);
      continue;
    }
    std::int64_t number = 0;
    for (const Column& column : relation.columns) {
      ++number;
      const std::string dropped = fmt::format("........pg.dropped.{}........", number);
      emit_attribute(execution, emit, column,
                     {relation.oid, number, column.dropped ? dropped : column.name});
    }
    for (const Index& index : relation.indexes) {
      index_attributes(execution, emit, relation, index);
    }
  }
  for (const TypePtr& type : execution.session.catalog.types()) {
    std::int64_t number = 0;
    for (const Column& attribute : type->attributes) {
      emit_attribute(execution, emit, attribute, {type->relation, ++number, attribute.name});
    }
  }
  for (const ComputedRelation& computed : computed_relations()) {
    std::int64_t number = 0;
    for (const ComputedRelation::ColumnSpec& spec : computed.columns) {
      Column column;
      column.type = spec.type;
      column.not_null = spec.not_null;
      emit_attribute(execution, emit, column, {computed.oid, ++number, spec.name});
    }
  }
}

namespace {

/// Whose a type is, and of which relation's rows.
struct TypePlace {
  Oid schema = kPgCatalogSchema;
  Oid owner = kBootstrapRole;
  Oid relation = kNoOid;
};

/// How types that users make, and arrays of them, are read, written and taken apart.
constexpr Oid kEnumFunctions[8] = {3506, 3507, 3532, 3533, 0, 0, 0, 0};
constexpr Oid kRecordFunctions[8] = {2290, 2291, 2402, 2403, 0, 0, 0, 0};
constexpr Oid kArrayFunctions[8] = {750, 751, 2400, 2401, 0, 0, 3816, 6179};

using Functions = std::array<Oid, 8>;
constexpr Functions kShellFunctions{2398, 2399};

Functions functions_of(TypeId type) {
  static constexpr TypeFunctions kNone{};
  if (is_enum(type)) return std::to_array(kEnumFunctions);
  if (is_user_array(type)) return std::to_array(kArrayFunctions);
  if (is_composite(type)) return std::to_array(kRecordFunctions);
  if (type == kCitextType) return functions_of(TypeId::text);
  if (is_brought(type)) return {};
  if (is_user_range(type)) type = find_type("int4range")->id;
  if (is_user_multirange(type)) type = find_type("int4multirange")->id;
  if (is_domain(type)) {
    constexpr Oid kInput = 2597;
    constexpr Oid kReceive = 2598;
    const Functions base = functions_of(base_type(type));
    return {kInput, base[1], kReceive, base[3], 0, 0, base[6], 0};
  }
  const TypeFunctions* known = type_functions(type);
  const auto& functions = (known != nullptr ? *known : kNone).functions;
  Functions copied{};
  std::copy_n(std::begin(functions), copied.size(), copied.begin());
  return copied;
}

/// What pg_type says of types that users made, besides what all types have.
struct MadeType {
  const UserType* type = nullptr;
  std::string default_text = {};
};

void emit_type(Execution& execution, const EmitRow& emit, const Type& type, TypePlace place,
               const MadeType& made = {}) {
  const bool is_shell = made.type != nullptr && made.type->is_shell();
  const Functions functions = is_shell ? kShellFunctions : functions_of(type.id);
  const UserType* const domain =
      made.type != nullptr && is_domain(made.type->id()) ? made.type : nullptr;
  const Value default_text =
      made.default_text.empty() ? Value::null() : text_value(execution, made.default_text);
  const Value row[] = {
      Value::from_oid(raw(type.id)),
      text_value(execution, type.name),
      Value::from_oid(place.schema),
      Value::from_oid(place.owner),
      Value::from_int(type.length),
      flag(type.by_value),
      letter(type.kind),
      letter(type.category),
      flag(type.preferred),
      flag(!is_shell),
      letter(type.delimiter),
      Value::from_oid(place.relation),
      Value::from_oid(raw(type.element)),
      Value::from_oid(raw(type.array)),
      letter(type.alignment),
      letter(type.storage),
      flag(domain != nullptr && domain->not_null),
      Value::from_int(domain != nullptr ? domain->base_typmod : -1),
      Value::from_oid(domain != nullptr && domain->collation != kNoOid
                          ? domain->collation
                          : default_collation(type.id)),
      Value::from_oid(functions[0]),
      Value::from_oid(functions[1]),
      Value::from_oid(functions[2]),
      Value::from_oid(functions[3]),
      Value::from_oid(functions[4]),
      Value::from_oid(functions[5]),
      Value::from_oid(functions[6]),
      Value::from_oid(functions[7]),
      Value::from_oid(domain != nullptr ? raw(domain->base) : kNoOid),
      Value::from_int(domain != nullptr && is_array(domain->base) ? 1 : 0),
      default_text,
      default_text,
      made.type != nullptr ? acl_value(execution, made.type->grants) : Value::null()};
  emit(row);
}

/// As PostgreSQL has them until they are defined.
Type shell_info(const UserType& shell) {
  Type info{};
  info.id = shell.id();
  info.name = shell.name;
  info.kind = 'p';
  info.category = 'P';
  info.length = 4;
  info.by_value = true;
  info.alignment = 'i';
  info.storage = 'p';
  return info;
}

void user_type_rows(Execution& execution, const EmitRow& emit) {
  for (const TypePtr& type : execution.session.catalog.types()) {
    if (type->is_shell()) {
      emit_type(execution, emit, shell_info(*type), {type->schema, type->owner}, {type.get()});
      continue;
    }
    const TypeId array = array_type(type->id());
    Type info = type_info(type->id());
    info.id = type->id();
    info.name = type->name;
    info.array = array;
    MadeType made{type.get()};
    const bool is_range = is_user_range(type->id()) || is_user_multirange(type->id());
    if (is_range) {
      const TypeId subtype = range_subtype(is_user_range(type->id()) ? type->id() : type->base);
      info.alignment = value_type(subtype).alignment == 'd' ? 'd' : 'i';
    }
    const char range_alignment = info.alignment;
    if (is_domain(type->id())) {
      info.kind = 'd';
      info.preferred = false;
      info.element = TypeId::none;
      made.default_text = shown_domain_default(execution.session, *type);
    }
    emit_type(execution, emit, info, {type->schema, type->owner, type->relation}, made);
    const std::string array_name = "_" + type->name;
    info = type_info(array);
    info.id = array;
    info.name = array_name;
    info.element = type->id();
    if (is_range) info.alignment = range_alignment;
    emit_type(execution, emit, info, {type->schema, type->owner});
  }
}

}  // namespace

void enum_rows(Execution& execution, const EmitRow& emit) {
  for (const TypePtr& type : execution.session.catalog.types()) {
    float order = 0;
    for (const EnumLabel& label : type->labels) {
      const Value row[] = {Value::from_oid(label.oid), Value::from_oid(type->oid),
                           Value::from_float4(++order), text_value(execution, label.name)};
      emit(row);
    }
  }
}

namespace {

struct RangeRow {
  TypeId range;
  Oid canonical = kNoOid;
  Oid difference = kNoOid;
};

/// The number of a function that may have no body here.
Oid function_called(std::string_view name) {
  if (const auto found = functions_named(name); !found.empty()) return found.front()->oid;
  const auto known = unsupported_functions(name);
  return known.empty() ? kNoOid : known.front().oid;
}

void emit_range(const EmitRow& emit, const RangeRow& range) {
  const TypeId subtype = range_subtype(range.range);
  const Value row[] = {Value::from_oid(raw(range.range)),
                       Value::from_oid(raw(subtype)),
                       Value::from_oid(raw(multirange_of_range(range.range))),
                       Value::from_oid(default_collation(range_bound_type(range.range))),
                       Value::from_oid(operator_class(subtype, {})),
                       Value::from_oid(range.canonical),
                       Value::from_oid(range.difference)};
  emit(row);
}

}  // namespace

void range_rows(Execution& execution, const EmitRow& emit) {
  for (const Type* type : builtin_types()) {
    if (type->kind != 'r') continue;
    const std::string name{type->name};
    emit_range(
        emit, {type->id, function_called(name + "_canonical"), function_called(name + "_subdiff")});
  }
  for (const TypePtr& type : execution.session.catalog.types())
    if (is_user_range(type->id())) emit_range(emit, {type->id(), kNoOid, type->difference});
}

void type_rows(Execution& execution, const EmitRow& emit) {
  for (const Type* type : builtin_types()) {
    emit_type(execution, emit, *type, {});
  }
  user_type_rows(execution, emit);
  // Each table and view is a type of its rows.
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind == RelationKind::sequence || relation.row_type == kNoOid) continue;
    const auto row_type = static_cast<TypeId>(relation.row_type);
    const auto array_type = static_cast<TypeId>(relation.array_type);
    Type rows = composite_prototype();
    rows.id = row_type;
    rows.name = relation.name;
    rows.array = array_type;
    emit_type(execution, emit, rows, {relation.schema, relation.owner, relation.oid});
    if (relation.array_type == kNoOid) continue;
    const std::string array_name = "_" + relation.name;
    Type array = user_array_prototype();
    array.id = array_type;
    array.name = array_name;
    array.element = row_type;
    array.alignment = 'd';
    emit_type(execution, emit, array, {relation.schema, relation.owner});
  }
}

}  // namespace swizzle::sql
