#include "sql-lite-frontend/catalog/computed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/catalog/computed_dependencies.h"
#include "sql-lite-frontend/catalog/computed_objects.h"
#include "sql-lite-frontend/catalog/computed_privileges.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/catalog/providers.h"
#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/type_io.h"

/// The system catalogs, as far as they are there: each computed from our own when it is read.
namespace swizzle::sql {
namespace {

Value text_value(Execution& execution, std::string_view value) {
  return make_text(execution.row_arena, value);
}
Value letter(char value) {
  return Value::from_int(value);
}

Value flag(bool value) {
  return Value::from_bool(value);
}
Value number(std::size_t value) {
  return Value::from_int(static_cast<std::int64_t>(value));
}

constexpr Oid kDefaultTablespace = 1663;

/// typcollation: "C" for name, the default for the other strings.
Oid collation_of(TypeId type) {
  const TypeId element = element_type(type) == TypeId::none ? type : element_type(type);
  switch (type == TypeId::name ? type : element) {
    case TypeId::name:
      return 950;
    case TypeId::text:
    case TypeId::varchar:
    case TypeId::bpchar:
      return 100;
    default:
      return kNoOid;
  }
}

void namespaces(Execution& execution, const EmitRow& emit) {
  for (const SchemaPtr& schema : execution.session.catalog.schemas()) {
    const Value row[] = {Value::from_oid(schema->oid), text_value(execution, schema->name),
                         Value::from_oid(schema->owner), acl_value(execution, schema->grants)};
    emit(row);
  }
  Session::State& session = execution.session;
  if (session.temp_schema == kNoOid) return;
  const Value row[] = {Value::from_oid(session.temp_schema),
                       text_value(execution, session.schema_name(session.temp_schema)),
                       Value::from_oid(session.user->oid), Value::null()};
  emit(row);
}

void tables(Execution& execution, const EmitRow& emit) {
  Session::State& session = execution.session;
  for (const ComputedRelation& computed : computed_relations()) {
    if (computed.kind != 'r') continue;
    const Value row[] = {text_value(execution, session.schema_name(computed.schema)),
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
    const Value row[] = {text_value(execution, session.schema_name(relation.schema)),
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

/// A row of pg_class besides what its Relation says.
struct ClassRow {
  Oid oid = kNoOid;
  std::string_view name;
  char kind = 'r';
  double tuples = -1;
  std::size_t columns = 0;
  std::size_t checks = 0;
  bool has_index = false;
  bool has_triggers = false;
  std::span<const std::string> options = {};
  std::span<const Grant> grants = {};
};

Value options_value(Execution& execution, std::span<const std::string> options) {
  if (options.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::string& option : options) values.push_back(text_value(execution, option));
  return make_array(execution.row_arena, TypeId::text, values);
}

void emit_class(Execution& execution, const EmitRow& emit, const Relation& relation,
                const ClassRow& facts) {
  const char kind = facts.kind;
  const bool is_heap = kind == 'r' || kind == 'm';
  const bool has_storage = is_heap || kind == 'i' || kind == 'S';
  const bool has_rows = is_heap || kind == 'v';
  constexpr Oid kHeap = 2;
  constexpr Oid kBtree = 403;
  const Value row[] = {Value::from_oid(facts.oid),
                       text_value(execution, facts.name),
                       Value::from_oid(relation.schema),
                       Value::from_oid(has_rows ? relation.row_type : kNoOid),
                       Value::from_oid(relation.owner),
                       Value::from_oid(is_heap ? kHeap : (kind == 'i' ? kBtree : kNoOid)),
                       Value::from_oid(has_storage ? facts.oid : kNoOid),
                       Value::from_float4(static_cast<float>(facts.tuples)),
                       flag(facts.has_index),
                       letter(static_cast<char>(relation.persistence)),
                       letter(kind),
                       number(facts.columns),
                       number(facts.checks),
                       flag(kind == 'v' || kind == 'm'),
                       flag(facts.has_triggers),
                       flag(kind != 'm' || relation.populated),
                       letter(relation.schema == kPgCatalogSchema || !is_heap ? 'n' : 'd'),
                       options_value(execution, facts.options),
                       acl_value(execution, facts.grants)};
  emit(row);
}

/// Foreign keys are triggers to PostgreSQL, on both tables.
std::set<Oid> tables_with_foreign_keys(Session::State& session) {
  std::set<Oid> tables;
  for (const TablePtr& table : session.catalog.tables()) {
    for (const Constraint& constraint : table->relation.constraints) {
      if (constraint.kind != ConstraintKind::foreign_key) continue;
      tables.insert(table->relation.oid);
      tables.insert(constraint.referenced_table);
    }
  }
  return tables;
}

void classes(Execution& execution, const EmitRow& emit) {
  Session::State& session = execution.session;
  const std::set<Oid> with_triggers = tables_with_foreign_keys(session);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const auto checks = static_cast<std::size_t>(
        std::ranges::count(relation.constraints, ConstraintKind::check, &Constraint::kind));
    ClassRow row{.oid = relation.oid,
                 .name = relation.name,
                 .kind = static_cast<char>(relation.kind),
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
                  .tuples = std::max(relation.estimated_rows, 0.0),
                  .columns = index.columns.size() + index.included.size()});
    }
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

/// A row of pg_attribute besides what its Column says.
struct AttributeRow {
  Oid relation = kNoOid;
  std::int64_t number = 0;
  std::string_view name;
};

void emit_attribute(Execution& execution, const EmitRow& emit, const Column& column,
                    const AttributeRow& facts) {
  const TypeInfo* type = find_type(column.type);
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
                       Value::from_oid(collation_of(column.type)),
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
    emit_attribute(execution, emit, column, {index.oid, number, label});
  }
  for (const std::int16_t included : index.included) {
    const Column& indexed = relation.columns[static_cast<std::size_t>(included) - 1];
    Column column;
    column.type = indexed.type;
    column.typmod = indexed.typmod;
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

void attributes(Execution& execution, const EmitRow& emit) {
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

void emit_type(Execution& execution, const EmitRow& emit, const TypeInfo& type, Oid schema,
               Oid relation) {
  static constexpr TypeFunctions kNone{};
  const TypeFunctions* known = type_functions(type.id);
  const auto& functions = (known != nullptr ? *known : kNone).functions;
  const Value row[] = {Value::from_oid(raw(type.id)),
                       text_value(execution, type.name),
                       Value::from_oid(schema),
                       Value::from_oid(kBootstrapRole),
                       Value::from_int(type.length),
                       flag(type.by_value),
                       letter(type.kind),
                       letter(type.category),
                       flag(type.preferred),
                       flag(true),
                       letter(type.delimiter),
                       Value::from_oid(relation),
                       Value::from_oid(raw(type.element)),
                       Value::from_oid(raw(type.array)),
                       letter(type.alignment),
                       letter(type.storage),
                       flag(false),
                       Value::from_int(-1),
                       Value::from_oid(collation_of(type.id)),
                       Value::from_oid(functions[0]),
                       Value::from_oid(functions[1]),
                       Value::from_oid(functions[2]),
                       Value::from_oid(functions[3]),
                       Value::from_oid(functions[4]),
                       Value::from_oid(functions[5]),
                       Value::from_oid(functions[6]),
                       Value::from_oid(functions[7])};
  emit(row);
}

void types(Execution& execution, const EmitRow& emit) {
  for (const TypeInfo& type : builtin_types()) {
    emit_type(execution, emit, type, kPgCatalogSchema, kNoOid);
  }
  // Each table and view is a type of its rows.
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind == RelationKind::sequence || relation.row_type == kNoOid) continue;
    const auto row_type = static_cast<TypeId>(relation.row_type);
    const auto array_type = static_cast<TypeId>(relation.array_type);
    emit_type(execution, emit,
              {row_type, relation.name, relation.name, -1, false, 'C', false, ',', 'd', 'x', 'c',
               array_type, TypeId::none, Shape::record},
              relation.schema, relation.oid);
    if (relation.array_type == kNoOid) continue;
    const std::string array_name = "_" + relation.name;
    emit_type(execution, emit,
              {array_type, array_name, array_name, -1, false, 'A', false, ',', 'd', 'x', 'b',
               TypeId::none, row_type, Shape::array},
              relation.schema, kNoOid);
  }
}

Value timestamp_or_null(Execution& execution, const std::string& text) {
  if (text.empty()) return Value::null();
  FunctionContext context{execution.row_arena, execution.session.session_context, {}};
  return input_text(context, TypeId::timestamptz, kNoTypmod, text);
}

void roles(Execution& execution, const EmitRow& emit) {
  for (const RolePtr& role : execution.session.catalog.roles()) {
    const Value row[] = {Value::from_oid(role->oid),
                         text_value(execution, role->name),
                         flag(role->superuser),
                         flag(role->inherit),
                         flag(role->create_role),
                         flag(role->create_database),
                         flag(role->can_login),
                         flag(role->replication),
                         Value::from_int(role->connection_limit),
                         text_value(execution, "********"),
                         timestamp_or_null(execution, role->valid_until),
                         flag(role->bypass_rls),
                         options_value(execution, role->settings)};
    emit(row);
  }
}

void role_members(Execution& execution, const EmitRow& emit) {
  for (const RolePtr& role : execution.session.catalog.roles()) {
    for (const Oid group : role->member_of) {
      const Value row[] = {Value::from_oid(group), Value::from_oid(role->oid),
                           Value::from_oid(kBootstrapRole), flag(false)};
      emit(row);
    }
  }
}

void databases(Execution& execution, const EmitRow& emit) {
  for (const DatabasePtr& database : execution.session.catalog.databases()) {
    const Value row[] = {Value::from_oid(database->oid),
                         text_value(execution, database->name),
                         Value::from_oid(database->owner),
                         Value::from_int(6),
                         letter('c'),
                         flag(database->is_template),
                         flag(database->allow_connections),
                         Value::from_int(database->connection_limit),
                         Value::from_oid(kDefaultTablespace),
                         text_value(execution, "C"),
                         text_value(execution, "C"),
                         acl_value(execution, database->grants)};
    emit(row);
  }
}

void shared_descriptions(Execution& execution, const EmitRow& emit) {
  const auto describe = [&](Oid oid, Oid catalog, const std::string& comment) {
    if (comment.empty()) return;
    const Value row[] = {Value::from_oid(oid), Value::from_oid(catalog),
                         text_value(execution, comment)};
    emit(row);
  };
  constexpr Oid kPgDatabaseClass = 1262;
  constexpr Oid kPgAuthidClass = 1260;
  for (const DatabasePtr& database : execution.session.catalog.databases()) {
    describe(database->oid, kPgDatabaseClass, database->comment);
  }
  for (const RolePtr& role : execution.session.catalog.roles()) {
    describe(role->oid, kPgAuthidClass, role->comment);
  }
}

void role_settings(Execution& execution, const EmitRow& emit) {
  for (const RolePtr& role : execution.session.catalog.roles()) {
    if (role->settings.empty()) continue;
    const Value row[] = {Value::from_oid(kNoOid), Value::from_oid(role->oid),
                         options_value(execution, role->settings)};
    emit(row);
  }
  for (const DatabasePtr& database : execution.session.catalog.databases()) {
    if (database->settings.empty()) continue;
    const Value row[] = {Value::from_oid(database->oid), Value::from_oid(kNoOid),
                         options_value(execution, database->settings)};
    emit(row);
  }
}

}  // namespace

std::span<const RowProvider> catalog_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_namespace",
       {{"oid"}, {"nspname"}, {"nspowner"}, {"nspacl"}},
       namespaces},
      {kPgCatalogSchema,
       "pg_class",
       {{"oid"},
        {"relname"},
        {"relnamespace"},
        {"reltype"},
        {"relowner"},
        {"relam"},
        {"relfilenode"},
        {"reltuples"},
        {"relhasindex"},
        {"relpersistence"},
        {"relkind"},
        {"relnatts"},
        {"relchecks"},
        {"relhasrules"},
        {"relhastriggers"},
        {"relispopulated"},
        {"relreplident"},
        {"reloptions"},
        {"relacl"}},
       classes},
      {kPgCatalogSchema,
       "pg_attribute",
       {{"attrelid"},      {"attname"},     {"atttypid"},       {"attstattarget"}, {"attlen"},
        {"attnum"},        {"attndims"},    {"attcacheoff"},    {"atttypmod"},     {"attbyval"},
        {"attalign"},      {"attstorage"},  {"attcompression"}, {"attnotnull"},    {"atthasdef"},
        {"atthasmissing"}, {"attidentity"}, {"attgenerated"},   {"attisdropped"},  {"attislocal"},
        {"attcollation"},  {"attacl"}},
       attributes},
      {kPgCatalogSchema,
       "pg_type",
       {{"oid"},        {"typname"},     {"typnamespace"}, {"typowner"},       {"typlen"},
        {"typbyval"},   {"typtype"},     {"typcategory"},  {"typispreferred"}, {"typisdefined"},
        {"typdelim"},   {"typrelid"},    {"typelem"},      {"typarray"},       {"typalign"},
        {"typstorage"}, {"typnotnull"},  {"typtypmod"},    {"typcollation"},   {"typinput"},
        {"typoutput"},  {"typreceive"},  {"typsend"},      {"typmodin"},       {"typmodout"},
        {"typanalyze"}, {"typsubscript"}},
       types},
      {kPgCatalogSchema,
       "pg_roles",
       {{"oid"},
        {"rolname"},
        {"rolsuper"},
        {"rolinherit"},
        {"rolcreaterole"},
        {"rolcreatedb"},
        {"rolcanlogin"},
        {"rolreplication"},
        {"rolconnlimit"},
        {"rolpassword"},
        {"rolvaliduntil"},
        {"rolbypassrls"},
        {"rolconfig"}},
       roles},
      {kPgCatalogSchema,
       "pg_database",
       {{"oid"},
        {"datname"},
        {"datdba"},
        {"encoding"},
        {"datlocprovider"},
        {"datistemplate"},
        {"datallowconn"},
        {"datconnlimit"},
        {"dattablespace"},
        {"datcollate"},
        {"datctype"},
        {"datacl"}},
       databases},
      {kPgCatalogSchema,
       "pg_tables",
       {{"schemaname"},
        {"tablename"},
        {"tableowner"},
        {"tablespace"},
        {"hasindexes"},
        {"hasrules"},
        {"hastriggers"},
        {"rowsecurity"}},
       tables},
      {kPgCatalogSchema,
       "pg_index",
       {{"indexrelid"},     {"indrelid"},       {"indnatts"},
        {"indnkeyatts"},    {"indisunique"},    {"indnullsnotdistinct"},
        {"indisprimary"},   {"indisexclusion"}, {"indimmediate"},
        {"indisclustered"}, {"indisvalid"},     {"indcheckxmin"},
        {"indisready"},     {"indislive"},      {"indisreplident"},
        {"indkey"},         {"indcollation"},   {"indclass"},
        {"indoption"},      {"indexprs"},       {"indpred"}},
       index_rows},
      {kPgCatalogSchema,
       "pg_constraint",
       {{"oid"},         {"conname"},      {"connamespace"}, {"contype"},     {"condeferrable"},
        {"condeferred"}, {"convalidated"}, {"conrelid"},     {"contypid"},    {"conindid"},
        {"conparentid"}, {"confrelid"},    {"confupdtype"},  {"confdeltype"}, {"confmatchtype"},
        {"conislocal"},  {"coninhcount"},  {"connoinherit"}, {"conkey"},      {"confkey"},
        {"conexclop"},   {"conbin"}},
       constraint_rows},
      {kPgCatalogSchema, "pg_attrdef", {{"oid"}, {"adrelid"}, {"adnum"}, {"adbin"}}, default_rows},
      {kPgCatalogSchema,
       "pg_description",
       {{"objoid"}, {"classoid"}, {"objsubid"}, {"description"}},
       description_rows},
      {kPgCatalogSchema,
       "pg_sequence",
       {{"seqrelid"},
        {"seqtypid"},
        {"seqstart"},
        {"seqincrement"},
        {"seqmax"},
        {"seqmin"},
        {"seqcache"},
        {"seqcycle"}},
       sequence_rows},
      {kPgCatalogSchema,
       "pg_views",
       {{"schemaname"}, {"viewname"}, {"viewowner"}, {"definition"}},
       view_rows},
      {kPgCatalogSchema,
       "pg_indexes",
       {{"schemaname"}, {"tablename"}, {"indexname"}, {"tablespace"}, {"indexdef"}},
       index_view_rows},
      {kPgCatalogSchema,
       "pg_authid",
       {{"oid"},
        {"rolname"},
        {"rolsuper"},
        {"rolinherit"},
        {"rolcreaterole"},
        {"rolcreatedb"},
        {"rolcanlogin"},
        {"rolreplication"},
        {"rolconnlimit"},
        {"rolpassword"},
        {"rolvaliduntil"},
        {"rolbypassrls"}},
       roles},
      {kPgCatalogSchema,
       "pg_auth_members",
       {{"roleid"}, {"member"}, {"grantor"}, {"admin_option"}},
       role_members},
      {kPgCatalogSchema,
       "pg_shdescription",
       {{"objoid"}, {"classoid"}, {"description"}},
       shared_descriptions},
      {kPgCatalogSchema,
       "pg_db_role_setting",
       {{"setdatabase"}, {"setrole"}, {"setconfig"}},
       role_settings},
      {kPgCatalogSchema,
       "pg_depend",
       {{"classid"},
        {"objid"},
        {"objsubid"},
        {"refclassid"},
        {"refobjid"},
        {"refobjsubid"},
        {"deptype"}},
       dependency_rows},
      {kPgCatalogSchema,
       "pg_rewrite",
       {{"oid"}, {"rulename"}, {"ev_class"}, {"ev_type"}, {"ev_enabled"}, {"is_instead"}},
       rule_rows},
  };
  return kProviders;
}

}  // namespace swizzle::sql
