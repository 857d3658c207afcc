#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/collation/letters.h"
#include "sql-lite-frontend/types/type_id.h"
#include "sql-lite-frontend/types/user_types.h"

/// Collations as part of the types of expressions and index keys: text under "sv-x-icu" is a
/// separate type, ordered by the collation. So code that sorts, hashes, groups or encodes keys by
/// type uses the collation without extra checks. Text with the default collation keeps its type.
namespace swizzle::sql {

struct Type;

/// Oids in pg_collation.
namespace collation_id {
inline constexpr std::uint32_t indeterminate = 0;  ///< conflicting implicit collations
inline constexpr std::uint32_t by_default = 100;
inline constexpr std::uint32_t c_utf8 = 811;
inline constexpr std::uint32_t c = 950;
inline constexpr std::uint32_t posix = 951;
inline constexpr std::uint32_t unicode_fast = 6411;
inline constexpr std::uint32_t ucs_basic = 12340;
inline constexpr std::uint32_t first_locale = 12342;  ///< of locales.inc
/// Added to a collation's oid for "default" in databases whose default order is not bytewise.
inline constexpr std::uint32_t first_of_database = 0x0100'0000;
}  // namespace collation_id

/// Returns the oid that catalogs show.
constexpr std::uint32_t shown_number(std::uint32_t collation) noexcept {
  return collation >= collation_id::first_of_database ? collation_id::by_default : collation;
}

/// Returns the collation of a collated type.
constexpr std::uint32_t collation_of_type(TypeId collated) noexcept {
  return (raw(collated) - kFirstCollated) % kCollations;
}
/// Returns the type under the collation, replacing one that it has; the type itself if its values
/// have no collation, or only the database's. Pre: collation < kCollations.
TypeId with_collation(TypeId type, std::uint32_t collation) noexcept;
/// True for jsonb, citext and arrays of them: ordered by the database's collation, without COLLATE.
bool follows_database(TypeId type) noexcept;
/// Returns such a type with the order of a database with that collation; any other type unchanged.
TypeId in_database(TypeId type, std::uint32_t database_collation) noexcept;
/// True if a column may have a collation of its own.
bool is_collatable(TypeId type) noexcept;
/// Returns the collation of a column of the type without a COLLATE clause: 0 if values have no
/// collation.
std::uint32_t default_collation(TypeId type) noexcept;

/// Returns the element type of an array type under a collation, or the reverse, or none.
TypeId collated_element(TypeId type) noexcept;
TypeId collated_array(TypeId type) noexcept;

/// Returns the type with the collation's order. Pre: it is a collated type.
const Type& collated_type(TypeId type) noexcept;

/// True if the two types have the same key encoding. An index supports only conditions under its
/// own collation.
bool same_keys(TypeId left, TypeId right) noexcept;

/// Definition of a collation's order.
struct CollationRule {
  std::string locale;  ///< of ICU; empty: by bytes
  bool deterministic = true;
  bool of_all = false;               ///< a database's, by which jsonb and citext are ordered, too
  Letters letters = Letters::ascii;  ///< of those that order by bytes
  [[nodiscard]] bool is_of_bytes() const noexcept { return locale.empty(); }
  friend bool operator==(const CollationRule&, const CollationRule&) = default;
};

/// Registers the rule of a collation. An oid keeps its meaning for the lifetime of the engine.
void note_collation(std::uint32_t number, CollationRule rule);
/// Returns null if the collation is neither registered nor built in.
const CollationRule* find_collation_rule(std::uint32_t number) noexcept;

/// True if the order is that of the text's bytes: "C" and its other names.
bool orders_by_bytes(std::uint32_t collation) noexcept;
/// True if besides, letters and their cases are those of ASCII: text under the collation needs no
/// type of its own.
bool is_plain_collation(std::uint32_t collation) noexcept;
Letters letters_of(std::uint32_t collation) noexcept;
/// True if different values may compare equal.
bool is_nondeterministic(std::uint32_t collation) noexcept;

/// Returns the built-in collation with that name, like "sv-x-icu" or "C"; nothing if there is none.
std::optional<std::uint32_t> builtin_collation(std::string_view name);
/// Returns the collation's name; empty if it is not built in.
std::string builtin_collation_name(std::uint32_t number);

/// ICU locales that are collations in every database.
std::span<const std::string_view> builtin_locales() noexcept;

/// Throws 42P22: collations conflict and there is no COLLATE clause. `purpose`: e.g. "string
/// comparison".
[[noreturn]] void fail_indeterminate(std::string_view purpose);

}  // namespace swizzle::sql
