#include "sql-lite-frontend/session/shared/shared_plans.h"

#include <algorithm>

#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {
namespace {

/// A plan's steps and expressions take about as much as the tree that they are made of.
constexpr std::size_t kTextAndPlan = 2;

}  // namespace

std::size_t kept_bytes(const ParsedText& parsed) {
  constexpr std::size_t kFixed = 512;
  return kFixed + parsed.script->capacity() + parsed.arena.reserved_bytes();
}

std::size_t kept_bytes(const Statement& statement) {
  constexpr std::size_t kFixed = 1024;
  std::size_t bytes = kFixed;
  if (statement.parsed) bytes += kTextAndPlan * kept_bytes(*statement.parsed);
  if (statement.plan) bytes += statement.plan->plan->arena.reserved_bytes();
  return bytes;
}

template <class Entry>
Entry SharedPlans::Parted<Entry>::find(std::string_view key) {
  Part& part = part_of(key);
  const std::lock_guard lock{part.mutex};
  return part.entries.find(key);
}

template <class Entry>
void SharedPlans::Parted<Entry>::put(std::string_view key, Entry entry, std::size_t bytes,
                                     std::size_t limit) {
  Part& part = part_of(key);
  const std::lock_guard lock{part.mutex};
  part.entries.set_capacity(std::max<std::size_t>(2, limit / kParts));
  part.entries.put(key, std::move(entry), bytes);
}

template <class Entry>
void SharedPlans::Parted<Entry>::clear() {
  for (Part& part : parts_) {
    const std::lock_guard lock{part.mutex};
    part.entries.clear();
  }
}

template class SharedPlans::Parted<ParsedTextPtr>;
template class SharedPlans::Parted<SharedPlanPtr>;

void SharedPlans::put(ParsedTextPtr text, std::size_t limit) {
  const std::shared_ptr<const std::string> script = text->script;
  const std::size_t bytes = kept_bytes(*text);
  texts_.put(*script, std::move(text), bytes, limit);
}

void SharedPlans::put(std::string_view key, SharedPlanPtr plan, std::size_t bytes,
                      std::size_t limit) {
  made_.fetch_add(1, std::memory_order_relaxed);
  plans_.put(key, std::move(plan), key.size() + bytes, limit);
}

void SharedPlans::clear() {
  texts_.clear();
  plans_.clear();
}

}  // namespace swizzle::sql
