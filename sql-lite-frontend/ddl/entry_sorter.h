#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace swizzle::sql {

/// Records on their way into a new tree, in memory: taken in any order, handed out in key order.
/// Keys and values lie in large chunks, and what is sorted are their addresses with the first eight
/// bytes of each key. Records that come in order, as those of a copied table do, are not sorted.
class EntrySorter {
 public:
  struct Entry {
    std::string_view key;
    std::string_view value;
  };

  void add(std::string_view key, std::string_view value);
  /// Post: entries are in ascending order of their keys.
  void sort();

  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] Entry at(std::size_t index) const noexcept {
    const Item& item = items_[index];
    return {{item.bytes, item.key_size}, {item.bytes + item.key_size, item.value_size}};
  }

 private:
  struct Item {
    std::uint64_t head;  ///< big-endian, so that it compares as the key does
    const char* bytes;
    std::uint32_t key_size;
    std::uint32_t value_size;
  };
  static bool less(const Item& a, const Item& b) noexcept;
  char* take(std::size_t bytes);

  std::vector<Item> items_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t left_in_chunk_ = 0;
  char* next_ = nullptr;
  bool is_sorted_ = true;
};

}  // namespace swizzle::sql
