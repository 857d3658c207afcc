#pragma once

#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"

/// Look-ups in maps from numbers to shared objects.
namespace swizzle::sql {

template <class Map, class Key>
auto find_or_null(const Map& map, const Key& key) -> typename Map::mapped_type {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

template <class Map>
auto find_by_name(const Map& map, std::string_view name) -> typename Map::mapped_type {
  for (const auto& [oid, object] : map) {
    if (object->name == name) return object;
  }
  return nullptr;
}

template <class Map>
auto values_of(const Map& map) {
  std::vector<typename Map::mapped_type> list;
  list.reserve(map.size());
  for (const auto& [key, value] : map) list.push_back(value);
  return list;
}

/// Stores the object; null erases the entry.
template <class Map, class Ptr>
void put_object(Map& map, Oid oid, const Ptr& object) {
  if (object) {
    map[oid] = object;
  } else {
    map.erase(oid);
  }
}

}  // namespace swizzle::sql
