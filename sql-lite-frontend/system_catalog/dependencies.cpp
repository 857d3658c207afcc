#include "sql-lite-frontend/system_catalog/dependencies.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/extensions/extension.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/user_types.h"

/// Nothing is recorded about dependencies: they are read off the definitions.
namespace swizzle::sql {
namespace {

constexpr Oid kConstraintClass = 2606;
constexpr Oid kAttributeDefaultClass = 2604;
constexpr Oid kRewriteClass = 2618;
constexpr Oid kPgNamespaceClass = 2615;
constexpr Oid kPlpgsqlLanguage = 13563;
/// Nothing is said of what depends on those before it, which are there always.
constexpr Oid kFirstUnpinnedOid = 12000;

/// pg_depend's letters.
enum class Dependency : char { normal = 'n', automatic = 'a', internal = 'i', extension = 'e' };

struct ObjectAddress {
  Oid catalog = kNoOid;
  Oid object = kNoOid;
  std::int64_t part = 0;
};

void emit_dependency(const EmitRow& emit, const ObjectAddress& dependent, const ObjectAddress& on,
                     Dependency kind) {
  const Value row[] = {Value::from_oid(dependent.catalog),
                       Value::from_oid(dependent.object),
                       Value::from_int(dependent.part),
                       Value::from_oid(on.catalog),
                       Value::from_oid(on.object),
                       Value::from_int(on.part),
                       Value::from_int(static_cast<char>(kind))};
  emit(row);
}

/// Everything goes with its schema, but what is always there.
void emit_schema(const EmitRow& emit, const ObjectAddress& dependent, Oid schema) {
  if (schema == kPgCatalogSchema || schema == kNoOid) return;
  emit_dependency(emit, dependent, {kPgNamespaceClass, schema}, Dependency::normal);
}

/// On columns of a relation, or on the relation itself where there are none.
void emit_columns(const EmitRow& emit, const ObjectAddress& dependent, Oid relation,
                  std::span<const std::int16_t> columns, Dependency kind) {
  if (columns.empty()) emit_dependency(emit, dependent, {kPgClassClass, relation}, kind);
  for (const std::int16_t column : columns)
    emit_dependency(emit, dependent, {kPgClassClass, relation, column}, kind);
}

/// The objects that a stored expression names by their numbers, cast to a type: '16400'::regclass.
std::vector<Oid> constants_in(std::string_view expression, std::string_view cast_to) {
  std::vector<Oid> found;
  for (std::size_t cast = expression.find(cast_to); cast != std::string_view::npos;
       cast = expression.find(cast_to, cast + 1)) {
    const std::size_t before = expression.find_last_not_of("0123456789", cast - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    Oid oid = kNoOid;
    std::from_chars(expression.data() + begin, expression.data() + cast, oid);
    if (oid != kNoOid) found.push_back(oid);
  }
  return found;
}

/// The routines that it calls, by their numbers: "#16400"(…); after other marks, its operators and
/// casts.
std::vector<Oid> numbers_in(std::string_view expression, std::string_view mark) {
  constexpr std::string_view kEnd = "\"(";
  std::vector<Oid> found;
  for (std::size_t at = expression.find(mark); at != std::string_view::npos;
       at = expression.find(mark, at + 1)) {
    const std::string_view number = expression.substr(at + mark.size());
    Oid oid = kNoOid;
    const char* const end = std::from_chars(number.data(), number.data() + number.size(), oid).ptr;
    const auto digits = static_cast<std::size_t>(end - number.data());
    if (oid != kNoOid && number.substr(digits).starts_with(kEnd)) found.push_back(oid);
  }
  return found;
}

void emit_collation(const EmitRow& emit, const ObjectAddress& dependent, Oid collation) {
  // Those that came with the server are there always.
  if (collation < kFirstUserOid || shown_number(collation) != collation) return;
  emit_dependency(emit, dependent, {kPgCollationClass, collation}, Dependency::normal);
}

/// Where what a constant of the type names is a row.
Oid class_of_constant(TypeId constant) {
  switch (constant) {
    case TypeId::regclass:
      return kPgClassClass;
    case TypeId::regtype:
      return kPgTypeClass;
    case TypeId::regnamespace:
      return kPgNamespaceClass;
    case TypeId::regcollation:
      return kPgCollationClass;
    case TypeId::regoper:
    case TypeId::regoperator:
      return kPgOperatorClass;
    case TypeId::regproc:
    case TypeId::regprocedure:
      return kPgProcClass;
    default:
      return constant == builtin_id::regconfig ? kPgTextConfigClass : kPgTextDictionaryClass;
  }
}

void emit_calls(const EmitRow& emit, const ObjectAddress& dependent, std::string_view expression) {
  for (const std::string_view mark : {"\"#", "\"#c"}) {
    for (const Oid routine : numbers_in(expression, mark)) {
      emit_dependency(emit, dependent, {kPgProcClass, routine}, Dependency::normal);
    }
  }
  for (const Oid op : numbers_in(expression, "\"#o")) {
    emit_dependency(emit, dependent, {kPgOperatorClass, op}, Dependency::normal);
  }
  // regproc and regoper find those of regprocedure and regoperator as well.
  for (const TypeId constant :
       {TypeId::regclass, TypeId::regtype, TypeId::regproc, TypeId::regoper, TypeId::regnamespace,
        TypeId::regcollation, builtin_id::regconfig, builtin_id::regdictionary}) {
    for (const Oid named : constants_in(expression, fmt::format("'::{}", format_type(constant)))) {
      if (named < kFirstUserOid) continue;
      emit_dependency(emit, dependent, {class_of_constant(constant), named}, Dependency::normal);
    }
  }
}

/// What a view or a body names as a routine may be an operator, or text search's.
void emit_called(const EmitRow& emit, const ObjectAddress& dependent, const ViewRoutine& called) {
  if (called.routine < kFirstUserOid) return;
  const TypeId constant = constant_of_record(called.name);
  const Oid of_call = called.name.starts_with("operator ") ? kPgOperatorClass : kPgProcClass;
  const Oid catalog = constant == TypeId::none ? of_call : class_of_constant(constant);
  emit_dependency(emit, dependent, {catalog, called.routine}, Dependency::normal);
}

void emit_routine(const EmitRow& emit, Session::State& session, const Routine& routine) {
  const ObjectAddress address{kPgProcClass, routine.oid};
  emit_schema(emit, address, routine.schema);
  if (routine.language == "plpgsql")
    emit_dependency(emit, address, {kPgLanguageClass, kPlpgsqlLanguage}, Dependency::normal);
  std::vector<Oid> types;
  const auto depends_on = [&](Oid type) {
    if (type == kNoOid || std::ranges::find(types, type) != types.end()) return;
    types.push_back(type);
    emit_dependency(emit, address, {kPgTypeClass, type}, Dependency::normal);
  };
  const auto on_type = [&](TypeId type) {
    if (is_user_type(type)) depends_on(raw(type));
  };
  on_type(routine.result);
  for (const RoutineParameter& parameter : routine.parameters) {
    on_type(parameter.type);
    emit_calls(emit, address, parameter.default_sql);
  }
  if (const TablePtr rows = session.catalog.table(routine.result_relation)) {
    depends_on(rows->relation.row_type);
  }
  for (const ViewName& name : routine.body_names) {
    if (name.relation < kFirstUserOid) continue;
    emit_dependency(emit, address, {kPgClassClass, name.relation}, Dependency::normal);
  }
  for (const ViewRoutine& called : routine.body_routines) emit_called(emit, address, called);
  if (!routine.aggregate) return;
  const AggregateDefinition& made = *routine.aggregate;
  on_type(made.state);
  on_type(made.moving_state);
  for (const Oid part : {made.transition, made.final, made.combine, made.moving_transition,
                         made.moving_inverse, made.moving_final}) {
    if (part < kFirstUserOid) continue;
    emit_dependency(emit, address, {kPgProcClass, part}, Dependency::normal);
  }
  if (made.sort_operator >= kFirstUserOid) {
    emit_dependency(emit, address, {kPgOperatorClass, made.sort_operator}, Dependency::normal);
  }
}

void emit_made(const EmitRow& emit, Session::State& session) {
  const auto on_type = [&](const ObjectAddress& address, TypeId type) {
    if (!is_user_type(type)) return;
    emit_dependency(emit, address, {kPgTypeClass, raw(type)}, Dependency::normal);
  };
  const auto on_function = [&](const ObjectAddress& address, Oid function) {
    if (function < kFirstUserOid) return;
    emit_dependency(emit, address, {kPgProcClass, function}, Dependency::normal);
  };
  for (const OperatorPtr& op : session.catalog.all_made<UserOperator>()) {
    const ObjectAddress address{kPgOperatorClass, op->oid};
    emit_schema(emit, address, op->schema);
    for (const TypeId type : {op->left, op->right, op->result}) on_type(address, type);
    on_function(address, op->function);
  }
  for (const CastPtr& cast : session.catalog.all_made<UserCast>()) {
    const ObjectAddress address{kPgCastClass, cast->oid};
    on_type(address, cast->source);
    on_type(address, cast->target);
    on_function(address, cast->function);
  }
  for (const auto& publication : session.catalog.all_made<Publication>()) {
    const ObjectAddress on{kPgPublicationClass, publication->oid};
    for (const Publication::Member& member : publication->members) {
      const ObjectAddress address{kPgPublicationRelClass, member.oid};
      emit_dependency(emit, address, on, Dependency::automatic);
      emit_dependency(emit, address, {kPgClassClass, member.table}, Dependency::automatic);
    }
    for (const Publication::WholeSchema& whole : publication->schemas) {
      const ObjectAddress address{kPgPublicationNamespaceClass, whole.oid};
      emit_dependency(emit, address, on, Dependency::automatic);
      emit_dependency(emit, address, {kPgNamespaceClass, whole.schema}, Dependency::automatic);
    }
  }
  for (const CollationPtr& collation : session.catalog.all_made<UserCollation>())
    emit_schema(emit, {kPgCollationClass, collation->oid}, collation->schema);
  constexpr Oid kOperatorClassClass = 2616;
  constexpr Oid kOperatorFamilyClass = 2753;
  for (const ExtensionPtr& extension : session.catalog.all_made<Extension>()) {
    const ObjectAddress address{kPgExtensionClass, extension->oid};
    emit_dependency(emit, address, {kPgNamespaceClass, extension->schema}, Dependency::normal);
    if (extension->name == "unaccent") {
      constexpr Oid kTextTemplateClass = 3764;
      emit_dependency(emit, {kTextTemplateClass, kUnaccentTextTemplate}, address,
                      Dependency::extension);
    }
    for (const Extension::Member& member : extension->members) {
      emit_dependency(emit, {member.catalog, member.object}, address, Dependency::extension);
    }
    for (const ElementClassInfo& one : element_classes()) {
      if (one.extension != extension->name) continue;
      emit_dependency(emit, {kOperatorClassClass, one.oid}, address, Dependency::extension);
      emit_dependency(emit, {kOperatorFamilyClass, one.family}, address, Dependency::extension);
    }
  }
}

void emit_user_type(const EmitRow& emit, const UserType& type) {
  const ObjectAddress address{kPgTypeClass, type.oid};
  if (!type.is_of_relation()) emit_schema(emit, address, type.schema);
  if (type.is_shell()) return;
  emit_dependency(emit, {kPgTypeClass, raw(array_type(type.id()))}, address, Dependency::internal);
  if (is_user_type(type.base)) {
    emit_dependency(emit, address, {kPgTypeClass, raw(type.base)},
                    is_user_multirange(type.id()) ? Dependency::internal : Dependency::normal);
  }
  if (type.difference >= kFirstUserOid)
    emit_dependency(emit, address, {kPgProcClass, type.difference}, Dependency::normal);
  emit_collation(emit, address, type.collation);
  if (type.relation != kNoOid) {
    emit_dependency(emit, {kPgClassClass, type.relation}, address, Dependency::internal);
  }
  for (std::size_t i = 0; i < type.attributes.size(); ++i) {
    if (!is_user_type(type.attributes[i].type)) continue;
    emit_dependency(emit, {kPgClassClass, type.relation, static_cast<std::int64_t>(i) + 1},
                    {kPgTypeClass, raw(type.attributes[i].type)}, Dependency::normal);
  }
  emit_calls(emit, address, type.default_sql);
  for (const DomainCheck& check : type.checks) {
    const ObjectAddress constraint{kConstraintClass, check.oid};
    emit_dependency(emit, constraint, address, Dependency::automatic);
    emit_calls(emit, constraint, check.sql);
  }
}

/// What came with plpgsql, as far as it is an object here.
void emit_language(const EmitRow& emit) {
  emit_dependency(emit, {kPgLanguageClass, kPlpgsqlLanguage},
                  {kPgExtensionClass, kPlpgsqlExtension}, Dependency::extension);
}

using ColumnsRead = std::map<Oid, std::set<std::int16_t>>;

/// The columns that a view's query reads, by relation: only binding it tells. Nothing where it can
/// no longer be read.
std::optional<ColumnsRead> columns_read_by(Session::State& session, const Table& view) {
  constexpr std::size_t kWorkOfView = 100'000;
  count_work(kWorkOfView);
  ColumnsRead columns;
  try {
    Arena arena;
    Binder binder{session.names, arena};
    binder.read_view(view);
    for (const Binder::RelationRead& read : binder.relations_read()) {
      std::set<std::int16_t>& of = columns[read.table->relation.oid];
      const std::size_t count = read.has_slots ? read.table->relation.columns.size() : 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (binder.is_used(read.first_slot + static_cast<Slot>(i)))
          of.insert(static_cast<std::int16_t>(i + 1));
      }
    }
  } catch (const SqlError&) {
    return std::nullopt;
  }
  return columns;
}

/// The same of expressions over one table's columns.
std::vector<std::int16_t> columns_in(Session::State& session, const Table& table,
                                     std::span<const std::string_view> expressions) {
  std::vector<std::int16_t> columns;
  try {
    Arena arena;
    Binder binder{session.names, arena};
    const std::size_t count = table.relation.columns.size();
    const Slot first = binder.new_slots(count);
    for (const std::string_view sql : expressions) {
      if (!sql.empty()) binder.bind_table_expression(sql, table, first, Clause::index_expression);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (binder.is_used(first + static_cast<Slot>(i)))
        columns.push_back(static_cast<std::int16_t>(i + 1));
    }
  } catch (const SqlError&) {
    columns.clear();
  }
  return columns;
}

void emit_defaults(const EmitRow& emit, Session::State& session, const Table& table) {
  const Relation& relation = table.relation;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (!has_default_row(column)) continue;
    const ObjectAddress value{kAttributeDefaultClass, default_oid(relation, i)};
    emit_dependency(emit, value, {kPgClassClass, relation.oid, static_cast<std::int64_t>(i) + 1},
                    column.generated ? Dependency::internal : Dependency::automatic);
    emit_calls(emit, value, column.default_sql);
    if (!column.generated) continue;
    const std::string_view expression = column.default_sql;
    for (const std::int16_t read : columns_in(session, table, std::span{&expression, 1}))
      emit_dependency(emit, value, {kPgClassClass, relation.oid, read}, Dependency::normal);
  }
}

void emit_rule(const EmitRow& emit, Session::State& session, const Table& table) {
  const Relation& view = table.relation;
  const ObjectAddress rule{kRewriteClass, rule_oid(view)};
  emit_dependency(emit, rule, {kPgClassClass, view.oid}, Dependency::internal);
  emit_dependency(emit, rule, {kPgClassClass, view.oid}, Dependency::normal);
  const auto columns = columns_read_by(session, table);
  for (const ViewName& name : view.view_names) {
    // System relations are there always.
    if (name.relation < kFirstUserOid) continue;
    const auto known = columns ? columns->find(name.relation) : ColumnsRead::const_iterator{};
    std::vector<std::int16_t> read;
    if (columns && known != columns->end()) {
      // Whole rows have columns that came after the view, too.
      std::ranges::copy_if(known->second, std::back_inserter(read), [&](std::int16_t column) {
        return std::ranges::find(name.columns, column, &ViewColumn::number) != name.columns.end();
      });
    }
    emit_columns(emit, rule, name.relation, read, Dependency::normal);
  }
  for (const ViewType& named : view.view_types) {
    if (named.type < kCollations) emit_collation(emit, rule, named.type);
  }
  std::vector<Oid> named;
  for (const ViewRoutine& called : view.view_routines) {
    if (std::ranges::find(named, called.routine) != named.end()) continue;
    named.push_back(called.routine);
    emit_called(emit, rule, called);
  }
}

void emit_policy(const EmitRow& emit, const Relation& table, const Policy& policy) {
  constexpr Oid kPolicyClass = 3256;
  const ObjectAddress address{kPolicyClass, policy.oid};
  emit_dependency(emit, address, {kPgClassClass, table.oid}, Dependency::automatic);
  for (const PolicyCondition* condition : {&policy.using_rows, &policy.check}) {
    for (const ViewName& name : condition->names) {
      if (name.relation < kFirstUserOid || name.relation == table.oid) continue;
      emit_dependency(emit, address, {kPgClassClass, name.relation}, Dependency::normal);
    }
    for (const ViewType& named : condition->types) {
      if (named.type < kCollations) emit_collation(emit, address, named.type);
    }
    for (const ViewRoutine& called : condition->routines) emit_called(emit, address, called);
  }
}

void emit_text_search(const EmitRow& emit, Session::State& session) {
  for (const auto& made : session.catalog.all_made<UserTextDictionary>())
    emit_schema(emit, {kPgTextDictionaryClass, made->oid}, made->schema);
  for (const auto& made : session.catalog.all_made<UserTextConfig>()) {
    const ObjectAddress address{kPgTextConfigClass, made->oid};
    emit_schema(emit, address, made->schema);
    std::vector<Oid> seen;
    for (const UserTextConfig::Mapping& mapping : made->mappings) {
      const bool is_pinned = mapping.dictionary < kFirstUnpinnedOid;
      if (is_pinned || std::ranges::find(seen, mapping.dictionary) != seen.end()) continue;
      seen.push_back(mapping.dictionary);
      emit_dependency(emit, address, {kPgTextDictionaryClass, mapping.dictionary},
                      Dependency::normal);
    }
  }
}

}  // namespace

