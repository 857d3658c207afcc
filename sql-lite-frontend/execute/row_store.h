#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/execute/execution.h"

namespace swizzle::sql {

/// Rows kept in memory: the values of some slots, their bytes copied.
class RowStore {
 public:
  void set_slots(std::vector<Slot> slots) { slots_ = std::move(slots); }
  [[nodiscard]] const std::vector<Slot>& slots() const noexcept { return slots_; }

  /// Keeps the slots' present values; returns the row's number.
  /// Throws SqlError 53200 when the session would hold more memory than it may.
  std::size_t keep(const Execution& execution) {
    const std::size_t row = rows_++;
    for (const Slot slot : slots_) values_.push_back(execution.slots[slot].copy_to(arena_));
    account_.set(execution.memory, held_bytes());
    return row;
  }
  /// Puts a kept row back into the slots.
  void restore(Execution& execution, std::size_t row) const {
    const Value* from = values_.data() + row * slots_.size();
    for (const Slot slot : slots_) execution.slots[slot] = *from++;
  }
  [[nodiscard]] std::size_t size() const noexcept { return rows_; }
  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  void clear() {
    values_.clear();
    rows_ = 0;
    arena_.reset();
    account_.lower(held_bytes());
  }
  /// Gives the memory back as well.
  void release() {
    values_ = {};
    rows_ = 0;
    arena_ = Arena{};
    account_.lower(held_bytes());
  }

 private:
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return arena_.reserved_bytes() + values_.capacity() * sizeof(Value);
  }

  std::vector<Slot> slots_;
  std::vector<Value> values_;
  std::size_t rows_ = 0;
  Arena arena_;
  MemoryShare account_;
};

/// Finds equal keys: a hash table from key bytes to a number. Keys are what append_key writes, so
/// equal SQL values are equal bytes.
class KeyTable {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  /// The number stored under `key`, or kAbsent.
  [[nodiscard]] std::uint32_t find(std::string_view key) const noexcept;
  /// The place of the number under `key`, which is kAbsent if the key is new.
  std::uint32_t& operator[](std::string_view key);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void clear();

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

  std::vector<Entry> entries_;
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
