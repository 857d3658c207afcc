// Look-up of collations by name and number, as the session sees them.
#include <algorithm>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"

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

Oid SessionNames::database_collation() {
  return session_.catalog.of_database().default_collation();
}

namespace {

Diagnostic version_warning(std::string message) {
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.state = SqlState{"01000"};
  warning.message = std::move(message);
  return warning;
}

}  // namespace

void SessionNames::note_use(Oid collation) {
  if (collation < kFirstUserOid || collation >= collation_id::first_of_database) return;
  if (std::ranges::find(session_.known_collations, collation) != session_.known_collations.end())
    return;
  const CollationPtr made = session_.catalog.made<UserCollation>(collation);
  if (!made || session_.sink_for_notices == nullptr) return;
  session_.known_collations.push_back(collation);
  if (made->provider == 'b') return;  // its rules are this program's
  const std::string actual = made->provider == 'i' ? icu_version(made->locale) : std::string{};
  if (made->version.empty() || actual == made->version) return;
  const std::string name =
      quote_identifier(schema_name(made->schema)) + "." + quote_identifier(made->name);
  Diagnostic warning =
      version_warning(fmt::format("collation \"{}\" has version mismatch", made->name));
  warning.detail = fmt::format(
      "The collation in the database was created using version {}, but the operating system "
      "provides version {}.",
      made->version, actual);
  warning.hint = fmt::format(
      "Rebuild all objects affected by this collation and run ALTER COLLATION {} REFRESH VERSION, "
      "or build PostgreSQL with the right library version.",
      name);
  session_.send_notice(*session_.sink_for_notices, std::move(warning));
}

void warn_of_database_collation(StatementContext& session, ResultSink& sink) {
  const DatabasePtr database = session.catalog.database(session.catalog.of_database().database());
  if (!database || database->collation_version.empty()) return;
  const auto& locale = database->icu_locale;
  const std::string actual = locale ? icu_version(*locale) : std::string{};
  if (actual == database->collation_version) return;
  if (actual.empty()) {
    Diagnostic warning = version_warning(
        fmt::format("database \"{}\" has no actual collation version, but a version was recorded",
                    database->name));
    return session.send_notice(sink, std::move(warning));
  }
  Diagnostic warning = version_warning(
      fmt::format("database \"{}\" has a collation version mismatch", database->name));
  warning.detail = fmt::format(
      "The database was created using collation version {}, but the operating system provides "
      "version {}.",
      database->collation_version, actual);
  warning.hint = fmt::format(
      "Rebuild all objects in this database that use the default collation and run ALTER DATABASE "
      "{} REFRESH COLLATION VERSION, or build PostgreSQL with the right library version.",
      quote_identifier(database->name));
  session.send_notice(sink, std::move(warning));
}

std::string SessionNames::collation_name(Oid collation) {
  if (const CollationPtr made = session_.catalog.made<UserCollation>(collation)) return made->name;
  return builtin_collation_name(shown_number(collation));
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
