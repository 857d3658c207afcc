// Collations by name and by number, as the session sees them.
#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/functions/quoting.h"

namespace swizzle::sql {

Oid SessionNames::find_collation(std::string_view schema, std::string_view name) {
  const auto in_schema = [&](Oid place) {
    if (place == kPgCatalogSchema) return builtin_collation(name).value_or(kNoOid);
    const CollationPtr found = session_.catalog.collation(place, name);
    return found ? found->oid : kNoOid;
  };
  if (!schema.empty()) {
    const SchemaPtr named = session_.catalog.schema(schema);
    if (!named) {
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
    }
    if (!trusts_names) session_.rights.require(*named, privilege::kUsage);
    return in_schema(named->oid);
  }
  for (const Oid place : search_path()) {
    if (const Oid found = in_schema(place); found != kNoOid) return found;
  }
  return kNoOid;
}

std::string SessionNames::collation_name(Oid collation) {
  if (const CollationPtr made = session_.catalog.made<UserCollation>(collation)) return made->name;
  return builtin_collation_name(collation);
}

bool SessionNames::is_visible(const UserCollation& collation) {
  for (const Oid place : search_path()) {
    if (place == collation.schema) return true;
    const bool is_hidden = place == kPgCatalogSchema
                               ? builtin_collation(collation.name).has_value()
                               : session_.catalog.collation(place, collation.name) != nullptr;
    if (is_hidden) return false;
  }
  return false;
}

std::optional<std::string> SessionNames::shown_collation(Oid collation) {
  if (const CollationPtr made = session_.catalog.made<UserCollation>(collation)) {
    const std::string name = quote_identifier(made->name);
    return is_visible(*made) ? name : quote_identifier(schema_name(made->schema)) + "." + name;
  }
  const std::string name = builtin_collation_name(collation);
  return name.empty() ? std::nullopt : std::optional{quote_identifier(name)};
}

}  // namespace swizzle::sql
