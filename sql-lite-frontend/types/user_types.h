#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/type_id.h"

/// User-defined types. Their oids encode their kind, so that values can be stored, compared and
/// ordered without a look-up. Names of types and labels are in the catalog.
namespace swizzle::sql {

/// Number of oids of each kind. Those of a kind's array types follow.
inline constexpr std::uint32_t kUserTypeIds = 0x1000'0000;
inline constexpr std::uint32_t kFirstEnum = 0x2000'0000;
inline constexpr std::uint32_t kFirstDomain = 0x4000'0000;
inline constexpr std::uint32_t kFirstComposite = 0x6000'0000;
inline constexpr std::uint32_t kFirstRange = 0x8000'0000;
/// A multirange has the same offset here as its range has among ranges.
inline constexpr std::uint32_t kFirstMultirange = 0xa000'0000;
/// Types of extensions: the oids are those of extension_types().
inline constexpr std::uint32_t kFirstOfExtensions = 0xc000'0000;
inline constexpr std::uint32_t kBehindUserTypes = 0xe000'0000;
/// A string type, or arrays of one, under a collation of its own. Expressions and the keys of
/// indexes have such types; stored columns and clients never do (collation/collated.h). jsonb and
/// citext are there as well, under the collation of their database.
inline constexpr std::uint32_t kFirstCollated = 0xe000'0000;
/// Upper bound of collation oids.
inline constexpr std::uint32_t kCollations = 0x0200'0000;
/// Types with collations, in the order of their numbers, which stand in keys of rows: new ones are
/// added at the end. citext and its arrays are the last.
inline constexpr std::array kCollatedKinds{TypeId::text,
                                           TypeId::varchar,
                                           TypeId::bpchar,
                                           TypeId::name,
                                           TypeId::text_array,
                                           TypeId::varchar_array,
                                           TypeId::bpchar_array,
                                           TypeId::name_array,
                                           TypeId::jsonb,
                                           TypeId::jsonb_array,
                                           TypeId{kFirstOfExtensions},
                                           TypeId{kFirstOfExtensions | kUserTypeIds}};

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
constexpr bool is_of_extension(TypeId type) noexcept {
  return raw(type) - kFirstOfExtensions < kUserTypeIds;
}
/// True for a user-defined type, or an array of one.
constexpr bool is_user_type(TypeId type) noexcept {
  return raw(type) - kFirstEnum < kBehindUserTypes - kFirstEnum;
}
constexpr bool is_user_array(TypeId type) noexcept {
  return is_user_type(type) && (raw(type) & kUserTypeIds) != 0;
}
/// Pre: the type is user-defined and not an array.
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

/// Returns the row type of a relation: the relation's oid as offset among composite types; none if
/// the oid is too large.
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
/// Registers the base, with whose functions the domain's values are stored, compared and printed.
/// Pre: if `base` is a domain itself, it is registered.
void note_domain(TypeId domain, DomainBase base);

/// Returns the type of the bounds of a user-defined range; none if it is not registered. Constant
/// for the lifetime of the range.
TypeId noted_subtype(TypeId range) noexcept;
void note_range(TypeId range, TypeId subtype);

/// Returns the type at the end of a chain of domains, or the type itself; without collation. The
/// only function for this purpose.
inline TypeId base_type(TypeId type) noexcept {
  return without_collation(is_domain(type) ? base_of_domain(type).type : type);
}

/// A label of an enum. Rows and keys store its position, so values are ordered like numbers, and
/// labels can be renamed.
struct EnumLabel {
  std::uint32_t oid = 0;
  std::string name;
  std::int64_t position = 0;
};

/// The labels of an enum that one transaction sees.
struct EnumLabels {
  std::string type_name;          ///< as messages show it
  std::vector<EnumLabel> labels;  ///< in their order
  /// Positions of labels that ALTER TYPE has added in this transaction. They cannot be used yet
  /// (55P04), since its rollback would leave values without a label.
  std::vector<std::int64_t> uncommitted;

  [[nodiscard]] const EnumLabel* named(std::string_view name) const noexcept;
  [[nodiscard]] const EnumLabel* at(std::int64_t position) const noexcept;
};

/// Returns positions for `count` labels of a new type, or for one between two neighbours (0: no
/// neighbour). Throws 54000 if there is no room between them.
std::vector<std::int64_t> spread_positions(std::size_t count);
std::int64_t position_between(const EnumLabel* before, const EnumLabel* after);

/// Keeps the name of a user-defined type registered, for messages and plans, and its labels: those
/// that were registered last. Oids are unique in a data directory, so one map serves all databases
/// of the process.
class NotedType {
 public:
  NotedType() = default;
  NotedType(TypeId type, EnumLabels labels);
  NotedType(NotedType&& other) noexcept : type_(std::exchange(other.type_, TypeId::none)) {}
  NotedType& operator=(NotedType&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~NotedType();

  /// Leaves it registered to the end of the process.
  void keep() noexcept { type_ = TypeId::none; }

 private:
  TypeId type_ = TypeId::none;
};
/// Returns null if the type is not registered.
std::shared_ptr<const EnumLabels> noted_labels(TypeId type);
/// Returns an empty name if the type is not registered.
std::string noted_type_name(TypeId type);

}  // namespace swizzle::sql
