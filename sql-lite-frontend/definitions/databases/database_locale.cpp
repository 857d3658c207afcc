#include "sql-lite-frontend/definitions/databases/database_locale.h"

#include <algorithm>
#include <cctype>

#include "sql-lite-frontend/definitions/databases/databases.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidDefinition{"42P17"};

/// Checks that the collation version of the template is still the library's.
void check_version_of_template(const DatabaseEntry& source) {
  if (source.collation_version.empty()) return;
  const std::string actual = actual_collation_version(source);
  if (actual == source.collation_version) return;
  throw sql_error(sqlstate::internal_error,
                  "template database \"{}\" has a collation version mismatch", source.name)
      .with_detail(fmt::format("The template database was created using collation version {}, but "
                               "the operating system provides version {}.",
                               source.collation_version, actual))
      .with_hint(fmt::format("Rebuild all objects in the template database that use the default "
                             "collation and run ALTER DATABASE {} REFRESH COLLATION VERSION, or "
                             "build PostgreSQL with the right library version.",
                             quote_identifier(source.name)));
}

}  // namespace

std::string_view locale_provider(const DatabaseEntry& database) noexcept {
  return database.icu_locale ? "icu" : "libc";
}

std::string actual_collation_version(const DatabaseEntry& database) {
  return database.icu_locale ? icu_version(*database.icu_locale) : std::string{};
}

bool LocaleOptions::take(const ast::DefElem& option, const std::string& value) {
  if (option.defname == "locale_provider") {
    provider_ = value;
    std::ranges::transform(*provider_, provider_->begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    if (provider_ != "icu" && provider_ != "libc")
      throw_error(kInvalidDefinition, "unrecognized locale provider: {}", value);
  } else if (option.defname == "icu_locale") {
    icu_ = value;
  } else if (option.defname == "collation_version") {
    version_ = value;
  } else {
    return false;
  }
  return true;
}

std::string LocaleOptions::provider_after(const DatabaseEntry& source) const {
  return provider_.value_or(std::string{locale_provider(source)});
}

std::optional<std::string> LocaleOptions::icu_after(const DatabaseEntry& source) const {
  if (provider_after(source) == "libc") {
    if (!icu_) return std::nullopt;
    throw SqlError{kInvalidDefinition,
                   "ICU locale cannot be specified unless locale provider is ICU"};
  }
  std::optional<std::string> locale = icu_ ? icu_ : source.icu_locale;
  if (!locale) throw SqlError{sqlstate::invalid_parameter_value, "ICU locale must be specified"};
  IcuCollator::check(*locale);
  return locale;
}

std::string LocaleOptions::version_after(const DatabaseEntry& entry,
                                         const DatabaseEntry& source) const {
  if (version_) return *version_;
  check_version_of_template(source);
  return source.collation_version.empty() ? actual_collation_version(entry)
                                          : source.collation_version;
}

void LocaleOptions::apply(DatabaseEntry& entry, const DatabaseEntry& source) const {
  entry.icu_locale = icu_after(source);
  entry.locale_orders_all = entry.icu_locale.has_value();
  // Other templates have content that is ordered by their locale.
  if (source.name != "template0") {
    const std::string_view had = locale_provider(source);
    if (locale_provider(entry) != had) {
      throw sql_error(sqlstate::invalid_parameter_value,
                      "new locale provider ({}) does not match locale provider of the template "
                      "database ({})",
                      locale_provider(entry), had)
          .with_hint(
              "Use the same locale provider as in the template database, or use template0 as "
              "template.");
    }
    if (entry.icu_locale != source.icu_locale) {
      throw sql_error(sqlstate::invalid_parameter_value,
                      "new ICU locale ({}) is incompatible with the ICU locale of the template "
                      "database ({})",
                      entry.icu_locale.value_or(""), source.icu_locale.value_or(""))
          .with_hint(
              "Use the same ICU locale as in the template database, or use template0 as template.");
    }
  }
  entry.collation_version = version_after(entry, source);
}

void refresh_database_collation(StatementContext& session,
                                const ast::AlterDatabaseRefreshCollStmt& statement,
                                ResultSink& sink) {
  const DatabasePtr database = database_named(session, statement.dbname);
  session.rights.require_owner(*database);
  const std::string& before = database->collation_version;
  const std::string now = actual_collation_version(*database);
  if (before.empty() != now.empty())
    throw SqlError{sqlstate::internal_error, "invalid collation version change"};
  const bool is_same = before == now;
  session.notice(sink, Severity::notice, SqlState{"00000"},
                 is_same ? "version has not changed"
                         : fmt::format("changing version from {} to {}", before, now));
  DatabaseEntry changed = *database;
  changed.collation_version = now;
  session.catalog.replace(*session.transaction, *database, std::move(changed));
}

}  // namespace swizzle::sql
