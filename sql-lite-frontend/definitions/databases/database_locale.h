#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/query/parse/ast.h"

namespace swizzle::sql {

/// LOCALE_PROVIDER, ICU_LOCALE and COLLATION_VERSION of CREATE DATABASE.
class LocaleOptions {
 public:
  /// Returns false for any other option.
  bool take(const ast::DefElem& option, const std::string& value);

  /// Applies the options to a database whose template is `source`: 42P17 and 22023, as in
  /// PostgreSQL.
  void apply(DatabaseEntry& entry, const DatabaseEntry& source) const;

 private:
  [[nodiscard]] std::string provider_after(const DatabaseEntry& source) const;
  /// Returns the ICU locale; none: text is compared by bytes.
  [[nodiscard]] std::optional<std::string> icu_after(const DatabaseEntry& source) const;
  [[nodiscard]] std::string version_after(const DatabaseEntry& entry,
                                          const DatabaseEntry& source) const;

  std::optional<std::string> provider_;
  std::optional<std::string> icu_;
  std::optional<std::string> version_;
};

/// "libc" or "icu".
std::string_view locale_provider(const DatabaseEntry& database) noexcept;
/// Returns the version of the library's collation; empty if there is none.
std::string actual_collation_version(const DatabaseEntry& database);

}  // namespace swizzle::sql