bool has_default_row(const Column& column) noexcept {
  return !column.dropped && !column.default_sql.empty() && column.identity == 0;
}

Oid default_oid(const Relation& relation, std::size_t position) noexcept {
  return relation.oid + static_cast<Oid>(position) + 1;
}

Oid rule_oid(const Relation& view) noexcept {
  return view.oid;
}

namespace {

void emit_constraint(const EmitRow& emit, const Relation& relation, const Constraint& constraint) {
  const ObjectAddress address{kConstraintClass, constraint.oid};
  emit_columns(emit, address, relation.oid, constraint.columns, Dependency::automatic);
  if (constraint.kind == ConstraintKind::check && !constraint.columns.empty())
    emit_columns(emit, address, relation.oid, constraint.columns, Dependency::normal);
  emit_calls(emit, address, constraint.check_sql);
  if (constraint.kind == ConstraintKind::foreign_key) {
    emit_columns(emit, address, constraint.referenced_table, constraint.referenced_columns,
                 Dependency::normal);
    if (constraint.index != kNoOid)
      emit_dependency(emit, address, {kPgClassClass, constraint.index}, Dependency::normal);
  } else if (constraint.index != kNoOid) {
    emit_dependency(emit, {kPgClassClass, constraint.index}, address, Dependency::internal);
  }
}

void emit_index(const EmitRow& emit, Session::State& session, const Table& table,
                const Index& index) {
  const Relation& relation = table.relation;
  const ObjectAddress address{kPgClassClass, index.oid};
  const bool is_of_constraint = std::ranges::find(relation.constraints, index.oid,
                                                  &Constraint::index) != relation.constraints.end();
  if (!is_of_constraint) {
    std::vector<std::int16_t> columns;
    for (const IndexColumn& column : index.columns)
      if (column.column > 0) columns.push_back(column.column);
    columns.insert(columns.end(), index.included.begin(), index.included.end());
    emit_columns(emit, address, relation.oid, columns, Dependency::automatic);
  }
  std::vector<std::string_view> expressions{index.predicate_sql};
  for (const IndexColumn& column : index.columns) expressions.push_back(column.expression_sql);
  if (std::ranges::any_of(expressions, [](std::string_view sql) { return !sql.empty(); })) {
    for (const std::int16_t column : columns_in(session, table, expressions)) {
      emit_dependency(emit, address, {kPgClassClass, relation.oid, column}, Dependency::automatic);
    }
  }
  for (const IndexColumn& column : index.columns) {
    emit_calls(emit, address, column.expression_sql);
    emit_collation(emit, address, column.collation);
  }
  emit_calls(emit, address, index.predicate_sql);
}

}  // namespace

