#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

struct Statement;
using StatementPtr = CheckedShared<Statement>;

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept {
    return std::hash<std::string_view>{}(name);
  }
};

/// Longer texts are not cached.
inline constexpr std::size_t kLongestKeptText = 4096;

/// Pointers by the texts that they were made from. Two-generation cache: when the young half is
/// full, the old half is dropped.
template <class Pointer>
class TextCache {
 public:
  explicit TextCache(std::size_t capacity) : half_(capacity / 2) {}
  void set_capacity(std::size_t capacity) noexcept { half_ = capacity / 2; }

  /// Returns null if the statement is not cached.
  Pointer find(std::string_view key) {
    if (const auto found = young_.find(key); found != young_.end()) return found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    auto moved = old_.extract(found);
    Pointer pointer = moved.mapped();
    make_room();
    young_.insert(std::move(moved));
    return pointer;
  }
  void put(std::string_view key, Pointer pointer) {
    make_room();
    old_.erase(std::string{key});
    young_.insert_or_assign(std::string{key}, std::move(pointer));
  }
  void erase(std::string_view key) {
    if (const auto found = young_.find(key); found != young_.end()) young_.erase(found);
    if (const auto found = old_.find(key); found != old_.end()) old_.erase(found);
  }
  void clear() {
    young_.clear();
    old_.clear();
  }
  [[nodiscard]] std::size_t size() const noexcept { return young_.size() + old_.size(); }

 private:
  void make_room() {
    if (young_.size() < half_) return;
    old_ = std::exchange(young_, {});
  }

  using Entries = std::unordered_map<std::string, Pointer, NameHash, std::equal_to<>>;
  std::size_t half_;
  Entries young_;
  Entries old_;
};

/// The session's own cache.
using StatementCache = TextCache<StatementPtr>;
inline constexpr std::size_t kTextsOfSession = 256;

}  // namespace swizzle::sql
