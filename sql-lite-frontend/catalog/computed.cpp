#include "sql-lite-frontend/catalog/computed.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/computed_objects.h"
#include "sql-lite-frontend/session/session_state.h"

/// The system catalogs, as far as they are there: each computed from our own when it is read.
namespace swizzle::sql {
namespace {

using enum TypeId;
using Emit = ComputedRelation::Emit;

Value text_value(Execution& execution, std::string_view value) {
  return make_text(execution.row_arena, value);
}
Value letter(char value) {
  return Value::from_int(value);
}

void namespaces(Execution& execution, const Emit& emit) {
  for (const SchemaPtr& schema : execution.session.catalog.schemas()) {
    const Value row[] = {Value::from_oid(schema->oid), text_value(execution, schema->name),
                         Value::from_oid(schema->owner), Value::null()};
    emit(row);
  }
}

void tables(Execution& execution, const Emit& emit) {
  Session::State& session = execution.session;
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

void emit_class(Execution& execution, const Emit& emit, const Relation& relation, Oid oid,
                std::string_view name, char kind, double tuples, std::size_t columns,
                bool has_index, std::size_t checks) {
  const bool has_storage = kind == 'r' || kind == 'i' || kind == 'S';
  const Value row[] = {Value::from_oid(oid),
                       text_value(execution, name),
                       Value::from_oid(relation.schema),
                       Value::from_oid(kind == 'r' || kind == 'v' ? relation.row_type : kNoOid),
                       Value::from_oid(kNoOid),
                       Value::from_oid(relation.owner),
                       Value::from_oid(kind == 'r' ? 2 : (kind == 'i' ? 403 : 0)),
                       Value::from_oid(has_storage ? oid : kNoOid),
                       Value::from_oid(kNoOid),
                       Value::from_int(0),
                       Value::from_float4(static_cast<float>(tuples)),
                       Value::from_int(0),
                       Value::from_oid(kNoOid),
                       Value::from_bool(has_index),
                       Value::from_bool(false),
                       letter(static_cast<char>(relation.persistence)),
                       letter(kind),
                       Value::from_int(static_cast<std::int64_t>(columns)),
                       Value::from_int(static_cast<std::int64_t>(checks)),
                       Value::from_bool(false),
                       Value::from_bool(false),
                       Value::from_bool(false),
                       Value::from_bool(false),
                       Value::from_bool(false),
                       Value::from_bool(true),
                       letter('d'),
                       Value::from_bool(false),
                       Value::from_oid(kNoOid),
                       Value::null(),
                       Value::null(),
                       Value::null()};
  emit(row);
}

void classes(Execution& execution, const Emit& emit) {
  Session::State& session = execution.session;
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const auto checks = static_cast<std::size_t>(
        std::ranges::count(relation.constraints, ConstraintKind::check, &Constraint::kind));
    emit_class(execution, emit, relation, relation.oid, relation.name,
               static_cast<char>(relation.kind), relation.estimated_rows, relation.columns.size(),
               !relation.indexes.empty(), checks);
    for (const Index& index : relation.indexes) {
      emit_class(execution, emit, relation, index.oid, index.name, 'i', relation.estimated_rows,
                 index.columns.size(), false, 0);
    }
  }
  Relation system;
  system.schema = kPgCatalogSchema;
  for (const ComputedRelation& computed : computed_relations()) {
    system.schema = computed.schema;
    emit_class(execution, emit, system, computed.oid, computed.name,
               computed.name.starts_with("pg_tables") ? 'v' : 'r', -1, computed.columns.size(),
               false, 0);
  }
}

void attributes(Execution& execution, const Emit& emit) {
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      const TypeInfo* type = find_type(column.type);
      const Value row[] = {Value::from_oid(relation.oid),
                           text_value(execution, column.name),
                           Value::from_oid(column.dropped ? 0 : raw(column.type)),
                           Value::from_int(-1),
                           Value::from_int(type != nullptr ? type->length : -1),
                           Value::from_int(static_cast<std::int64_t>(i) + 1),
                           Value::from_int(is_array(column.type) ? 1 : 0),
                           Value::from_int(-1),
                           Value::from_int(column.typmod),
                           Value::from_bool(type != nullptr && type->by_value),
                           letter(type != nullptr ? type->alignment : 'i'),
                           letter(type != nullptr ? type->storage : 'p'),
                           letter(0),
                           Value::from_bool(column.not_null),
                           Value::from_bool(!column.default_sql.empty() && column.identity == 0),
                           Value::from_bool(column.missing.has_value()),
                           letter(column.identity),
                           letter(column.generated ? 's' : 0),
                           Value::from_bool(column.dropped),
                           Value::from_bool(true),
                           Value::from_int(0),
                           Value::from_oid(is_string_category(column.type) ? 100 : 0),
                           Value::null(),
                           Value::null(),
                           Value::null(),
                           Value::null()};
      emit(row);
    }
  }
}

