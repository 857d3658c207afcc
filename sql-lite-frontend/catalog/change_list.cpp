#include "sql-lite-frontend/catalog/change_list.h"

#include <utility>

namespace swizzle::sql {
namespace {

template <class Visit>
void for_each_name(const CatalogChange& change, const Visit& visit) {
  const auto* table = std::get_if<TablePtr>(&change.object);
  if (table == nullptr || !*table) return;
  visit((*table)->relation.name);
  for (const Index& index : (*table)->relation.indexes) visit(index.name);
}

template <class Visit>
void for_each_reference(const CatalogChange& change, const Visit& visit) {
  const auto* table = std::get_if<TablePtr>(&change.object);
  if (table == nullptr || !*table) return;
  for (const Constraint& constraint : (*table)->relation.constraints) {
    if (constraint.kind == ConstraintKind::foreign_key) visit(constraint.referenced_table);
  }
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
  for_each_reference(change, [&](Oid oid) { referring_[oid].push_back(place); });
  const auto [known, is_first] = last_.try_emplace(change.oid, place);
  before_.push_back(is_first ? kNone : std::exchange(known->second, place));
  list_.push_back(std::move(change));
}

void ChangeList::cut(std::size_t size) {
  while (list_.size() > size) {
    const CatalogChange& change = list_.back();
    for_each_name(change, [&](const std::string& name) { forget_last(named_, name); });
    for_each_reference(change, [&](Oid oid) { forget_last(referring_, oid); });
    if (before_.back() == kNone) {
      last_.erase(change.oid);
    } else {
      last_[change.oid] = before_.back();
    }
    before_.pop_back();
    list_.pop_back();
  }
}

std::vector<CatalogChange> ChangeList::take() {
  before_.clear();
  last_.clear();
  named_.clear();
  referring_.clear();
  return std::exchange(list_, {});
}

std::span<const ChangeList::Place> ChangeList::named(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? std::span<const Place>{} : found->second;
}

std::span<const ChangeList::Place> ChangeList::referring(Oid referenced) const {
  const auto found = referring_.find(referenced);
  return found == referring_.end() ? std::span<const Place>{} : found->second;
}

}  // namespace swizzle::sql
