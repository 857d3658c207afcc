#include "sql-lite-frontend/catalog/change_list.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

TablePtr table_of(Random& random) {
  if (random.below(6) == 0) return nullptr;
  auto table = std::make_shared<Table>();
  table->relation.name = "t" + std::to_string(random.below(5));
  for (std::uint64_t i = random.below(3); i != 0; --i) {
    Index& index = table->relation.indexes.emplace_back();
    index.name = "t" + std::to_string(random.below(5));
  }
  for (std::uint64_t i = random.below(3); i != 0; --i) {
    Constraint& constraint = table->relation.constraints.emplace_back();
    constraint.kind = random.below(3) == 0 ? ConstraintKind::check : ConstraintKind::foreign_key;
    constraint.referenced_table = kFirstUserOid + static_cast<Oid>(random.below(4));
  }
  return table;
}

CatalogChange change_of(Random& random) {
  const auto oid = static_cast<Oid>(random.below(6));
  if (random.below(4) == 0) return {oid, false, std::make_shared<const Schema>()};
  return {oid, random.below(2) == 0, table_of(random)};
}

/// Returns the result of a linear search, for comparison.
template <class Ptr>
const Ptr* last_in(const std::vector<CatalogChange>& list, Oid oid) {
  for (std::size_t i = list.size(); i-- > 0;) {
    const auto* object = std::get_if<Ptr>(&list[i].object);
    if (list[i].oid == oid && object != nullptr) return object;
  }
  return nullptr;
}

template <class Wanted>
std::vector<ChangeList::Place> tables_where(const std::vector<CatalogChange>& list,
                                            const Wanted& count) {
  std::vector<ChangeList::Place> places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto* table = std::get_if<TablePtr>(&list[i].object);
    if (table == nullptr || !*table) continue;
    places.insert(places.end(), static_cast<std::size_t>(count((*table)->relation)),
                  static_cast<ChangeList::Place>(i));
  }
  return places;
}

bool are(std::span<const ChangeList::Place> found, const std::vector<ChangeList::Place>& wanted) {
  return std::ranges::equal(found, wanted);
}

}  // namespace

TEST_CASE("A transaction's changes are found as by a search through all", "[sql][catalog]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    ChangeList changes;
    std::vector<CatalogChange> model;
    for (int step = 0; step < 300; ++step) {
      if (random.below(8) == 0) {
        const auto size = static_cast<std::size_t>(random.below(model.size() + 1));
        changes.cut(size);
        model.resize(size);
      } else if (random.below(100) == 0) {
        CHECK(changes.take().size() == model.size());
        model.clear();
      } else {
        CatalogChange change = change_of(random);
        model.push_back(change);
        changes.add(std::move(change));
      }
      REQUIRE(changes.size() == model.size());
      for (Oid oid = 0; oid < 6; ++oid) {
        const auto* table = changes.last<TablePtr>(oid);
        const auto* wanted = last_in<TablePtr>(model, oid);
        REQUIRE((table == nullptr) == (wanted == nullptr));
        if (table != nullptr) REQUIRE(*table == *wanted);
        REQUIRE((changes.last<SchemaPtr>(oid) == nullptr) ==
                (last_in<SchemaPtr>(model, oid) == nullptr));
        const Oid referenced = kFirstUserOid + oid;
        REQUIRE(are(changes.naming(referenced),
                    tables_where(model, [referenced](const Relation& relation) {
                      return std::ranges::any_of(relation.constraints,
                                                 [referenced](const Constraint& constraint) {
                                                   return constraint.referenced_table == referenced;
                                                 })
                                 ? 1
                                 : 0;
                    })));
        const std::string name = "t" + std::to_string(oid);
        REQUIRE(are(changes.named(name), tables_where(model, [&](const Relation& relation) {
                      return std::ranges::count(relation.indexes, name, &Index::name) +
                             (relation.name == name ? 1 : 0);
                    })));
      }
    }
  }
}