void dependency_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    emit_schema(emit, {kPgClassClass, relation.oid}, relation.schema);
    // So that a dump makes the relation before what names the type of its rows.
    if (relation.row_type != kNoOid && relation.kind != RelationKind::sequence) {
      emit_dependency(emit, {kPgTypeClass, relation.row_type}, {kPgClassClass, relation.oid},
                      Dependency::internal);
      emit_dependency(emit, {kPgTypeClass, relation.array_type}, {kPgTypeClass, relation.row_type},
                      Dependency::internal);
    }
    if (relation.sequence && relation.sequence->owner_table != kNoOid) {
      emit_dependency(
          emit, {kPgClassClass, relation.oid},
          {kPgClassClass, relation.sequence->owner_table, relation.sequence->owner_column},
          relation.sequence->identity ? Dependency::internal : Dependency::automatic);
    }
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      if (column.dropped) continue;
      emit_collation(emit, {kPgClassClass, relation.oid, static_cast<std::int64_t>(i) + 1},
                     column.collation);
      if (!is_user_type(column.type)) continue;
      emit_dependency(emit, {kPgClassClass, relation.oid, static_cast<std::int64_t>(i) + 1},
                      {kPgTypeClass, raw(column.type)}, Dependency::normal);
    }
    for (const Constraint& constraint : relation.constraints)
      emit_constraint(emit, relation, constraint);
    for (const Index& index : relation.indexes) emit_index(emit, execution.session, *table, index);
    constexpr Oid kTriggerClass = 2620;
    for (const Trigger& trigger : relation.triggers) {
      const ObjectAddress address{kTriggerClass, trigger.oid};
      emit_dependency(emit, address, {kPgProcClass, trigger.function}, Dependency::normal);
      emit_dependency(emit, address, {kPgClassClass, relation.oid}, Dependency::automatic);
      emit_calls(emit, address, trigger.when_sql);
    }
    for (const Policy& policy : relation.policies) emit_policy(emit, relation, policy);
    emit_defaults(emit, execution.session, *table);
    if (has_query(relation.kind)) emit_rule(emit, execution.session, *table);
  }
  Session::State& session = execution.session;
  for (const TypePtr& type : session.catalog.types()) emit_user_type(emit, *type);
  emit_text_search(emit, session);
  for (const RoutinePtr& routine : session.catalog.routines()) {
    emit_routine(emit, session, *routine);
  }
  emit_made(emit, session);
  emit_language(emit);
}

void rule_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : execution.session.catalog.tables()) {
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
