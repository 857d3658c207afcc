#include "sql-lite-frontend/catalog/computed.h"

#include <map>
#include <ranges>
#include <utility>

namespace swizzle::sql {
namespace {

std::vector<ComputedRelation> (*build_relations)() = nullptr;

}  // namespace

void set_system_relations(std::vector<ComputedRelation> (*build)()) noexcept {
  build_relations = build;
}

void ComputedRelation::for_each_row(Execution& execution, const EmitRow& emit) const {
  if (source != nullptr) return source->for_each_row(execution, emit);
  if (provider == nullptr) return;
  std::vector<Value> row = constants;
  EmitRow emit_whole{[&](std::span<const Value> provided) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] >= 0) row[i] = provided[static_cast<std::size_t>(sources[i])];
    }
    emit(row);
  }};
  emit_whole.key = emit.key;
  provider->rows(execution, emit_whole);
}

bool ComputedRelation::is_key(std::size_t position) const {
  const TypeId type = columns[position].type;
  if (provider == nullptr || (type != TypeId::oid && type != TypeId::name)) return false;
  for (const auto word : std::views::split(provider->keys, ' ')) {
    if (std::string_view{word} == columns[position].name) return true;
  }
  return false;
}

std::span<const ComputedRelation> computed_relations() {
  static const std::vector<ComputedRelation> kRelations =
      build_relations == nullptr ? std::vector<ComputedRelation>{} : build_relations();
  return kRelations;
}

const ComputedRelation* find_computed(Oid schema, std::string_view name) {
  static const auto kByName = [] {
    std::map<std::pair<Oid, std::string_view>, const ComputedRelation*> map;
    for (const ComputedRelation& relation : computed_relations()) {
      map[{relation.schema, relation.name}] = &relation;
    }
    return map;
  }();
  const auto found = kByName.find({schema, name});
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace swizzle::sql
