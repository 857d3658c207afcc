#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Hash table from key bytes to a number. Keys are written by append_key, so equal SQL values are
/// equal bytes.
class KeyTable {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  /// Charges its memory to the account from now on. Pre: it holds nothing, or is charged there
  /// already.
  void count_in(MemoryAccount* account) {
    sql::count_in(entries_, account);
    keys_.count_in(account);
  }
  /// Returns the number stored under `key`, or kAbsent.
  [[nodiscard]] std::uint32_t find(std::string_view key) const noexcept;
  /// Returns the place of the number under `key`, which is kAbsent if the key is new.
  std::uint32_t& operator[](std::string_view key);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return keys_.reserved_bytes() + entries_.capacity() * sizeof(Entry);
  }
  /// Clears the rows; keeps little of the memory.
  void clear();
  /// Frees the memory as well.
  void release() noexcept;

  /// Distributes keys over `parts`, a power of two, in another way at each `depth`.
  static std::size_t part_of(std::string_view key, std::size_t parts, unsigned depth) noexcept;

 private:
  struct Entry {
    std::uint64_t hash = 0;
    const char* key = nullptr;
    std::uint32_t key_size = 0;
    std::uint32_t number = kAbsent;
  };
  static std::uint64_t hash_of(std::string_view key) noexcept;
  [[nodiscard]] std::size_t place_of(std::uint64_t hash, std::string_view key) const noexcept;
  void grow();

  CountedVector<Entry> entries_;
  std::size_t size_ = 0;
  Arena keys_;
};

/// Writes key bytes of expressions' values. Throws SqlError 42883 for a type without equality.
class KeyWriter {
 public:
  explicit KeyWriter(std::span<const TypeId> types);
  void clear() { key_.clear(); }
  void add(std::size_t column, const Value& value);
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  std::vector<TypeId> types_;
  std::string key_;
};

}  // namespace swizzle::sql
