#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/type_id.h"

/// User-defined types. Their numbers tell their kind, so that values are stored, compared and
/// ordered without a look-up. The names of types and of labels are in the catalog.
namespace swizzle::sql {

/// Count of the numbers of each kind. The numbers of arrays of a kind follow the kind's.
inline constexpr std::uint32_t kUserTypeIds = 0x1000'0000;
inline constexpr std::uint32_t kFirstEnum = 0x2000'0000;
inline constexpr std::uint32_t kFirstDomain = 0x4000'0000;
inline constexpr std::uint32_t kFirstComposite = 0x6000'0000;
inline constexpr std::uint32_t kFirstRange = 0x8000'0000;
/// A range's multirange has the same number among these.
inline constexpr std::uint32_t kFirstMultirange = 0xa000'0000;
/// Types that an extension brings: the numbers are those of brought_types().
inline constexpr std::uint32_t kFirstBrought = 0xc000'0000;
inline constexpr std::uint32_t kBehindUserTypes = 0xe000'0000;
/// A string type, or arrays of one, under a collation of its own. Expressions and the keys of
/// indexes have such types; stored columns and clients never do (collation/collated.h). jsonb and
/// citext are there as well, under the collation of their database.
inline constexpr std::uint32_t kFirstCollated = 0xe000'0000;
/// Collations have smaller numbers.
inline constexpr std::uint32_t kCollations = 0x0200'0000;
/// Types with collations, in the order of their numbers, which stand in keys of rows: new ones are
/// added at the end. citext and its arrays are the last.
inline constexpr std::array kCollatedKinds{
    TypeId::text,         TypeId::varchar,       TypeId::bpchar,
    TypeId::name,         TypeId::text_array,    TypeId::varchar_array,
    TypeId::bpchar_array, TypeId::name_array,    TypeId::jsonb,
    TypeId::jsonb_array,  TypeId{kFirstBrought}, TypeId{kFirstBrought | kUserTypeIds}};

constexpr bool is_enum(TypeId type) noexcept {
  return raw(type) - kFirstEnum < kUserTypeIds;
}
constexpr bool is_domain(TypeId type) noexcept {
  return raw(type) - kFirstDomain < kUserTypeIds;
}
constexpr bool is_composite(TypeId type) noexcept {
  return raw(type) - kFirstComposite < kUserTypeIds;
}
constexpr bool is_user_range(TypeId type) noexcept {
  return raw(type) - kFirstRange < kUserTypeIds;
}
constexpr bool is_user_multirange(TypeId type) noexcept {
  return raw(type) - kFirstMultirange < kUserTypeIds;
}
constexpr bool is_brought(TypeId type) noexcept {
  return raw(type) - kFirstBrought < kUserTypeIds;
}
/// A type that a user made, or arrays of it.
constexpr bool is_user_type(TypeId type) noexcept {
  return raw(type) - kFirstEnum < kBehindUserTypes - kFirstEnum;
}
constexpr bool is_user_array(TypeId type) noexcept {
  return is_user_type(type) && (raw(type) & kUserTypeIds) != 0;
}
/// Pre: it is a type that a user made, and not an array.
constexpr TypeId user_array_of(TypeId type) noexcept {
  return TypeId{raw(type) | kUserTypeIds};
}
/// Returns the element type of an array of a user-defined type; else the type itself.
constexpr TypeId without_array(TypeId type) noexcept {
  return is_user_array(type) ? TypeId{raw(type) & ~kUserTypeIds} : type;
}

constexpr bool is_collated(TypeId type) noexcept {
  return raw(type) - kFirstCollated < kCollatedKinds.size() * kCollations;
}
/// Returns the type without its collation.
constexpr TypeId without_collation(TypeId type) noexcept {
  return is_collated(type) ? kCollatedKinds[(raw(type) - kFirstCollated) / kCollations] : type;
}

/// The type of a relation's rows has the relation's number among composite types; none where that
/// is too high to be one.
constexpr TypeId row_type_of_relation(std::uint32_t relation) noexcept {
  return relation < kUserTypeIds ? TypeId{kFirstComposite + relation} : TypeId::none;
}

/// Base of a domain: never a domain itself, but with the domain's collation if it has one. It does
/// not change as long as the domain exists.
struct DomainBase {
  TypeId type = TypeId::none;
  std::int32_t typmod = kNoTypmod;
};
DomainBase base_of_domain(TypeId domain) noexcept;
/// Notes the base, so that values of the domain are stored, compared and printed as its values.
/// Pre: if `base` is a domain itself, it has been noted.
void note_domain(TypeId domain, DomainBase base);

/// Returns the type of a user-defined range's bounds; none if it was not noted. It does not change
/// as long as the range exists.
TypeId noted_subtype(TypeId range) noexcept;
void note_range(TypeId range, TypeId subtype);

/// Returns a type's base: of a domain its base type in the end, else the type itself. Without a
/// collation. This is the only function that answers this.
inline TypeId base_type(TypeId type) noexcept {
  return without_collation(is_domain(type) ? base_of_domain(type).type : type);
}

/// A label of an enum. In rows and keys stands its position, so values are ordered as numbers are,
/// and labels may be renamed.
struct EnumLabel {
  std::uint32_t oid = 0;
  std::string name;
  std::int64_t position = 0;
};

/// An enum as one transaction sees it.
struct EnumLabels {
  std::string type_name;          ///< as messages show it
  std::vector<EnumLabel> labels;  ///< in their order
  /// Positions of labels that ALTER TYPE has added in this transaction. They cannot be used yet
  /// (55P04), since its rollback would leave values without a label.
  std::vector<std::int64_t> uncommitted;

  [[nodiscard]] const EnumLabel* named(std::string_view name) const noexcept;
  [[nodiscard]] const EnumLabel* at(std::int64_t position) const noexcept;
};

/// Positions for `count` labels of a new type, and for one between two neighbours (0: none there).
/// Where there is no room left between them: 54000.
std::vector<std::int64_t> spread_positions(std::size_t count);
std::int64_t position_between(const EnumLabel* before, const EnumLabel* after);

/// Notes the name of a user-defined type, for messages and plans, and its labels. Numbers are given
/// once in the life of a data directory, so one list serves all databases of the process.
void note_type(TypeId type, EnumLabels labels);
/// Null if it was not noted.
std::shared_ptr<const EnumLabels> noted_labels(TypeId type);
/// Empty then.
std::string noted_type_name(TypeId type);

}  // namespace swizzle::sql
