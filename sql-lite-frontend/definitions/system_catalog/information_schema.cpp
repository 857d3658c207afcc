#include <map>
#include <utility>

#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// information_schema's relations that every tool reads, computed at once: tables, columns,
/// schemata.
namespace swizzle::sql {
namespace {

Value yes_or_no(Execution& execution, bool yes) {
  return text_value(execution, yes ? "YES" : "NO");
}

std::string role_name(StatementContext& session, Oid oid) {
  const RolePtr role = session.catalog.role(oid);
  return role ? role->name : "postgres";
}

bool is_listed(const Relation& relation) {
  return is_table(relation.kind) || relation.kind == RelationKind::view;
}

std::vector<bool> updatable_columns(StatementContext& session, const TablePtr& table) {
  Arena arena;
  Binder binder{session.names, arena};
  return binder.updatable_columns(table);
}

void tables(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (!is_listed(relation) || !session.rights.may_see(relation)) continue;
    std::string_view kind = "BASE TABLE";
    if (relation.kind == RelationKind::view) kind = "VIEW";
    if (relation.persistence == Persistence::temporary) kind = "LOCAL TEMPORARY";
    const Value row[] = {text_value(execution, session.options.database),
                         text_value(execution, session.names.schema_name(relation.schema)),
                         text_value(execution, relation.name),
                         text_value(execution, kind),
                         yes_or_no(execution, !updatable_columns(session, table).empty()),
                         yes_or_no(execution, false)};
    emit(row);
  }
}

/// Returns the standard's measures of a type.
TypeMeasures measures_of(TypeId type, std::int32_t typmod) {
  // A domain over a domain does not show the facets of its base type.
  if (is_domain(type)) return {};
  const Type& known = value_type(type);
  return known.measures == nullptr ? TypeMeasures{} : known.measures(typmod);
}

Value or_null(const std::optional<std::int64_t>& number) {
  return number ? Value::from_int(*number) : Value::null();
}

using Identities = std::map<std::pair<Oid, std::int16_t>, const SequenceDefinition*>;

Identities identities_of(StatementContext& session) {
  Identities identities;
  for (const TablePtr& table : session.catalog.tables()) {
    const auto& sequence = table->relation.sequence;
    if (!sequence || !sequence->identity) continue;
    identities.emplace(std::pair{sequence->owner_table, sequence->owner_column}, &*sequence);
  }
  return identities;
}

/// udt_schema and udt_name.
struct UnderlyingType {
  std::string schema = "pg_catalog";
  std::string name;
};
UnderlyingType underlying_type(StatementContext& session, TypeId type) {
  const bool is_made_array = is_user_array(type);
  if (const TypePtr made = session.names.user_type(without_array(type))) {
    return {session.names.schema_name(made->schema), (is_made_array ? "_" : "") + made->name};
  }
  const Type* info = find_type(type);
  return {"pg_catalog", std::string{info != nullptr ? info->name : ""}};
}

/// data_type: the standard's name for it.
std::string type_word(TypeId type) {
  if (is_user_type(type) && !is_user_array(type)) return "USER-DEFINED";
  return is_array(type) ? "ARRAY" : format_type(type);
}

std::string schema_of_collation(StatementContext& session, Oid collation) {
  const CollationPtr made = session.catalog.made<UserCollation>(collation);
  return session.names.schema_name(made ? made->schema : kPgCatalogSchema);
}

void emit_column(Execution& execution, const EmitRow& emit, const Table& table, std::size_t i,
                 const SequenceDefinition* identity, bool updatable) {
  StatementContext& session = context_of(execution);
  const Relation& relation = table.relation;
  const Column& column = relation.columns[i];
  const auto text = [&](std::string_view value) { return text_value(execution, value); };
  const auto number = [&](std::int64_t value) { return text(std::to_string(value)); };
  const auto of_identity = [&](std::int64_t SequenceDefinition::* part) {
    return identity == nullptr ? Value::null() : number(identity->*part);
  };
  // A default's expression is shown to the owner only.
  const bool hides =
      column.default_sql.empty() || column.identity != 0 || !session.rights.owns(relation.owner);
  const Value expression =
      hides ? Value::null() : text(printed_expression(session, table, column.default_sql));
  // A domain's column is described as one of its base type, beside the domain's name.
  const TypePtr domain = is_domain(column.type) ? session.names.user_type(column.type) : nullptr;
  const TypeId type = domain ? domain->base : column.type;
  const UnderlyingType udt = underlying_type(session, type);
  const TypeMeasures measures = measures_of(type, domain ? domain->base_typmod : column.typmod);
  const Oid collation =
      column.collation != kNoOid ? column.collation : default_collation(column.type);
  // The default has no name here.
  const bool has_collation = collation != kNoOid && collation != collation_id::by_default;
  const Value row[] = {
      text(session.options.database),
      text(session.names.schema_name(relation.schema)),
      text(relation.name),
      text(column.name),
      Value::from_int(static_cast<std::int64_t>(i + 1)),
      column.generated ? Value::null() : expression,
      yes_or_no(execution, !column.not_null && !(domain && domain->not_null)),
      text(type_word(type)),
      or_null(measures.length),
      or_null(measures.octets),
      or_null(measures.precision),
      or_null(measures.radix),
      or_null(measures.scale),
      or_null(measures.fraction),
      has_collation ? text(session.options.database) : Value::null(),
      has_collation ? text(schema_of_collation(session, collation)) : Value::null(),
      has_collation ? text(session.names.collation_name(collation)) : Value::null(),
      domain ? text(session.options.database) : Value::null(),
      domain ? text(session.names.schema_name(domain->schema)) : Value::null(),
      domain ? text(domain->name) : Value::null(),
      text(session.options.database),
      text(udt.schema),
      text(udt.name),
      number(static_cast<std::int64_t>(i + 1)),
      yes_or_no(execution, false),
      yes_or_no(execution, column.identity != 0),
      column.identity == 0 ? Value::null() : text(column.identity == 'a' ? "ALWAYS" : "BY DEFAULT"),
      of_identity(&SequenceDefinition::start),
      of_identity(&SequenceDefinition::increment),
      of_identity(&SequenceDefinition::maximum),
      of_identity(&SequenceDefinition::minimum),
      yes_or_no(execution, identity != nullptr && identity->cycle),
      text(column.generated ? "ALWAYS" : "NEVER"),
      column.generated ? expression : Value::null(),
      yes_or_no(execution, updatable)};
  emit(row);
}

void columns(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  const Identities identities = identities_of(session);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (!is_listed(relation)) continue;
    const std::vector<bool> updatable = updatable_columns(session, table);
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      if (column.dropped || !session.rights.may_see(relation, column)) continue;
      const auto identity = identities.find({relation.oid, static_cast<std::int16_t>(i + 1)});
      emit_column(execution, emit, *table, i,
                  identity == identities.end() ? nullptr : identity->second,
                  !updatable.empty() && updatable[i]);
    }
  }
}

