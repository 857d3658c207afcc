#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/shared_objects.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

using SchemaPtr = CheckedShared<const Schema>;

using CatalogObject = std::variant<TablePtr, SchemaPtr, TypePtr, RoutinePtr, RolePtr, DatabasePtr,
                                   OperatorPtr, CastPtr, ExtensionPtr, CollationPtr, PublicationPtr,
                                   UserTextDictionaryPtr, UserTextConfigPtr, EventTriggerPtr>;

template <class Ptr, class... Ptrs>
consteval std::size_t place_among(const std::variant<Ptrs...>* /*of*/) {
  std::size_t place = 0;
  static_cast<void>(((std::is_same_v<Ptr, Ptrs> || (++place, false)) || ...));
  return place;
}
/// Number of an object's kind: its index among CatalogObject's alternatives.
template <class Object>
inline constexpr std::size_t kKindOf =
    place_among<CheckedShared<const Object>>(static_cast<const CatalogObject*>(nullptr));

/// New state of an object; a null pointer means dropped.
struct CatalogChange {
  Oid oid = kNoOid;
  bool created = false;
  CatalogObject object;
};

/// Changes of a transaction, in order, with indexes by object and name. Without these, a
/// transaction that restores a dump or changes a thousand partitions would search linearly for each
/// object, which is quadratic.
class ChangeList {
 public:
  void add(CatalogChange change);
  /// Removes all changes but the first `size`.
  void cut(std::size_t size);
  /// Removes and returns all of them, in order.
  [[nodiscard]] std::vector<CatalogChange> take();

  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
  [[nodiscard]] const CatalogChange& operator[](std::size_t at) const { return list_[at]; }
  [[nodiscard]] auto begin() const noexcept { return list_.begin(); }
  [[nodiscard]] auto end() const noexcept { return list_.end(); }

  /// Returns the newest change of an object of that kind; null if it has not been changed.
  template <class Ptr>
  [[nodiscard]] const Ptr* last(Oid oid) const {
    if (list_.empty()) return nullptr;
    const auto found = last_.find(oid);
    for (Place at = found == last_.end() ? kNone : found->second; at != kNone; at = before_[at]) {
      if (const auto* object = std::get_if<Ptr>(&list_[at].object)) return object;
    }
    return nullptr;
  }

  /// True if objects of that kind were changed.
  template <class Object>
  [[nodiscard]] bool has_any() const noexcept {
    return counts_[kKindOf<Object>] != 0;
  }

  using Place = std::uint32_t;
  /// Returns the positions of changes, in order, that gave a table, type, routine or schema that
  /// name, or a table an index with it.
  [[nodiscard]] std::span<const Place> named(std::string_view name) const;
  /// Returns the positions of changes, in order, whose objects depend on `named`
  /// (`dependency_keys`).
  [[nodiscard]] std::span<const Place> naming(Oid named) const;

 private:
  static constexpr Place kNone = ~Place{0};
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::vector<CatalogChange> list_;
  std::array<std::size_t, std::variant_size_v<CatalogObject>> counts_{};  ///< by kind
  std::vector<Place> before_;  ///< by position: the previous change of the same object
  std::unordered_map<Oid, Place> last_;
  std::unordered_map<std::string, std::vector<Place>, Hash, std::equal_to<>> named_;
  std::unordered_map<Oid, std::vector<Place>> naming_;
};

}  // namespace swizzle::sql
