#include "sql-lite-frontend/types/user_types.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/types/number_map.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Distance between labels created together: room to insert forty labels, each before the previous.
constexpr std::int64_t kDistance = std::int64_t{1} << 40U;

struct NotedTypes {
  struct Entry {
    std::shared_ptr<const EnumLabels> labels;
    std::size_t uses = 0;
  };
  std::shared_mutex mutex;
  std::unordered_map<TypeId, Entry> types;
};

NotedTypes& noted_types() {
  static NotedTypes types;
  return types;
}

NumberMap& domain_bases() {
  static NumberMap bases;
  return bases;
}
NumberMap& range_bases() {
  static NumberMap bases;
  return bases;
}

}  // namespace

DomainBase base_of_domain(TypeId domain) noexcept {
  constexpr unsigned kTypmodBits = 32;
  const std::uint64_t known = domain_bases().find(raw(domain) - kFirstDomain);
  if (known == 0) return {};
  return {TypeId{static_cast<std::uint32_t>(known)},
          static_cast<std::int32_t>(static_cast<std::uint32_t>(known >> kTypmodBits))};
}

void note_domain(TypeId domain, DomainBase base) {
  constexpr unsigned kTypmodBits = 32;
  if (is_domain(base.type)) base = base_of_domain(base.type);
  const std::uint64_t typmod = static_cast<std::uint32_t>(base.typmod);
  domain_bases().put(raw(domain) - kFirstDomain, typmod << kTypmodBits | raw(base.type));
}

TypeId noted_subtype(TypeId range) noexcept {
  return TypeId{static_cast<std::uint32_t>(range_bases().find(raw(range) - kFirstRange))};
}

void note_range(TypeId range, TypeId subtype) {
  range_bases().put(raw(range) - kFirstRange, raw(subtype));
}

const EnumLabel* EnumLabels::named(std::string_view name) const noexcept {
  const auto found = std::ranges::find(labels, name, &EnumLabel::name);
  return found == labels.end() ? nullptr : &*found;
}

const EnumLabel* EnumLabels::at(std::int64_t position) const noexcept {
  const auto found = std::ranges::lower_bound(labels, position, {}, &EnumLabel::position);
  return found == labels.end() || found->position != position ? nullptr : &*found;
}

std::vector<std::int64_t> spread_positions(std::size_t count) {
  std::vector<std::int64_t> positions(count);
  for (std::size_t i = 0; i < count; ++i)
    positions[i] = static_cast<std::int64_t>(i + 1) * kDistance;
  return positions;
}

std::int64_t position_between(const EnumLabel* before, const EnumLabel* after) {
  if (before == nullptr && after == nullptr) return kDistance;
  std::int64_t position = 0;
  bool has_room = true;
  if (after == nullptr) {
    has_room = !__builtin_add_overflow(before->position, kDistance, &position);
  } else if (before == nullptr) {
    has_room = !__builtin_sub_overflow(after->position, kDistance, &position);
  } else {
    position = before->position + (after->position - before->position) / 2;
    has_room = position != before->position;
  }
  if (!has_room)
    throw SqlError{sqlstate::program_limit_exceeded, "no room is left between these enum labels"}
        .with_hint("Make a new type with the labels in their order, and change the columns to it.");
  return position;
}

NotedType::NotedType(TypeId type, EnumLabels labels) : type_(type) {
  NotedTypes& noted = noted_types();
  auto shared = std::make_shared<const EnumLabels>(std::move(labels));
  const std::scoped_lock lock{noted.mutex};
  NotedTypes::Entry& entry = noted.types[type];
  entry.labels = std::move(shared);
  ++entry.uses;
}

NotedType::~NotedType() {
  if (type_ == TypeId::none) return;
  NotedTypes& noted = noted_types();
  const std::scoped_lock lock{noted.mutex};
  const auto found = noted.types.find(type_);
  if (--found->second.uses == 0) noted.types.erase(found);
}

std::shared_ptr<const EnumLabels> noted_labels(TypeId type) {
  NotedTypes& noted = noted_types();
  const std::shared_lock lock{noted.mutex};
  const auto found = noted.types.find(type);
  return found == noted.types.end() ? nullptr : found->second.labels;
}

std::string noted_type_name(TypeId type) {
  const auto labels = noted_labels(type);
  return labels ? labels->type_name : std::string{};
}

}  // namespace swizzle::sql
