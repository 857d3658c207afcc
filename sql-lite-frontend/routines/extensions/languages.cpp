#include <algorithm>
#include <array>

#include "sql-lite-frontend/routines/extensions/native_language.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/routines/plpgsql/language.h"
#include "sql-lite-frontend/routines/sql_language.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

namespace {

struct AddedLanguage {
  std::string_view name;
  const RoutineLanguage* language = nullptr;
};
/// Set before the first session starts.
AddedLanguage& added_language() {
  static AddedLanguage added;
  return added;
}

}  // namespace

void add_language(std::string_view name, const RoutineLanguage& language) {
  added_language() = {name, &language};
}

const RoutineLanguage& require_language(std::string_view name) {
  if (name == "sql") return sql_language();
  if (name == "plpgsql") return plpgsql_language();
  if (name == "c" || name == "internal") return native_language();
  if (const AddedLanguage& added = added_language(); added.language != nullptr) {
    if (name == added.name) return *added.language;
  }
  // PostgreSQL's own, and those that its distributions bring.
  constexpr std::array kKnown = std::to_array<std::string_view>(
      {"plperl", "plperlu", "plpython3u", "pltcl", "pltclu", "plv8"});
  if (std::ranges::find(kKnown, name) != kKnown.end()) {
    throw sql_error(sqlstate::feature_not_supported, "language \"{}\" is not supported", name)
        .with_hint("Functions and procedures can be written in SQL and PL/pgSQL.");
  }
  throw_error(sqlstate::undefined_object, "language \"{}\" does not exist", name);
}

}  // namespace swizzle::sql
