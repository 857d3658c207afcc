#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace swizzle::sql {

struct Statement;
using StatementPtr = std::shared_ptr<Statement>;

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept {
    return std::hash<std::string_view>{}(name);
  }
};

/// Statements by what they were made from. Bounded: when it is full, those go that were not asked
/// for since it was half full.
class StatementCache {
 public:
  static constexpr std::size_t kTexts = 256;
  static constexpr std::size_t kLongestText = 4096;

  explicit StatementCache(std::size_t capacity) : half_(capacity / 2) {}

  /// Null: not known.
  StatementPtr find(std::string_view key) {
    if (const auto found = young_.find(key); found != young_.end()) return found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    auto moved = old_.extract(found);
    StatementPtr statement = moved.mapped();
    make_room();
    young_.insert(std::move(moved));
    return statement;
  }
  void put(std::string_view key, StatementPtr statement) {
    make_room();
    old_.erase(std::string{key});
    young_.insert_or_assign(std::string{key}, std::move(statement));
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

  using Statements = std::unordered_map<std::string, StatementPtr, NameHash, std::equal_to<>>;
  std::size_t half_;
  Statements young_;
  Statements old_;
};

}  // namespace swizzle::sql
