#include "sql-lite-frontend/routines/extensions/extension.h"

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/catalog/native_functions.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/collated_functions.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {

std::span<const BundledExtension* const> bundled_extensions() {
  static const std::vector<const BundledExtension*> kAll{
      &btree_gin_extension(),     &btree_gist_extension(), &citext_extension(),
      &fuzzystrmatch_extension(), &hstore_extension(),     &pg_stat_statements_extension(),
      &pg_trgm_extension(),       &pgcrypto_extension(),   &plpgsql_extension(),
      &unaccent_extension(),      &uuid_ossp_extension()};
  return kAll;
}

const BundledExtension* find_bundled_extension(std::string_view name) {
  const auto all = bundled_extensions();
  const auto found =
      std::ranges::find_if(all, [name](const BundledExtension* one) { return one->name == name; });
  return found == all.end() ? nullptr : *found;
}

/// The extension that is always there: its functions are in no extension and in pg_proc.
const BundledExtension& plpgsql_extension() {
  static constexpr BundledExtension kExtension{.name = "plpgsql",
                                               .version = "1.0",
                                               .comment = "PL/pgSQL procedural language",
                                               .relocatable = false,
                                               .schema = "pg_catalog"};
  return kExtension;
}

/// The operator classes of btree_gin are the default behaviour here, or not supported: only their
/// names are created, so that a schema that refers to them can be loaded.
const BundledExtension& btree_gin_extension() {
  static constexpr BundledExtension kExtension{
      .name = "btree_gin",
      .version = "1.3",
      .comment = "support for indexing common datatypes in GIN"};
  return kExtension;
}
const BundledExtension& btree_gist_extension() {
  static constexpr BundledExtension kExtension{
      .name = "btree_gist",
      .version = "1.7",
      .comment = "support for indexing common datatypes in GiST"};
  return kExtension;
}

NativeFunction native_function_of(const Routine& routine) {
  if (routine.language == "internal") {
    const std::vector<TypeId> types = routine.argument_types();
    for (const Function* function : functions_named(routine.body)) {
      if (std::ranges::equal(function->arguments, types)) {
        return {function->scalar, function->set};
      }
    }
    // Other types are allowed if both have the same representation in memory.
    const auto lie_alike = [](TypeId a, TypeId b) {
      return shape_of(a) == shape_of(b) && shape_of(a) != Shape::none;
    };
    for (const Function* function : functions_named(routine.body)) {
      if (!std::ranges::equal(function->arguments, types, lie_alike)) continue;
      const ScalarFunction by_locale =
          std::ranges::any_of(types, follows_database) ? as_database_orders(*function) : nullptr;
      return {by_locale != nullptr ? by_locale : function->scalar, function->set};
    }
    return {};
  }
  constexpr std::string_view kLibraries = "$libdir/";
  std::string_view library = routine.object_file;
  if (!library.starts_with(kLibraries)) return {};
  library.remove_prefix(kLibraries.size());
  const BundledExtension* extension = find_bundled_extension(library);
  if (extension == nullptr) return {};
  for (const ScalarEntry& entry : extension->scalars) {
    if (entry.signature == routine.body) return {entry.function, nullptr};
  }
  for (const SetEntry& entry : extension->sets) {
    if (entry.signature == routine.body) return {nullptr, entry.function};
  }
  return {};
}

}  // namespace swizzle::sql
