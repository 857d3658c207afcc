// Look-up of text search configurations and dictionaries by name and number, as the session sees
// them.
#include "sql-lite-frontend/catalog/text_dictionary.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

bool is_config(TypeId kind) noexcept {
  return kind == builtin_id::regconfig;
}

Oid builtin_by_name(TypeId kind, std::string_view name) {
  if (is_config(kind)) {
    const TextConfigInfo* const found = find_text_config(name);
    return found == nullptr ? kNoOid : found->oid;
  }
  const TextDictionaryInfo* const found = find_text_dictionary(name);
  return found == nullptr ? kNoOid : found->oid;
}

/// Schema and name of an object; no schema: it does not exist.
struct Place {
  Oid schema = kNoOid;
  std::string name;
};

template <class Object>
Oid number_of(const CheckedShared<const Object>& object) {
  return object == nullptr ? kNoOid : object->oid;
}
template <class Object>
Place place_of(const CheckedShared<const Object>& object) {
  return object == nullptr ? Place{} : Place{object->schema, object->name};
}

Oid number_in(const CatalogView& catalog, TypeId kind, Oid schema, std::string_view name) {
  if (schema == kPgCatalogSchema) return builtin_by_name(kind, name);
  return is_config(kind) ? number_of(catalog.made_named<UserTextConfig>(schema, name))
                         : number_of(catalog.made_named<UserTextDictionary>(schema, name));
}

Place place_in(const CatalogView& catalog, TypeId kind, Oid oid) {
  if (is_config(kind)) {
    if (const TextConfigInfo* const found = find_text_config(oid))
      return {kPgCatalogSchema, std::string{found->name}};
    return place_of(catalog.made<UserTextConfig>(oid));
  }
  if (const TextDictionaryInfo* const found = find_text_dictionary(oid))
    return {kPgCatalogSchema, std::string{found->name}};
  return place_of(catalog.made<UserTextDictionary>(oid));
}

}  // namespace

Oid SessionNames::find_text_search(TypeId kind, std::string_view schema, std::string_view name) {
  if (!schema.empty()) {
    const SchemaPtr named = session_.catalog.schema(schema);
    if (!named) throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
    if (!trusts_names) session_.rights.require(*named, privilege::kUsage);
    return number_in(session_.catalog, kind, named->oid, name);
  }
  for (const Oid place : search_path()) {
    if (const Oid found = number_in(session_.catalog, kind, place, name)) return found;
  }
  return kNoOid;
}

std::optional<bool> SessionNames::is_visible_text_search(TypeId kind, Oid oid) {
  const Place place = place_in(session_.catalog, kind, oid);
  if (place.schema == kNoOid) return std::nullopt;
  return find_text_search(kind, {}, place.name) == oid;
}

std::optional<std::string> SessionNames::shown_text_search(TypeId kind, Oid oid) {
  const auto is_visible = is_visible_text_search(kind, oid);
  if (!is_visible) return std::nullopt;
  const Place place = place_in(session_.catalog, kind, oid);
  const std::string name = quote_identifier(place.name);
  return *is_visible ? name : quote_identifier(schema_name(place.schema)) + "." + name;
}

std::optional<std::string> SessionNames::canonical_text_config(std::string_view written) {
  const std::vector<std::string> parts = split_identifier(written);
  const bool has_schema = parts.size() > 1;
  if (has_schema && !session_.catalog.schema(parts[parts.size() - 2])) return std::nullopt;
  const Oid found = find_text_search(
      builtin_id::regconfig,
      has_schema ? std::string_view{parts[parts.size() - 2]} : std::string_view{}, parts.back());
  if (found == kNoOid) return std::nullopt;
  const Place place = place_in(session_.catalog, builtin_id::regconfig, found);
  return quote_identifier(schema_name(place.schema)) + "." + quote_identifier(place.name);
}

TextConfigPtr SessionNames::default_text_config() {
  const std::string written = session_.settings.text("default_text_search_config");
  constexpr std::string_view kSystem = "pg_catalog.";
  if (written.starts_with(kSystem)) {
    const Oid oid =
        builtin_by_name(builtin_id::regconfig, std::string_view{written}.substr(kSystem.size()));
    if (oid != kNoOid) return builtin_text_config(oid);
  }
  const auto oid = find(builtin_id::regconfig, written);
  if (!oid) throw_no_text_search("configuration", written);
  return text_config(*oid);
}

TextConfigPtr SessionNames::text_config(std::uint32_t oid) {
  if (TextConfigPtr builtin = builtin_text_config(oid)) return builtin;
  if (text_config_stamp_ != session_.catalog.stamp()) {
    known_text_configs_.clear();
    text_config_stamp_ = session_.catalog.stamp();
  }
  const auto known = known_text_configs_.find(oid);
  if (known != known_text_configs_.end()) return known->second;
  const UserTextConfigPtr made = session_.catalog.made<UserTextConfig>(oid);
  if (!made) return nullptr;
  auto config = std::make_shared<TextConfig>();
  config->oid = oid;
  for (const UserTextConfig::Mapping& mapping : made->mappings) {
    if (auto dictionary = text_dictionary(mapping.dictionary))
      config->dictionaries.at(static_cast<std::size_t>(mapping.kind))
          .push_back(std::move(dictionary));
  }
  return known_text_configs_[oid] = std::move(config);
}

TextDictionaryPtr SessionNames::text_dictionary(std::uint32_t oid) {
  if (TextDictionaryPtr builtin = builtin_text_dictionary(oid)) return builtin;
  const UserTextDictionaryPtr made = session_.catalog.made<UserTextDictionary>(oid);
  return made ? std::make_shared<const TextDictionary>(text_dictionary_of(*made)) : nullptr;
}

}  // namespace swizzle::sql
