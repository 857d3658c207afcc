#include "sql-lite-frontend/catalog/dependency_index.h"

namespace swizzle::sql {

void DependencyIndex::add(std::size_t kind, Oid by, const NamedObjects& keys) {
  for (const Oid named : keys) entries_.emplace(named, static_cast<std::uint8_t>(kind), by);
}

void DependencyIndex::remove(std::size_t kind, Oid by, const NamedObjects& keys) {
  for (const Oid named : keys) entries_.erase({named, static_cast<std::uint8_t>(kind), by});
}

std::vector<Oid> DependencyIndex::naming(std::size_t kind, Oid named) const {
  const auto wanted = static_cast<std::uint8_t>(kind);
  std::vector<Oid> found;
  for (auto at = entries_.lower_bound({named, wanted, kNoOid}); at != entries_.end(); ++at) {
    const auto& [key, of_kind, by] = *at;
    if (key != named || of_kind != wanted) break;
    found.push_back(by);
  }
  return found;
}

}  // namespace swizzle::sql