void types(Execution& execution, const Emit& emit) {
  for (const TypeInfo& type : builtin_types()) {
    const Value row[] = {Value::from_oid(raw(type.id)),
                         text_value(execution, type.name),
                         Value::from_oid(kPgCatalogSchema),
                         Value::from_oid(kBootstrapRole),
                         Value::from_int(type.length),
                         Value::from_bool(type.by_value),
                         letter(type.kind),
                         letter(type.category),
                         Value::from_bool(type.preferred),
                         Value::from_bool(true),
                         letter(type.delimiter),
                         Value::from_oid(kNoOid),
                         Value::from_oid(raw(type.element)),
                         Value::from_oid(raw(type.array)),
                         letter(type.alignment),
                         letter(type.storage),
                         Value::from_bool(false),
                         Value::from_oid(kNoOid),
                         Value::from_int(-1),
                         Value::from_int(0),
                         Value::from_oid(is_string_category(type.id) ? 100 : 0),
                         Value::null()};
    emit(row);
  }
}

void roles(Execution& execution, const Emit& emit) {
  for (const RolePtr& role : execution.session.catalog.roles()) {
    const Value row[] = {Value::from_oid(role->oid),
                         text_value(execution, role->name),
                         Value::from_bool(role->superuser),
                         Value::from_bool(role->inherit),
                         Value::from_bool(role->create_role),
                         Value::from_bool(role->create_database),
                         Value::from_bool(role->can_login),
                         Value::from_bool(role->replication),
                         Value::from_int(role->connection_limit),
                         Value::from_bool(role->bypass_rls)};
    emit(row);
  }
}

void databases(Execution& execution, const Emit& emit) {
  for (const DatabasePtr& database : execution.session.catalog.databases()) {
    const Value row[] = {Value::from_oid(database->oid),
                         text_value(execution, database->name),
                         Value::from_oid(database->owner),
                         Value::from_int(6),
                         letter('c'),
                         Value::from_bool(database->is_template),
                         Value::from_bool(database->allow_connections),
                         Value::from_int(database->connection_limit),
                         text_value(execution, "C"),
                         text_value(execution, "C"),
                         Value::null(),
                         Value::null()};
    emit(row);
  }
}

void settings(Execution& execution, const Emit& emit) {
  for (const SettingView& view : execution.session.settings.all()) {
    const Value row[] = {text_value(execution, view.definition->name),
                         text_value(execution, bare_setting(view.value)),
                         text_value(execution, name_of(view.definition->unit)),
                         text_value(execution, view.definition->category),
                         text_value(execution, view.definition->description),
                         text_value(execution, name_of(view.definition->context)),
                         text_value(execution, view.definition->type_name()),
                         text_value(execution, name_of(view.source))};
    emit(row);
  }
}

void nothing(Execution&, const Emit&) {}

void access_methods(Execution& execution, const Emit& emit) {
  const Value heap[] = {Value::from_oid(2), text_value(execution, "heap"), letter('t')};
  const Value btree[] = {Value::from_oid(403), text_value(execution, "btree"), letter('i')};
  emit(heap);
  emit(btree);
}

