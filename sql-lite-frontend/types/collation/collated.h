#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/type_id.h"
#include "sql-lite-frontend/types/user_types.h"

/// Collations as the types of expressions and of the keys of indexes: text under "sv-x-icu" is a
/// type of its own, whose order is the collation's. Code that sorts, hashes, groups or encodes keys
/// by a type thereby does so by the collation, without a check of its own. Text without a collation
/// keeps its type.
namespace swizzle::sql {

struct Type;

/// pg_collation's numbers.
namespace collation_id {
inline constexpr std::uint32_t indeterminate = 0;  ///< columns of different collations met
inline constexpr std::uint32_t by_default = 100;
inline constexpr std::uint32_t c = 950;
inline constexpr std::uint32_t posix = 951;
inline constexpr std::uint32_t ucs_basic = 12340;
inline constexpr std::uint32_t first_locale = 12342;  ///< of locales.inc
/// Number added to a collation's for "default" in databases where that is not the order of bytes.
inline constexpr std::uint32_t first_of_database = 0x0100'0000;
}  // namespace collation_id

/// Returns the number that catalogs show.
constexpr std::uint32_t shown_number(std::uint32_t collation) noexcept {
  return collation >= collation_id::first_of_database ? collation_id::by_default : collation;
}

/// Returns the collation of a collated type.
constexpr std::uint32_t collation_of_type(TypeId collated) noexcept {
  return (raw(collated) - kFirstCollated) % kCollations;
}
/// The type under that collation, whatever its collation was; the type itself where values have no
/// collation, or none but their database's. Pre: collation < kCollations.
TypeId with_collation(TypeId type, std::uint32_t collation) noexcept;
/// jsonb, citext and arrays of them: their order is their database's, and no other can be said.
bool follows_database(TypeId type) noexcept;
/// Such a type as the database of that collation orders it; any other type itself.
TypeId in_database(TypeId type, std::uint32_t database_collation) noexcept;
/// True if a column may have a collation of its own.
bool is_collatable(TypeId type) noexcept;
/// Returns the collation of a column of the type without a COLLATE clause: 0 if values have no
/// collation.
std::uint32_t default_collation(TypeId type) noexcept;

/// Returns the element type of an array type under a collation, and the other way round; or none.
TypeId collated_element(TypeId type) noexcept;
TypeId collated_array(TypeId type) noexcept;

/// The order of a type under its collation. Pre: it is a collated type.
const Type& collated_type(TypeId type) noexcept;

/// True if keys of the one type are keys of the other. An index answers only conditions under its
/// own collation.
bool same_keys(TypeId left, TypeId right) noexcept;

/// Order of a collation.
struct CollationRule {
  std::string locale;  ///< of ICU; empty: by bytes
  bool deterministic = true;
  bool of_all = false;  ///< a database's, by which jsonb and citext are ordered, too
  [[nodiscard]] bool is_of_bytes() const noexcept { return locale.empty(); }
  friend bool operator==(const CollationRule&, const CollationRule&) = default;
};

/// Notes the rule of a collation. In an engine a number means the same collation for good.
void note_collation(std::uint32_t number, CollationRule rule);
/// Null if it is neither noted nor built in.
const CollationRule* find_collation_rule(std::uint32_t number) noexcept;

/// True if the order is that of the text's bytes: "C" and its other names.
bool orders_by_bytes(std::uint32_t collation) noexcept;
/// True if values that differ may be equal.
bool is_nondeterministic(std::uint32_t collation) noexcept;

/// The built-in collation of that name, "sv-x-icu" or "C"; nothing where there is none.
std::optional<std::uint32_t> builtin_collation(std::string_view name);
/// Returns its name; empty if it is not built in.
std::string builtin_collation_name(std::uint32_t number);

/// ICU's locales that are collations in every database.
std::span<const std::string_view> builtin_locales() noexcept;

/// Throws 42P22: values with different collations meet, and no COLLATE clause decides. `purpose`:
/// "string comparison".
[[noreturn]] void fail_indeterminate(std::string_view purpose);

}  // namespace swizzle::sql
