#include "sql-lite-frontend/types/user_types.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Between two labels that were made together: room for forty labels, each before the one before.
constexpr std::int64_t kDistance = std::int64_t{1} << 40U;

struct NotedTypes {
  std::shared_mutex mutex;
  std::unordered_map<TypeId, std::shared_ptr<const EnumLabels>> types;
};

NotedTypes& noted_types() {
  static NotedTypes types;
  return types;
}

/// What domains, or ranges, are over, by number, read by whoever handles a value of one: found
/// without a lock. Nothing is ever taken out, since a number means the same type for good.
class DomainBases {
 public:
  [[nodiscard]] std::uint64_t find(std::uint32_t number) const noexcept {
    // acquire: what was made before the pointer was put there.
    const Branch* branch = branches_[number / kBelowBranch].load(std::memory_order_acquire);
    if (branch == nullptr) return 0;
    const Leaf* leaf = (*branch)[number / kFan % kFan].load(std::memory_order_acquire);
    return leaf == nullptr ? 0 : (*leaf)[number % kFan].load(std::memory_order_acquire);
  }

  void put(std::uint32_t number, std::uint64_t base) {
    const std::scoped_lock lock{mutex_};
    Branch& branch = made(branches_[number / kBelowBranch], own_branches_);
    Leaf& leaf = made(branch[number / kFan % kFan], own_leaves_);
    // release: whoever learns of the domain finds its base.
    leaf[number % kFan].store(base, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kFan = 1024;
  static constexpr std::size_t kBelowBranch = kFan * kFan;
  using Leaf = std::array<std::atomic<std::uint64_t>, kFan>;
  using Branch = std::array<std::atomic<Leaf*>, kFan>;

  template <class Part>
  static Part& made(std::atomic<Part*>& place, std::vector<std::unique_ptr<Part>>& own) {
    Part* part = place.load(std::memory_order_relaxed);
    if (part == nullptr) {
      part = own.emplace_back(std::make_unique<Part>()).get();
      // release: readers find it empty, not as it was.
      place.store(part, std::memory_order_release);
    }
    return *part;
  }

  std::array<std::atomic<Branch*>, kUserTypeIds / kBelowBranch> branches_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Branch>> own_branches_;
  std::vector<std::unique_ptr<Leaf>> own_leaves_;
};

DomainBases& domain_bases() {
  static DomainBases bases;
  return bases;
}
DomainBases& range_bases() {
  static DomainBases bases;
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

void note_type(TypeId type, EnumLabels labels) {
  NotedTypes& noted = noted_types();
  auto shared = std::make_shared<const EnumLabels>(std::move(labels));
  const std::scoped_lock lock{noted.mutex};
  noted.types[type] = std::move(shared);
}

std::shared_ptr<const EnumLabels> noted_labels(TypeId type) {
  NotedTypes& noted = noted_types();
  const std::shared_lock lock{noted.mutex};
  const auto found = noted.types.find(type);
  return found == noted.types.end() ? nullptr : found->second;
}

std::string noted_type_name(TypeId type) {
  const auto labels = noted_labels(type);
  return labels ? labels->type_name : std::string{};
}

}  // namespace swizzle::sql
