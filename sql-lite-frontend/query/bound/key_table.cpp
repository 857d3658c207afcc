#include "sql-lite-frontend/query/bound/key_table.h"

#include <utility>

#include "base/checksum.h"
#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/equality.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {

std::size_t KeyTable::part_of(std::string_view key, std::size_t parts, unsigned depth) noexcept {
  return checksum(as_bytes(key), depth + 1) & (parts - 1);
}

std::uint64_t KeyTable::hash_of(std::string_view key) noexcept {
  return checksum(as_bytes(key), 0);
}

/// Returns the key's entry, or the free one that it would go to. Pre: an entry is free.
std::size_t KeyTable::place_of(std::uint64_t hash, std::string_view key) const noexcept {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry& entry = entries_[at];
    if (entry.key == nullptr) return at;
    if (entry.hash == hash && std::string_view{entry.key, entry.key_size} == key) return at;
  }
}

std::uint32_t KeyTable::find(std::string_view key) const noexcept {
  if (size_ == 0) return kAbsent;
  return entries_[place_of(hash_of(key), key)].number;
}

std::uint32_t& KeyTable::operator[](std::string_view key) {
  if (size_ * 4 >= entries_.size() * 3) grow();
  const std::uint64_t hash = hash_of(key);
  Entry& entry = entries_[place_of(hash, key)];
  if (entry.key == nullptr) {
    const std::string_view kept = keys_.copy(key);
    entry = {hash, kept.data(), static_cast<std::uint32_t>(kept.size()), kAbsent};
    if (entry.key == nullptr) entry.key = "";
    ++size_;
  }
  return entry.number;
}

void KeyTable::grow() {
  constexpr std::size_t kWorkOfEntry = 20;
  CountedVector<Entry> old(entries_.empty() ? 16 : entries_.size() * 2, Entry{},
                           entries_.get_allocator());
  std::swap(old, entries_);
  for (const Entry& entry : old) {
    unending_yield_point(kWorkOfEntry);
    if (entry.key == nullptr) continue;
    entries_[place_of(entry.hash, {entry.key, entry.key_size})] = entry;
  }
}

void KeyTable::release() noexcept {
  sql::release(entries_);
  size_ = 0;
  keys_.release();
}

void KeyTable::clear() {
  if (held_bytes() > kKeptByStep) return release();
  entries_.assign(entries_.size(), Entry{});
  size_ = 0;
  keys_.reset();
}

KeyWriter::KeyWriter(std::span<const TypeId> types) : types_(types.begin(), types.end()) {
  for (const TypeId type : types_) {
    if (has_equality(type)) continue;
    throw_error(sqlstate::undefined_function, "could not identify an equality operator for type {}",
                format_type(type));
  }
}

void KeyWriter::add(std::size_t column, const Value& value) {
  append_key(key_, {types_[column]}, value);
}

}  // namespace swizzle::sql