void collations(Execution& execution, const Emit& emit) {
  const std::pair<Oid, std::string_view> list[] = {{100, "default"}, {950, "C"}, {951, "POSIX"}};
  for (const auto& [number, label] : list) {
    const Value row[] = {Value::from_oid(number), text_value(execution, label),
                         Value::from_oid(kPgCatalogSchema), text_value(execution, "C"),
                         text_value(execution, "C"), letter(number == 100 ? 'd' : 'c')};
    emit(row);
  }
}

void tablespaces(Execution& execution, const Emit& emit) {
  const Value row[] = {Value::from_oid(1663), text_value(execution, "pg_default"),
                       Value::from_oid(kBootstrapRole), Value::null(), Value::null()};
  emit(row);
}

const std::vector<ComputedRelation>& relations() {
  static const std::vector<ComputedRelation> kRelations{
      {2615,
       kPgCatalogSchema,
       "pg_namespace",
       {{"oid", oid}, {"nspname", name}, {"nspowner", oid}, {"nspacl", text_array}},
       namespaces},
      {1259,
       kPgCatalogSchema,
       "pg_class",
       {{"oid", oid},
        {"relname", name},
        {"relnamespace", oid},
        {"reltype", oid},
        {"reloftype", oid},
        {"relowner", oid},
        {"relam", oid},
        {"relfilenode", oid},
        {"reltablespace", oid},
        {"relpages", int4},
        {"reltuples", float4},
        {"relallvisible", int4},
        {"reltoastrelid", oid},
        {"relhasindex", bool_},
        {"relisshared", bool_},
        {"relpersistence", char_},
        {"relkind", char_},
        {"relnatts", int2},
        {"relchecks", int2},
        {"relhasrules", bool_},
        {"relhastriggers", bool_},
        {"relhassubclass", bool_},
        {"relrowsecurity", bool_},
        {"relforcerowsecurity", bool_},
        {"relispopulated", bool_},
        {"relreplident", char_},
        {"relispartition", bool_},
        {"relrewrite", oid},
        {"relacl", text_array},
        {"reloptions", text_array},
        {"relpartbound", TypeId::text}},
       classes},
      {1249,
       kPgCatalogSchema,
       "pg_attribute",
       {{"attrelid", oid},
        {"attname", name},
        {"atttypid", oid},
        {"attstattarget", int4},
        {"attlen", int2},
        {"attnum", int2},
        {"attndims", int4},
        {"attcacheoff", int4},
        {"atttypmod", int4},
        {"attbyval", bool_},
        {"attalign", char_},
        {"attstorage", char_},
        {"attcompression", char_},
        {"attnotnull", bool_},
        {"atthasdef", bool_},
        {"atthasmissing", bool_},
        {"attidentity", char_},
        {"attgenerated", char_},
        {"attisdropped", bool_},
        {"attislocal", bool_},
        {"attinhcount", int4},
        {"attcollation", oid},
        {"attacl", text_array},
        {"attoptions", text_array},
        {"attfdwoptions", text_array},
        {"attmissingval", text_array}},
       attributes},
      {1247,
       kPgCatalogSchema,
       "pg_type",
       {{"oid", oid},
        {"typname", name},
        {"typnamespace", oid},
        {"typowner", oid},
        {"typlen", int2},
        {"typbyval", bool_},
        {"typtype", char_},
        {"typcategory", char_},
        {"typispreferred", bool_},
        {"typisdefined", bool_},
        {"typdelim", char_},
        {"typrelid", oid},
        {"typelem", oid},
        {"typarray", oid},
        {"typalign", char_},
        {"typstorage", char_},
        {"typnotnull", bool_},
        {"typbasetype", oid},
        {"typtypmod", int4},
        {"typndims", int4},
        {"typcollation", oid},
        {"typdefault", TypeId::text}},
       types},
      {1260,
       kPgCatalogSchema,
       "pg_roles",
       {{"oid", oid},
        {"rolname", name},
        {"rolsuper", bool_},
        {"rolinherit", bool_},
        {"rolcreaterole", bool_},
        {"rolcreatedb", bool_},
        {"rolcanlogin", bool_},
        {"rolreplication", bool_},
        {"rolconnlimit", int4},
        {"rolbypassrls", bool_}},
       roles},
      {1262,
       kPgCatalogSchema,
       "pg_database",
       {{"oid", oid},
        {"datname", name},
        {"datdba", oid},
        {"encoding", int4},
        {"datlocprovider", char_},
        {"datistemplate", bool_},
        {"datallowconn", bool_},
        {"datconnlimit", int4},
        {"datcollate", TypeId::text},
        {"datctype", TypeId::text},
        {"daticulocale", TypeId::text},
        {"datacl", text_array}},
       databases},
      {12004,
       kPgCatalogSchema,
       "pg_settings",
       {{"name", TypeId::text},
        {"setting", TypeId::text},
        {"unit", TypeId::text},
        {"category", TypeId::text},
        {"short_desc", TypeId::text},
        {"context", TypeId::text},
        {"vartype", TypeId::text},
        {"source", TypeId::text}},
       settings},
      {12005,
       kPgCatalogSchema,
       "pg_tables",
       {{"schemaname", name},
        {"tablename", name},
        {"tableowner", name},
        {"tablespace", name},
        {"hasindexes", bool_},
        {"hasrules", bool_},
        {"hastriggers", bool_},
        {"rowsecurity", bool_}},
       tables},
      {2610, kPgCatalogSchema, "pg_index",
       {{"indexrelid", oid}, {"indrelid", oid}, {"indnatts", int2}, {"indnkeyatts", int2},
        {"indisunique", bool_}, {"indnullsnotdistinct", bool_}, {"indisprimary", bool_},
        {"indisexclusion", bool_}, {"indimmediate", bool_}, {"indisclustered", bool_},
        {"indisvalid", bool_}, {"indcheckxmin", bool_}, {"indisready", bool_},
        {"indislive", bool_}, {"indisreplident", bool_}, {"indkey", int2_array},
        {"indcollation", oid_array}, {"indclass", oid_array}, {"indoption", int2_array},
        {"indexprs", TypeId::text}, {"indpred", TypeId::text}},
       index_rows},
      {2606, kPgCatalogSchema, "pg_constraint",
       {{"oid", oid}, {"conname", name}, {"connamespace", oid}, {"contype", char_},
        {"condeferrable", bool_}, {"condeferred", bool_}, {"convalidated", bool_},
        {"conrelid", oid}, {"contypid", oid}, {"conindid", oid}, {"conparentid", oid},
        {"confrelid", oid}, {"confupdtype", char_}, {"confdeltype", char_},
        {"confmatchtype", char_}, {"conislocal", bool_}, {"coninhcount", int4},
        {"connoinherit", bool_}, {"conkey", int2_array}, {"confkey", int2_array},
        {"conexclop", oid_array}, {"conbin", TypeId::text}},
       constraint_rows},
      {2604, kPgCatalogSchema, "pg_attrdef",
       {{"oid", oid}, {"adrelid", oid}, {"adnum", int2}, {"adbin", TypeId::text}}, default_rows},
      {2609, kPgCatalogSchema, "pg_description",
       {{"objoid", oid}, {"classoid", oid}, {"objsubid", int4}, {"description", TypeId::text}},
       description_rows},
      {2224, kPgCatalogSchema, "pg_sequence",
       {{"seqrelid", oid}, {"seqtypid", oid}, {"seqstart", int8}, {"seqincrement", int8},
        {"seqmax", int8}, {"seqmin", int8}, {"seqcache", int8}, {"seqcycle", bool_}},
       sequence_rows},
      {12010, kPgCatalogSchema, "pg_views",
       {{"schemaname", name}, {"viewname", name}, {"viewowner", name},
        {"definition", TypeId::text}},
       view_rows},
      {12011, kPgCatalogSchema, "pg_indexes",
       {{"schemaname", name}, {"tablename", name}, {"indexname", name}, {"tablespace", name},
        {"indexdef", TypeId::text}},
       index_view_rows},
      {12012, kPgCatalogSchema, "pg_stat_activity",
       {{"datid", oid}, {"datname", name}, {"pid", int4}, {"usesysid", oid}, {"usename", name},
        {"application_name", TypeId::text}, {"client_addr", TypeId::text},
        {"state", TypeId::text}, {"query", TypeId::text}, {"backend_type", TypeId::text}},
       activity_rows},
      {12013, kPgCatalogSchema, "pg_prepared_statements",
       {{"name", TypeId::text}, {"statement", TypeId::text}, {"prepare_time", timestamptz},
        {"parameter_types", static_cast<TypeId>(2211)}, {"from_sql", bool_}},
       prepared_rows},
      {1255, kPgCatalogSchema, "pg_proc",
       {{"oid", oid}, {"proname", name}, {"pronamespace", oid}, {"proowner", oid},
        {"prokind", char_}, {"proisstrict", bool_}, {"proretset", bool_},
        {"provolatile", char_}, {"pronargs", int2}, {"prorettype", oid},
        {"prosrc", TypeId::text}},
       function_rows},
      {2601, kPgCatalogSchema, "pg_am", {{"oid", oid}, {"amname", name}, {"amtype", char_}},
       access_methods},
      {3456, kPgCatalogSchema, "pg_collation",
       {{"oid", oid}, {"collname", name}, {"collnamespace", oid}, {"collcollate", TypeId::text},
        {"collctype", TypeId::text}, {"collprovider", char_}},
       collations},
      {1213, kPgCatalogSchema, "pg_tablespace",
       {{"oid", oid}, {"spcname", name}, {"spcowner", oid}, {"spcacl", text_array},
        {"spcoptions", text_array}},
       tablespaces},
      {13010, kInformationSchema, "tables",
       {{"table_catalog", name}, {"table_schema", name}, {"table_name", name},
        {"table_type", TypeId::text}, {"is_insertable_into", TypeId::text}},
       schema_table_rows},
      {13011, kInformationSchema, "columns",
       {{"table_catalog", name}, {"table_schema", name}, {"table_name", name},
        {"column_name", name}, {"ordinal_position", int4}, {"column_default", TypeId::text},
        {"is_nullable", TypeId::text}, {"data_type", TypeId::text},
        {"character_maximum_length", int4}, {"numeric_precision", int4}, {"udt_name", name},
        {"is_identity", TypeId::text}, {"is_generated", TypeId::text}},
       schema_column_rows},
      {13012, kInformationSchema, "schemata",
       {{"catalog_name", name}, {"schema_name", name}, {"schema_owner", name}},
       schema_schema_rows},
      {3501, kPgCatalogSchema, "pg_enum",
       {{"oid", oid}, {"enumtypid", oid}, {"enumsortorder", float4}, {"enumlabel", name}},
       nothing},
      {3541, kPgCatalogSchema, "pg_range",
       {{"rngtypid", oid}, {"rngsubtype", oid}, {"rngmultitypid", oid}}, nothing},
      {2608, kPgCatalogSchema, "pg_depend",
       {{"classid", oid}, {"objid", oid}, {"objsubid", int4}, {"refclassid", oid},
        {"refobjid", oid}, {"refobjsubid", int4}, {"deptype", char_}},
       nothing},
      {3079, kPgCatalogSchema, "pg_extension",
       {{"oid", oid}, {"extname", name}, {"extowner", oid}, {"extnamespace", oid},
        {"extversion", TypeId::text}},
       nothing},
      {2616, kPgCatalogSchema, "pg_opclass",
       {{"oid", oid}, {"opcmethod", oid}, {"opcname", name}, {"opcnamespace", oid},
        {"opcintype", oid}, {"opcdefault", bool_}},
       nothing},
      {2618, kPgCatalogSchema, "pg_rewrite",
       {{"oid", oid}, {"rulename", name}, {"ev_class", oid}, {"ev_type", char_},
        {"ev_enabled", char_}, {"is_instead", bool_}},
       nothing},
      {1261, kPgCatalogSchema, "pg_auth_members",
       {{"roleid", oid}, {"member", oid}, {"grantor", oid}, {"admin_option", bool_}}, nothing},
      {2396, kPgCatalogSchema, "pg_shdescription",
       {{"objoid", oid}, {"classoid", oid}, {"description", TypeId::text}}, nothing},
      {12014, kPgCatalogSchema, "pg_locks",
       {{"locktype", TypeId::text},
        {"database", oid},
        {"relation", oid},
        {"page", int4},
        {"tuple", int2},
        {"virtualxid", TypeId::text},
        {"transactionid", int8},
        {"classid", oid},
        {"objid", oid},
        {"objsubid", int2},
        {"virtualtransaction", TypeId::text},
        {"pid", int4},
        {"mode", TypeId::text},
        {"granted", bool_},
        {"fastpath", bool_},
        {"waitstart", timestamptz}},
       lock_rows},
      {12901, kPgCatalogSchema, "swizzle_snapshots",
       {{"pid", int4}, {"snapshot_lsn", int8}, {"held_bytes", int8}, {"too_old", bool_}},
       snapshot_rows},
      {12902, kPgCatalogSchema, "swizzle_version_store",
       {{"bytes", int8}, {"snapshots_given_up", int8}},
       version_store_rows},
      {3118, kPgCatalogSchema, "pg_foreign_table", {{"ftrelid", oid}, {"ftserver", oid}},
       nothing},
      {3350,
       kPgCatalogSchema,
       "pg_partitioned_table",
       {{"partrelid", oid}, {"partstrat", char_}, {"partnatts", int2}},
       nothing},
      {2611,
       kPgCatalogSchema,
       "pg_inherits",
       {{"inhrelid", oid}, {"inhparent", oid}, {"inhseqno", int4}, {"inhdetachpending", bool_}},
       nothing},
      {3256,
       kPgCatalogSchema,
       "pg_policy",
       {{"oid", oid},
        {"polname", name},
        {"polrelid", oid},
        {"polcmd", char_},
        {"polpermissive", bool_},
        {"polroles", oid_array},
        {"polqual", TypeId::text},
        {"polwithcheck", TypeId::text}},
       nothing},
      {3381,
       kPgCatalogSchema,
       "pg_statistic_ext",
       {{"oid", oid},
        {"stxrelid", oid},
        {"stxname", name},
        {"stxnamespace", oid},
        {"stxstattarget", int4},
        {"stxkeys", int2vector},
        {"stxkind", text_array}},
       nothing},
      {6104,
       kPgCatalogSchema,
       "pg_publication",
       {{"oid", oid}, {"pubname", name}, {"puballtables", bool_}},
       nothing},
      {6106,
       kPgCatalogSchema,
       "pg_publication_rel",
       {{"oid", oid},
        {"prpubid", oid},
        {"prrelid", oid},
        {"prqual", TypeId::text},
        {"prattrs", int2vector}},
       nothing},
      {6237,
       kPgCatalogSchema,
       "pg_publication_namespace",
       {{"oid", oid}, {"pnpubid", oid}, {"pnnspid", oid}},
       nothing},
      {2620,
       kPgCatalogSchema,
       "pg_trigger",
       {{"oid", oid},
        {"tgrelid", oid},
        {"tgparentid", oid},
        {"tgname", name},
        {"tgfoid", oid},
        {"tgtype", int2},
        {"tgenabled", char_},
        {"tgisinternal", bool_},
        {"tgconstraint", oid},
        {"tgdeferrable", bool_},
        {"tginitdeferred", bool_}},
       nothing},
  };
  return kRelations;
}

}  // namespace

std::span<const ComputedRelation> computed_relations() {
  return relations();
}

const ComputedRelation* find_computed(Oid schema, std::string_view name) {
  for (const ComputedRelation& relation : relations()) {
    if (relation.schema == schema && relation.name == name) return &relation;
  }
  return nullptr;
}

}  // namespace swizzle::sql
