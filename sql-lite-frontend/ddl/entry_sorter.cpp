#include "sql-lite-frontend/ddl/entry_sorter.h"

#include <algorithm>
#include <cstring>

namespace swizzle::sql {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;

std::uint64_t head_of(std::string_view key) noexcept {
  std::byte bytes[sizeof(std::uint64_t)]{};
  std::memcpy(bytes, key.data(), std::min(key.size(), sizeof bytes));
  return load_big_endian<std::uint64_t>(bytes);
}

}  // namespace

bool EntrySorter::less(const Item& a, const Item& b) noexcept {
  if (a.head != b.head) return a.head < b.head;
  return std::string_view{a.bytes, a.key_size} < std::string_view{b.bytes, b.key_size};
}

char* EntrySorter::take(std::size_t bytes) {
  if (bytes > left_in_chunk_) {
    left_in_chunk_ = std::max(bytes, kChunkBytes);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_in_chunk_));
    next_ = chunks_.back().get();
  }
  char* const taken = next_;
  next_ += bytes;
  left_in_chunk_ -= bytes;
  return taken;
}

void EntrySorter::add(std::string_view key, std::string_view value) {
  char* const bytes = take(key.size() + value.size());
  std::memcpy(bytes, key.data(), key.size());
  if (!value.empty()) std::memcpy(bytes + key.size(), value.data(), value.size());
  const Item item{head_of(key), bytes, static_cast<std::uint32_t>(key.size()),
                  static_cast<std::uint32_t>(value.size())};
  is_sorted_ = is_sorted_ && (items_.empty() || less(items_.back(), item));
  items_.push_back(item);
}

void EntrySorter::sort() {
  if (!is_sorted_) std::ranges::sort(items_, less);
  is_sorted_ = true;
}

}  // namespace swizzle::sql
