#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "sql-lite-frontend/catalog/named_objects.h"

namespace swizzle::sql {

/// Index of dependencies: finds the objects whose records name an object (`dependency_keys`), so
/// that a statement that drops or changes an object need not read all definitions. Derived from the
/// records in memory, and changed with them. The caller guards it.
class DependencyIndex {
 public:
  /// Adds or removes the entries of the object `by`, which is of that kind.
  void add(std::size_t kind, Oid by, const NamedObjects& keys);
  void remove(std::size_t kind, Oid by, const NamedObjects& keys);

  /// Returns the objects of a kind that name `named`, by ascending oid.
  [[nodiscard]] std::vector<Oid> naming(std::size_t kind, Oid named) const;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  using Entry = std::tuple<Oid, std::uint8_t, Oid>;  ///< named, kind, by

  std::set<Entry> entries_;
};

}  // namespace swizzle::sql
