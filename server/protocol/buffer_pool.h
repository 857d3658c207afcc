#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::server {

/// Buffers that a reactor's sessions take while they work and give back while they wait, so that an
/// idle session has none and a busy one does not allocate. Not thread-safe.
class BufferPool {
 public:
  BufferPool() = default;
  /// Long buffers are counted in `total`, which outlives the pool.
  explicit BufferPool(sql::MemoryTotal& total) noexcept : total_(&total) {}

  /// Call before allocating a long buffer. False: the server's limit is reached.
  [[nodiscard]] bool take_long(std::size_t bytes) noexcept {
    return total_ == nullptr || total_->take(bytes);
  }
  void give_back_long(std::size_t bytes) noexcept {
    if (total_ != nullptr) total_->give_back(bytes);
  }

  static constexpr std::size_t kReceiveBytes = 8192;
  static constexpr std::size_t kSendBytes = 16384;

  std::unique_ptr<std::byte[]> take_receive() {
    if (receive_.empty()) return std::make_unique_for_overwrite<std::byte[]>(kReceiveBytes);
    auto buffer = std::move(receive_.back());
    receive_.pop_back();
    return buffer;
  }
  /// Pre: from take_receive(), of any pool.
  void give_back(std::unique_ptr<std::byte[]> buffer) {
    if (receive_.size() < kKept) receive_.push_back(std::move(buffer));
  }

  std::string take_send() {
    std::string buffer;
    if (send_.empty()) {
      buffer.reserve(kSendBytes);
    } else {
      buffer.swap(send_.back());
      send_.pop_back();
    }
    return buffer;
  }
  /// An unusually large buffer goes back to the heap.
  void give_back(std::string buffer) {
    constexpr std::size_t kLargest = 8 * kSendBytes;
    if (send_.size() >= kKept || buffer.capacity() > kLargest) return;
    buffer.clear();
    send_.push_back(std::move(buffer));
  }

 private:
  static constexpr std::size_t kKept = 128;

  sql::MemoryTotal* total_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> receive_;
  std::vector<std::string> send_;
};

}  // namespace swizzle::server