void domains(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  const auto text = [&](std::string_view value) { return text_value(execution, value); };
  for (const TypePtr& domain : session.catalog.types()) {
    if (!is_domain(domain->id()) || !session.rights.may_use(*domain)) continue;
    const UnderlyingType udt = underlying_type(session, domain->base);
    const TypeMeasures measures = measures_of(domain->base, domain->base_typmod);
    const std::string usual = shown_domain_default(session, *domain);
    const bool is_builtin = !is_user_type(domain->base);
    const Oid collation = default_collation(domain->id());
    const bool has_collation = collation != kNoOid && collation != collation_id::by_default;
    const Value row[] = {
        text(session.options.database),
        text(session.names.schema_name(domain->schema)),
        text(domain->name),
        text(is_builtin ? format_type(domain->base) : "USER-DEFINED"),
        or_null(measures.length),
        or_null(measures.octets),
        has_collation ? text(session.options.database) : Value::null(),
        has_collation ? text(schema_of_collation(session, collation)) : Value::null(),
        has_collation ? text(session.names.collation_name(collation)) : Value::null(),
        or_null(measures.precision),
        or_null(measures.radix),
        or_null(measures.scale),
        or_null(measures.fraction),
        usual.empty() ? Value::null() : text(usual),
        text(session.options.database),
        text(udt.schema),
        text(udt.name),
        text("1")};
    emit(row);
  }
}

void schemata(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const SchemaPtr& schema : session.catalog.schemas()) {
    const bool shown = session.rights.owns(schema->owner) ||
                       session.rights.may(*schema, privilege::kCreate) ||
                       session.rights.may(*schema, privilege::kUsage);
    if (!shown) continue;
    const Value row[] = {text_value(execution, session.options.database),
                         text_value(execution, schema->name),
                         text_value(execution, role_name(session, schema->owner))};
    emit(row);
  }
}

}  // namespace

std::span<const RowProvider> information_schema_providers() {
  static const std::vector<RowProvider> kProviders{
      {kInformationSchema,
       "tables",
       {{"table_catalog"},
        {"table_schema"},
        {"table_name"},
        {"table_type"},
        {"is_insertable_into"},
        {"is_typed"}},
       tables},
      {kInformationSchema,
       "columns",
       {{"table_catalog"},
        {"table_schema"},
        {"table_name"},
        {"column_name"},
        {"ordinal_position"},
        {"column_default"},
        {"is_nullable"},
        {"data_type"},
        {"character_maximum_length"},
        {"character_octet_length"},
        {"numeric_precision"},
        {"numeric_precision_radix"},
        {"numeric_scale"},
        {"datetime_precision"},
        {"collation_catalog"},
        {"collation_schema"},
        {"collation_name"},
        {"domain_catalog"},
        {"domain_schema"},
        {"domain_name"},
        {"udt_catalog"},
        {"udt_schema"},
        {"udt_name"},
        {"dtd_identifier"},
        {"is_self_referencing"},
        {"is_identity"},
        {"identity_generation"},
        {"identity_start"},
        {"identity_increment"},
        {"identity_maximum"},
        {"identity_minimum"},
        {"identity_cycle"},
        {"is_generated"},
        {"generation_expression"},
        {"is_updatable"}},
       columns},
      {kInformationSchema,
       "domains",
       {{"domain_catalog"},
        {"domain_schema"},
        {"domain_name"},
        {"data_type"},
        {"character_maximum_length"},
        {"character_octet_length"},
        {"collation_catalog"},
        {"collation_schema"},
        {"collation_name"},
        {"numeric_precision"},
        {"numeric_precision_radix"},
        {"numeric_scale"},
        {"datetime_precision"},
        {"domain_default"},
        {"udt_catalog"},
        {"udt_schema"},
        {"udt_name"},
        {"dtd_identifier"}},
       domains},
      {kInformationSchema,
       "schemata",
       {{"catalog_name"}, {"schema_name"}, {"schema_owner"}},
       schemata},
  };
  return kProviders;
}

}  // namespace swizzle::sql
