#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/type_id.h"

/// Types that users make. Their numbers say of what kind they are, so that whoever stores, compares
/// or orders a value looks nothing up; what they are called, and what their values are called, is
/// the catalog's.
namespace swizzle::sql {

inline constexpr std::uint32_t kFirstEnum = 0x2000'0000;
inline constexpr std::uint32_t kFirstEnumArray = 0x3000'0000;
/// So many numbers there are of each kind.
inline constexpr std::uint32_t kUserTypeIds = 0x1000'0000;

constexpr bool is_enum(TypeId type) noexcept {
  return raw(type) - kFirstEnum < kUserTypeIds;
}
constexpr bool is_enum_array(TypeId type) noexcept {
  return raw(type) - kFirstEnumArray < kUserTypeIds;
}
constexpr TypeId enum_array_of(TypeId type) noexcept {
  return TypeId{raw(type) - kFirstEnum + kFirstEnumArray};
}
constexpr TypeId enum_of_array(TypeId type) noexcept {
  return TypeId{raw(type) - kFirstEnumArray + kFirstEnum};
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
  /// Positions of labels that ALTER TYPE has added in this transaction: nobody may use them yet
  /// (55P04), since its rollback would leave values without a label.
  std::vector<std::int64_t> uncommitted;

  [[nodiscard]] const EnumLabel* named(std::string_view name) const noexcept;
  [[nodiscard]] const EnumLabel* at(std::int64_t position) const noexcept;
};

/// Positions for `count` labels of a new type, and for one between two neighbours (0: none there).
/// Where there is no room left between them: 54000.
std::vector<std::int64_t> spread_positions(std::size_t count);
std::int64_t position_between(const EnumLabel* before, const EnumLabel* after);

/// What messages and plans call the types that users made, and their labels. Numbers are given once
/// in the life of a data directory, so one list serves all databases of the process.
void note_type(TypeId type, EnumLabels labels);
/// Null where nobody has noted it.
std::shared_ptr<const EnumLabels> noted_labels(TypeId type);
/// Empty then.
std::string noted_type_name(TypeId type);

}  // namespace swizzle::sql
