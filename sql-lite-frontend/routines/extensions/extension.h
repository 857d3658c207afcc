#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/native_functions.h"
#include "sql-lite-frontend/types/function_registry.h"

/// The extensions that the server brings. Each is one file: the script that CREATE EXTENSION runs,
/// and the functions behind its LANGUAGE c names.
namespace swizzle::sql {

struct BundledExtension {
  std::string_view name;
  std::string_view version;
  std::string_view comment;
  /// True if a user without superuser rights may create it, given the right to create in the
  /// database.
  bool trusted = true;
  bool relocatable = true;
  std::string_view schema = {};  ///< where it goes always; empty: where it is wanted
  /// They have the names that their objects say (types/brought/), in the extension's schema.
  std::span<const TypeId> types = {};
  /// Statements, run with the extension's schema as the search path. `$libdir/NAME` in LANGUAGE c
  /// is this extension.
  std::string_view script = {};
  /// Functions by the names that the script gives them; a ScalarEntry's signature is such a name
  /// here.
  std::span<const ScalarEntry> scalars = {};
  std::span<const SetEntry> sets = {};
};

/// Returns them by name.
std::span<const BundledExtension* const> bundled_extensions();
/// Null: the server does not bring it.
const BundledExtension* find_bundled_extension(std::string_view name);

const BundledExtension& btree_gin_extension();
const BundledExtension& btree_gist_extension();
const BundledExtension& citext_extension();
const BundledExtension& hstore_extension();
const BundledExtension& pg_stat_statements_extension();
const BundledExtension& pg_trgm_extension();
const BundledExtension& pgcrypto_extension();
const BundledExtension& plpgsql_extension();
const BundledExtension& unaccent_extension();
const BundledExtension& uuid_ossp_extension();

/// PL/pgSQL is there from the start, in every database.
inline constexpr std::uint32_t kPlpgsqlExtension = 13562;

/// Returns the function in LANGUAGE c or internal that the routine names.
NativeFunction native_function_of(const Routine& routine);

}  // namespace swizzle::sql
