#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/native_functions.h"
#include "sql-lite-frontend/types/function_registry.h"

/// Extensions that the server includes. Each has one file, with the script that CREATE EXTENSION
/// runs and the functions for its LANGUAGE c names.
namespace swizzle::sql {

struct BundledExtension {
  std::string_view name;
  std::string_view version;
  std::string_view comment;
  /// True if a user without superuser rights may create the extension, given CREATE on the
  /// database.
  bool trusted = true;
  bool relocatable = true;
  std::string_view schema = {};  ///< fixed schema; empty: as CREATE EXTENSION says
  /// Types, with the names of their objects (types/extension/), in the extension's schema.
  std::span<const TypeId> types = {};
  /// Statements, run with the extension's schema as search path. `$libdir/NAME` in LANGUAGE c
  /// refers to this extension.
  std::string_view script = {};
  /// Functions by their names in the script; such a name is in the signature of the ScalarEntry.
  std::span<const ScalarEntry> scalars = {};
  std::span<const SetEntry> sets = {};
};

/// Returns all extensions, sorted by name.
std::span<const BundledExtension* const> bundled_extensions();
/// Returns null if the server does not include the extension.
const BundledExtension* find_bundled_extension(std::string_view name);

const BundledExtension& btree_gin_extension();
const BundledExtension& btree_gist_extension();
const BundledExtension& citext_extension();
const BundledExtension& fuzzystrmatch_extension();
const BundledExtension& hstore_extension();
const BundledExtension& pg_stat_statements_extension();
const BundledExtension& pg_trgm_extension();
const BundledExtension& pgcrypto_extension();
const BundledExtension& plpgsql_extension();
const BundledExtension& unaccent_extension();
const BundledExtension& uuid_ossp_extension();

/// PL/pgSQL is installed in every database.
inline constexpr std::uint32_t kPlpgsqlExtension = 13562;

/// Returns the function that the routine in LANGUAGE c or internal names.
NativeFunction native_function_of(const Routine& routine);

}  // namespace swizzle::sql
