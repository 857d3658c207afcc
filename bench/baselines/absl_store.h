#pragma once

#include <absl/container/btree_map.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/bytes.h"

namespace swizzle::bench {

/// absl::btree_map with 8-byte integer keys and inline values: the best general in-memory B-tree in
/// common use. It has no pages, no pool and no concurrency control.
class AbslStore {
 public:
  static constexpr std::size_t kValueBytes = 120;
  using Inline = std::array<std::byte, kValueBytes>;

  /// Pre: ascending keys; no reader yet.
  void append(std::uint64_t key, Bytes value) { map_.emplace_hint(map_.end(), key, copy(value)); }

  /// Concurrent readers are safe while there is no insert.
  std::size_t get(std::uint64_t key, MutableBytes into) const noexcept {
    const auto at = map_.find(key);
    if (at == map_.end()) return 0;
    std::memcpy(into.data(), at->second.data(), kValueBytes);
    return kValueBytes;
  }

  /// Inserts are serialised by a mutex.
  bool insert(std::uint64_t key, Bytes value) {
    const Inline record = copy(value);
    const std::lock_guard turn(mutex_);
    return map_.emplace(key, record).second;
  }

 private:
  static Inline copy(Bytes value) noexcept {
    Inline record;
    std::memcpy(record.data(), value.data(), kValueBytes);
    return record;
  }

  absl::btree_map<std::uint64_t, Inline> map_;
  std::mutex mutex_;
};

}  // namespace swizzle::bench
