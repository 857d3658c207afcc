#include "sql-lite-frontend/statement/transactions/deferred_checks.h"

#include <algorithm>

namespace swizzle::sql {

void DeferredChecks::add(WorkMemory& memory, const DeferredCheck& check) {
  const About about{check.kind, check.constraint, check.relation};
  const auto [at, is_new] = numbers_.try_emplace(about, static_cast<std::int64_t>(abouts_.size()));
  if (is_new) abouts_.push_back(about);
  events_.add(memory, at->second, check.values);
}

void DeferredChecks::clear() noexcept {
  numbers_.clear();
  abouts_.clear();
  events_.clear();
  passes_.clear();
}

void DeferredChecks::roll_back_to(const Mark& mark) noexcept {
  events_.cut(mark.events);
  passes_.resize(std::min(passes_.size(), mark.passes));
}

RowEvents::Mark DeferredChecks::begin_of_rest() const noexcept {
  RowEvents::Mark begin;
  for (const Pass& pass : passes_) {
    if (pass.constraints.empty()) begin = pass.end;
  }
  return begin;
}

bool DeferredChecks::has_passed(std::uint64_t number, Oid constraint) const noexcept {
  return std::ranges::any_of(passes_, [&](const Pass& pass) {
    return number < pass.end.size &&
           (pass.constraints.empty() ||
            std::ranges::find(pass.constraints, constraint) != pass.constraints.end());
  });
}

bool DeferredChecks::run(std::span<const Oid> constraints,
                         const std::function<void(const DeferredCheck&)>& check) {
  const RowEvents::Mark begin = begin_of_rest();
  const RowEvents::Mark end = events_.mark();
  if (begin.size == end.size) return false;
  bool found = false;
  RowEvents::Reader reader{events_, begin};
  for (std::uint64_t number = begin.size; number < end.size && reader.next(); ++number) {
    const About& about = abouts_[static_cast<std::size_t>(reader.what())];
    const bool is_asked_for = constraints.empty() ||
                              std::ranges::find(constraints, about.constraint) != constraints.end();
    if (!is_asked_for || has_passed(number, about.constraint)) continue;
    found = true;
    check({about.kind, about.constraint, about.relation, reader.values()});
  }
  if (found) passes_.push_back({end, {constraints.begin(), constraints.end()}});
  return found;
}

bool DeferredChecks::awaits(Oid relation) const {
  if (std::ranges::find(abouts_, relation, &About::relation) == abouts_.end()) return false;
  const RowEvents::Mark begin = begin_of_rest();
  RowEvents::Reader reader{events_, begin};
  for (std::uint64_t number = begin.size; reader.next(); ++number) {
    const About& about = abouts_[static_cast<std::size_t>(reader.what())];
    if (about.relation == relation && !has_passed(number, about.constraint)) return true;
  }
  return false;
}

}  // namespace swizzle::sql
