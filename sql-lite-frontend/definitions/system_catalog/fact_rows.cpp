#include <algorithm>
#include <atomic>
#include <memory>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/catalog/text_dictionary.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/inverted/element_class.h"

/// System relations about the server's built-in objects.
namespace swizzle::sql {
namespace {

constexpr Oid kBtree = 403;
constexpr Oid kGist = 783;
constexpr Oid kGin = 2742;
constexpr Oid kInternalLanguage = 12;

Value system_schema() {
  return Value::from_oid(kPgCatalogSchema);
}
Value bootstrap_role() {
  return Value::from_oid(kBootstrapRole);
}

/// Returns the schema of the class's extension; none if it is not installed.
Oid schema_of_class(Execution& execution, const ElementClassInfo& of) {
  if (of.extension.empty()) return kPgCatalogSchema;
  const ExtensionPtr extension = context_of(execution).catalog.extension(of.extension);
  return extension == nullptr ? kNoOid : extension->schema;
}

void operator_class_rows(Execution& execution, const EmitRow& emit) {
  for (const OperatorClass& entry : operator_classes()) {
    const Value row[] = {Value::from_oid(entry.oid),
                         Value::from_oid(kBtree),
                         text_value(execution, entry.name),
                         system_schema(),
                         bootstrap_role(),
                         Value::from_oid(entry.family),
                         Value::from_oid(raw(entry.type)),
                         flag(entry.is_default),
                         Value::from_oid(kNoOid)};
    emit(row);
  }
  for (const ElementClassInfo& entry : element_classes()) {
    const Oid schema = schema_of_class(execution, entry);
    if (schema == kNoOid) continue;
    const Value row[] = {Value::from_oid(entry.oid),
                         Value::from_oid(kGin),
                         text_value(execution, entry.name),
                         Value::from_oid(schema),
                         bootstrap_role(),
                         Value::from_oid(entry.family),
                         Value::from_oid(raw(entry.type)),
                         flag(entry.is_default),
                         Value::from_oid(raw(entry.element))};
    emit(row);
  }
}

void operator_family_rows(Execution& execution, const EmitRow& emit) {
  std::vector<Oid> seen;
  for (const OperatorClass& entry : operator_classes()) {
    if (std::ranges::find(seen, entry.family) != seen.end()) continue;
    seen.push_back(entry.family);
    const Value row[] = {Value::from_oid(entry.family), Value::from_oid(kBtree),
                         text_value(execution, entry.family_name), system_schema(),
                         bootstrap_role()};
    emit(row);
  }
  for (const ElementClassInfo& entry : element_classes()) {
    const Oid schema = schema_of_class(execution, entry);
    if (schema == kNoOid) continue;
    const Value row[] = {Value::from_oid(entry.family), Value::from_oid(kGin),
                         text_value(execution, entry.name), Value::from_oid(schema),
                         bootstrap_role()};
    emit(row);
  }
}

/// psql's \dL lists those that have a handler.
void languages(Execution& execution, const EmitRow& emit) {
  struct Language {
    Oid oid;
    std::string_view name;
    Oid call;
    Oid call_of_do;
    Oid validator;
  };
  static constexpr Language kList[] = {{12, "internal", 0, 0, 2246},
                                       {13, "c", 0, 0, 2247},
                                       {14, "sql", 0, 0, 2248},
                                       {13563, "plpgsql", 13560, 13561, 13562}};
  for (const Language& one : kList) {
    const Value row[] = {Value::from_oid(one.oid),
                         text_value(execution, one.name),
                         bootstrap_role(),
                         flag(one.call != 0),
                         flag(one.oid >= 14),
                         Value::from_oid(one.call),
                         Value::from_oid(one.call_of_do),
                         Value::from_oid(one.validator)};
    emit(row);
  }
}

void access_methods(Execution& execution, const EmitRow& emit) {
  const Value heap[] = {Value::from_oid(2), text_value(execution, "heap"), Value::from_oid(3),
                        letter('t')};
  const Value btree[] = {Value::from_oid(kBtree), text_value(execution, "btree"),
                         Value::from_oid(330), letter('i')};
  const Value gin[] = {Value::from_oid(kGin), text_value(execution, "gin"), Value::from_oid(333),
                       letter('i')};
  const Value gist[] = {Value::from_oid(kGist), text_value(execution, "gist"), Value::from_oid(332),
                        letter('i')};
  emit(heap);
  emit(btree);
  emit(gist);
  emit(gin);
}

void emit_collation(Execution& execution, const EmitRow& emit, const UserCollation& collation) {
  constexpr std::int64_t kUtf8 = 6;
  const bool is_builtin = collation.provider == 'b';
  const bool has_encoding =
      is_builtin || (collation.provider == 'c' && collation.oid != collation_id::c &&
                     collation.oid != collation_id::posix);
  const bool has_locale = is_builtin || collation.provider == 'i';
  const auto text = [&](const std::string& value) {
    return value.empty() ? Value::null() : text_value(execution, value);
  };
  const Value row[] = {Value::from_oid(collation.oid),
                       text_value(execution, collation.name),
                       Value::from_oid(collation.schema),
                       Value::from_oid(collation.owner),
                       letter(collation.provider),
                       flag(collation.deterministic),
                       Value::from_int(has_encoding ? kUtf8 : -1),
                       text(collation.collate),
                       text(collation.ctype),
                       has_locale ? text_value(execution, collation.locale) : Value::null(),
                       text(collation.version)};
  emit(row);
}

UserCollation builtin_row(Oid oid, std::string name, char provider, std::string locale) {
  UserCollation row;
  row.oid = oid;
  row.schema = kPgCatalogSchema;
  row.name = std::move(name);
  row.provider = provider;
  if (provider == 'i') {
    row.locale = std::move(locale);
    row.version = icu_version(row.locale);
  } else if (provider == 'b') {
    row.locale = std::move(locale);
    row.version.push_back('1');
  } else {
    row.collate = row.ctype = std::move(locale);
  }
  return row;
}

/// Which never change while the process runs.
std::vector<UserCollation> make_builtin_collations() {
  std::vector<UserCollation> rows;
  rows.push_back(builtin_row(collation_id::by_default, "default", 'd', ""));
  rows.push_back(builtin_row(collation_id::c, "C", 'c', "C"));
  rows.push_back(builtin_row(collation_id::posix, "POSIX", 'c', "POSIX"));
  rows.push_back(builtin_row(collation_id::ucs_basic, "ucs_basic", 'b', "C"));
  rows.push_back(builtin_row(collation_id::c_utf8, "pg_c_utf8", 'b', "C.UTF-8"));
  rows.push_back(
      builtin_row(collation_id::unicode_fast, "pg_unicode_fast", 'b', "PG_UNICODE_FAST"));
  Oid oid = collation_id::first_locale;
  for (const std::string_view locale : builtin_locales()) {
    constexpr std::size_t kWorkOfLocale = 10'000;
    yield_point(kWorkOfLocale);
    rows.push_back(builtin_row(oid, builtin_collation_name(oid), 'i', std::string{locale}));
    ++oid;
  }
  return rows;
}

void collations(Execution& execution, const EmitRow& emit) {
  static std::atomic<std::shared_ptr<const std::vector<UserCollation>>> made;
  // acquire and release: the list's content is published with it.
  auto builtin = made.load(std::memory_order_acquire);
  if (builtin == nullptr) {
    builtin = std::make_shared<const std::vector<UserCollation>>(make_builtin_collations());
    made.store(builtin, std::memory_order_release);
  }
  for (const UserCollation& row : *builtin) emit_collation(execution, emit, row);
  for (const CollationPtr& row : context_of(execution).catalog.all_made<UserCollation>())
    emit_collation(execution, emit, *row);
}

void text_search_configs(Execution& execution, const EmitRow& emit) {
  const auto emit_config = [&](Oid oid, std::string_view name, Oid schema, Oid owner) {
    const Value row[] = {Value::from_oid(oid), text_value(execution, name), Value::from_oid(schema),
                         Value::from_oid(owner), Value::from_oid(kDefaultTextParser)};
    emit(row);
  };
  for (const TextConfigInfo& config : text_configs())
    emit_config(config.oid, config.name, kPgCatalogSchema, kBootstrapRole);
  for (const UserTextConfigPtr& made : context_of(execution).catalog.all_made<UserTextConfig>())
    emit_config(made->oid, made->name, made->schema, made->owner);
}

void text_search_maps(Execution& execution, const EmitRow& emit) {
  const auto emit_mapping = [&](Oid config, std::int32_t kind, std::int32_t place, Oid dictionary) {
    const Value row[] = {Value::from_oid(config), Value::from_int(kind), Value::from_int(place),
                         Value::from_oid(dictionary)};
    emit(row);
  };
  for (const TextConfigInfo& config : text_configs()) {
    for (const TokenKindInfo& kind : token_kinds()) {
      const Oid dictionary = dictionary_of(config, kind.kind);
      if (dictionary != kNoOid)
        emit_mapping(config.oid, static_cast<std::int32_t>(kind.kind), 1, dictionary);
    }
  }
  for (const UserTextConfigPtr& made : context_of(execution).catalog.all_made<UserTextConfig>()) {
    std::int32_t place = 0;
    std::int32_t last = 0;
    for (const UserTextConfig::Mapping& mapping : made->mappings) {
      place = mapping.kind == last ? place + 1 : 1;
      last = mapping.kind;
      emit_mapping(made->oid, mapping.kind, place, mapping.dictionary);
    }
  }
}

void text_search_dictionaries(Execution& execution, const EmitRow& emit) {
  const auto emit_dictionary = [&](Oid oid, std::string_view name, Oid schema, Oid owner,
                                   Oid from_template, std::string_view options) {
    const Value row[] = {Value::from_oid(oid),
                         text_value(execution, name),
                         Value::from_oid(schema),
                         Value::from_oid(owner),
                         Value::from_oid(from_template),
                         options.empty() ? Value::null() : text_value(execution, options)};
    emit(row);
  };
  for (const TextDictionaryInfo& dictionary : text_dictionaries()) {
    emit_dictionary(dictionary.oid, dictionary.name, kPgCatalogSchema, kBootstrapRole,
                    dictionary.template_oid, dictionary.options);
  }
  for (const auto& made : context_of(execution).catalog.all_made<UserTextDictionary>()) {
    emit_dictionary(made->oid, made->name, made->schema, made->owner, made->from_template,
                    shown_options(*made));
  }
}

void text_search_parsers(Execution& execution, const EmitRow& emit) {
  const Value row[] = {Value::from_oid(kDefaultTextParser),
                       text_value(execution, "default"),
                       system_schema(),
                       Value::from_oid(3717),
                       Value::from_oid(3718),
                       Value::from_oid(3719),
                       Value::from_oid(3720),
                       Value::from_oid(3721)};
  emit(row);
}

void text_search_templates(Execution& execution, const EmitRow& emit) {
  for (const TextTemplateInfo& info : text_templates()) {
    const bool is_simple = info.oid == kSimpleTextTemplate;
    const Value row[] = {Value::from_oid(info.oid), text_value(execution, info.name),
                         system_schema(), Value::from_oid(is_simple ? 3725 : 13267),
                         Value::from_oid(is_simple ? 3726 : 13268)};
    emit(row);
  }
  if (const ExtensionPtr extension = context_of(execution).catalog.extension("unaccent")) {
    const Value row[] = {Value::from_oid(kUnaccentTextTemplate), text_value(execution, "unaccent"),
                         Value::from_oid(extension->schema), Value::from_oid(kNoOid),
                         Value::from_oid(kNoOid)};
    emit(row);
  }
}

void tablespaces(Execution& execution, const EmitRow& emit) {
  const std::pair<Oid, std::string_view> list[] = {{1663, "pg_default"}, {1664, "pg_global"}};
  for (const auto& [oid, label] : list) {
    const Value row[] = {Value::from_oid(oid), text_value(execution, label), bootstrap_role()};
    emit(row);
  }
}

}  // namespace

std::span<const RowProvider> fact_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_proc",
       {{"oid"},          {"proname"},        {"pronamespace"}, {"proowner"},
        {"prolang"},      {"procost"},        {"prorows"},      {"provariadic"},
        {"prokind"},      {"prosecdef"},      {"proisstrict"},  {"proretset"},
        {"provolatile"},  {"proparallel"},    {"pronargs"},     {"pronargdefaults"},
        {"prorettype"},   {"proargtypes"},    {"proargnames"},  {"prosrc"},
        {"proleakproof"}, {"proallargtypes"}, {"proargmodes"},  {"proargdefaults"},
        {"prosqlbody"},   {"proconfig"},      {"proacl"},       {"probin"}},
       procedure_rows},
      {kPgCatalogSchema,
       "pg_operator",
       {{"oid"},
        {"oprname"},
        {"oprnamespace"},
        {"oprowner"},
        {"oprkind"},
        {"oprcanmerge"},
        {"oprcanhash"},
        {"oprleft"},
        {"oprright"},
        {"oprresult"},
        {"oprcom"},
        {"oprnegate"},
        {"oprcode"},
        {"oprrest"},
        {"oprjoin"}},
       operator_rows},
      {kPgCatalogSchema,
       "pg_cast",
       {{"oid"}, {"castsource"}, {"casttarget"}, {"castfunc"}, {"castcontext"}, {"castmethod"}},
       cast_rows},
      {kPgCatalogSchema,
       "pg_aggregate",
       {{"aggfnoid"},       {"aggkind"},        {"aggnumdirectargs"}, {"aggtransfn"},
        {"aggfinalfn"},     {"aggcombinefn"},   {"aggserialfn"},      {"aggdeserialfn"},
        {"aggmtransfn"},    {"aggminvtransfn"}, {"aggmfinalfn"},      {"aggfinalextra"},
        {"aggmfinalextra"}, {"aggfinalmodify"}, {"aggmfinalmodify"},  {"aggsortop"},
        {"aggtranstype"},   {"aggtransspace"},  {"aggmtranstype"},    {"aggmtransspace"},
        {"agginitval"},     {"aggminitval"}},
       aggregate_rows},
      {kPgCatalogSchema,
       "pg_extension",
       {{"oid"},
        {"extname"},
        {"extowner"},
        {"extnamespace"},
        {"extrelocatable"},
        {"extversion"},
        {"extconfig"},
        {"extcondition"}},
       extension_rows},
      {kPgCatalogSchema,
       "pg_available_extensions",
       {{"name"}, {"default_version"}, {"installed_version"}, {"comment"}},
       available_extension_rows},
      {kPgCatalogSchema,
       "pg_available_extension_versions",
       {{"name"},
        {"version"},
        {"installed"},
        {"superuser"},
        {"trusted"},
        {"relocatable"},
        {"schema"},
        {"requires"},
        {"comment"}},
       extension_version_rows},
      {kPgCatalogSchema,
       "pg_opclass",
       {{"oid"},
        {"opcmethod"},
        {"opcname"},
        {"opcnamespace"},
        {"opcowner"},
        {"opcfamily"},
        {"opcintype"},
        {"opcdefault"},
        {"opckeytype"}},
       operator_class_rows},
      {kPgCatalogSchema,
       "pg_opfamily",
       {{"oid"}, {"opfmethod"}, {"opfname"}, {"opfnamespace"}, {"opfowner"}},
       operator_family_rows},
      {kPgCatalogSchema,
       "pg_language",
       {{"oid"},
        {"lanname"},
        {"lanowner"},
        {"lanispl"},
        {"lanpltrusted"},
        {"lanplcallfoid"},
        {"laninline"},
        {"lanvalidator"}},
       languages},
      {kPgCatalogSchema, "pg_am", {{"oid"}, {"amname"}, {"amhandler"}, {"amtype"}}, access_methods},
      {kPgCatalogSchema,
       "pg_collation",
       {{"oid"},
        {"collname"},
        {"collnamespace"},
        {"collowner"},
        {"collprovider"},
        {"collisdeterministic"},
        {"collencoding"},
        {"collcollate"},
        {"collctype"},
        {"colllocale"},
        {"collversion"}},
       collations},
      {kPgCatalogSchema,
       "pg_ts_config",
       {{"oid"}, {"cfgname"}, {"cfgnamespace"}, {"cfgowner"}, {"cfgparser"}},
       text_search_configs},
      {kPgCatalogSchema,
       "pg_ts_config_map",
       {{"mapcfg"}, {"maptokentype"}, {"mapseqno"}, {"mapdict"}},
       text_search_maps},
      {kPgCatalogSchema,
       "pg_ts_dict",
       {{"oid"},
        {"dictname"},
        {"dictnamespace"},
        {"dictowner"},
        {"dicttemplate"},
        {"dictinitoption"}},
       text_search_dictionaries},
      {kPgCatalogSchema,
       "pg_ts_parser",
       {{"oid"},
        {"prsname"},
        {"prsnamespace"},
        {"prsstart"},
        {"prstoken"},
        {"prsend"},
        {"prsheadline"},
        {"prslextype"}},
       text_search_parsers},
      {kPgCatalogSchema,
       "pg_ts_template",
       {{"oid"}, {"tmplname"}, {"tmplnamespace"}, {"tmplinit"}, {"tmpllexize"}},
       text_search_templates},
      {kPgCatalogSchema, "pg_tablespace", {{"oid"}, {"spcname"}, {"spcowner"}}, tablespaces},
  };
  return kProviders;
}

}  // namespace swizzle::sql
