#include "sql-lite-frontend/catalog/change_list.h"

#include <utility>

#include "sql-lite-frontend/catalog/named_objects.h"

namespace swizzle::sql {
namespace {

template <class Visit>
void for_each_name(const CatalogChange& change, const Visit& visit) {
  if (const auto* schema = std::get_if<SchemaPtr>(&change.object); schema != nullptr && *schema)
    visit((*schema)->name);
  if (const auto* type = std::get_if<TypePtr>(&change.object); type != nullptr && *type)
    visit((*type)->name);
  if (const auto* routine = std::get_if<RoutinePtr>(&change.object); routine != nullptr && *routine)
    visit((*routine)->name);
  const auto* table = std::get_if<TablePtr>(&change.object);
  if (table == nullptr || !*table) return;
  visit((*table)->relation.name);
  for (const Index& index : (*table)->relation.indexes) visit(index.name);
}

template <class Visit>
void for_each_named(const CatalogChange& change, const Visit& visit) {
  const NamedObjects keys = std::visit(
      [](const auto& object) { return object ? dependency_keys(*object) : NamedObjects{}; },
      change.object);
  for (const Oid key : keys) visit(key);
}

template <class Map, class Key>
void forget_last(Map& places, const Key& key) {
  const auto found = places.find(key);
  found->second.pop_back();
  if (found->second.empty()) places.erase(found);
}

}  // namespace

void ChangeList::add(CatalogChange change) {
  const auto place = static_cast<Place>(list_.size());
  for_each_name(change, [&](const std::string& name) { named_[name].push_back(place); });
  for_each_named(change, [&](Oid oid) { naming_[oid].push_back(place); });
  const auto [known, is_first] = last_.try_emplace(change.oid, place);
  before_.push_back(is_first ? kNone : std::exchange(known->second, place));
  ++counts_[change.object.index()];
  list_.push_back(std::move(change));
}

void ChangeList::cut(std::size_t size) {
  while (list_.size() > size) {
    const CatalogChange& change = list_.back();
    for_each_name(change, [&](const std::string& name) { forget_last(named_, name); });
    for_each_named(change, [&](Oid oid) { forget_last(naming_, oid); });
    if (before_.back() == kNone) {
      last_.erase(change.oid);
    } else {
      last_[change.oid] = before_.back();
    }
    before_.pop_back();
    --counts_[change.object.index()];
    list_.pop_back();
  }
}

std::vector<CatalogChange> ChangeList::take() {
  before_.clear();
  counts_ = {};
  last_.clear();
  named_.clear();
  naming_.clear();
  return std::exchange(list_, {});
}

std::span<const ChangeList::Place> ChangeList::named(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? std::span<const Place>{} : found->second;
}

std::span<const ChangeList::Place> ChangeList::naming(Oid named) const {
  const auto found = naming_.find(named);
  return found == naming_.end() ? std::span<const Place>{} : found->second;
}

}  // namespace swizzle::sql
