#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

struct ParsedText;
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

/// Returns the memory that a cache holds with a parsed text: the text and its tree.
std::size_t kept_bytes(const ParsedText& parsed);
/// The same with a statement: its parsed text and its plan.
std::size_t kept_bytes(const Statement& statement);

/// Pointers by the texts that they were made from, bounded in number and in memory, since no
/// session is charged for it. Two-generation cache: when the young half is full, the old half is
/// dropped.
template <class Pointer>
class TextCache {
 public:
  /// Memory of all entries, for each that there may be: a few times what a common statement takes.
  static constexpr std::size_t kBytesOfEntry = std::size_t{16} << 10U;

  explicit TextCache(std::size_t capacity) : half_(capacity / 2) {}
  void set_capacity(std::size_t capacity) noexcept { half_ = capacity / 2; }

  /// Returns null if the statement is not cached.
  Pointer find(std::string_view key) {
    if (const auto found = young_.find(key); found != young_.end()) return found->second.pointer;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    auto moved = old_.extract(found);
    Pointer pointer = moved.mapped().pointer;
    make_room(moved.mapped().bytes);
    young_.insert(std::move(moved));
    return pointer;
  }
  /// `bytes`: memory that the entry holds. A large one is not kept.
  void put(std::string_view key, Pointer pointer, std::size_t bytes) {
    erase(key);
    if (bytes > most_bytes()) return;
    make_room(bytes);
    young_.emplace(std::string{key}, Entry{std::move(pointer), bytes});
  }
  void erase(std::string_view key) {
    if (const auto found = young_.find(key); found != young_.end()) {
      young_bytes_ -= found->second.bytes;
      young_.erase(found);
    }
    if (const auto found = old_.find(key); found != old_.end()) old_.erase(found);
  }
  void clear() {
    young_.clear();
    old_.clear();
    young_bytes_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return young_.size() + old_.size(); }

 private:
  struct Entry {
    Pointer pointer;
    std::size_t bytes;
  };
  using Entries = std::unordered_map<std::string, Entry, NameHash, std::equal_to<>>;

  [[nodiscard]] std::size_t most_bytes() const noexcept { return half_ * kBytesOfEntry; }
  /// Makes room in the young half for an entry of so many bytes.
  void make_room(std::size_t bytes) {
    if (young_.size() >= half_ || young_bytes_ + bytes > most_bytes()) {
      old_ = std::exchange(young_, {});
      young_bytes_ = 0;
    }
    young_bytes_ += bytes;
  }

  std::size_t half_;
  Entries young_;
  Entries old_;
  std::size_t young_bytes_ = 0;
};

/// The session's own cache.
using StatementCache = TextCache<StatementPtr>;
inline constexpr std::size_t kTextsOfSession = 256;

}  // namespace swizzle::sql
