#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/bound/key_table.h"

namespace swizzle::sql {

/// Hash table from keys of values to a number: a single integer is the key itself, other keys are
/// bytes. A key is begun, its values are added, and then it is looked up.
class ValueTable {
 public:
  static constexpr std::uint32_t kAbsent = KeyTable::kAbsent;

  /// Throws SqlError 42883 for a type without equality.
  explicit ValueTable(std::span<const TypeId> types);

  /// Charges its memory to the account from now on. Pre: it holds nothing, or is charged there
  /// already.
  void count_in(MemoryAccount* account) {
    sql::count_in(numbers_, account);
    table_.count_in(account);
  }

  void start() { writer_.clear(); }
  void add(std::size_t column, const Value& value) {
    if (is_number_) {
      number_ = value;
    } else {
      writer_.add(column, value);
    }
  }
  /// Returns the number under the key, or kAbsent.
  [[nodiscard]] std::uint32_t find() const noexcept {
    if (!is_number_) return table_.find(writer_.key());
    if (number_.is_null()) return null_;
    return numbers_.empty() ? kAbsent : numbers_[place_of(number_.as_int8())].number;
  }
  /// Returns the place of the number under the key, which is kAbsent, and must be set, if the key
  /// is new.
  std::uint32_t& place();
  /// Returns the bytes of the key.
  const std::string& key();

  [[nodiscard]] std::size_t size() const noexcept {
    return is_number_ ? size_ + (null_ != kAbsent ? 1 : 0) : table_.size();
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return table_.held_bytes() + numbers_.capacity() * sizeof(Entry);
  }
  /// Clears the table; keeps little of the memory.
  void clear();
  /// Frees the memory as well.
  void release() noexcept;

 private:
  struct Entry {
    std::int64_t key = 0;
    std::uint32_t number = kAbsent;  ///< absent: the entry is free
  };
  /// Returns the entry of the key, or the free one where it would go. Pre: an entry is free.
  [[nodiscard]] std::size_t place_of(std::int64_t key) const noexcept {
    // Fibonacci hashing spreads neighbours.
    const std::uint64_t hash = static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL;
    const std::size_t mask = numbers_.size() - 1;
    std::size_t at = (hash >> 32U) & mask;
    while (numbers_[at].number != kAbsent && numbers_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow();

  bool is_number_;
  KeyWriter writer_;
  KeyTable table_;
  Value number_;
  CountedVector<Entry> numbers_;
  std::size_t size_ = 0;
  std::uint32_t null_ = kAbsent;
};

}  // namespace swizzle::sql
