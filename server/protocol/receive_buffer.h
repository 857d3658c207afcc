#pragma once

#include <algorithm>
#include <memory>
#include <new>

#include "base/bytes.h"
#include "base/invariant.h"
#include "base/runtime/runtime.h"
#include "server/protocol/buffer_pool.h"

namespace swizzle::server {

/// Holds bytes from the socket until they are whole messages. It grows with the received bytes, at
/// most to twice that, and never by a length in a header. A long buffer is counted in the pool.
class ReceiveBuffer {
 public:
  explicit ReceiveBuffer(BufferPool& pool) noexcept : pool_(pool) {}
  ReceiveBuffer(const ReceiveBuffer&) = delete;
  ReceiveBuffer& operator=(const ReceiveBuffer&) = delete;
  ~ReceiveBuffer() { count(0); }

  [[nodiscard]] Bytes buffered() const noexcept { return {data_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Removes the first `bytes`. Views into them stay valid until the next room().
  void consume(std::size_t bytes) noexcept {
    INVARIANT(bytes <= end_ - begin_);
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Returns the room for the next read(): at least `kLeastRead` bytes. Throws std::bad_alloc.
  MutableBytes room() {
    if (capacity_ - end_ < kLeastRead) make_room();
    return {data_.get() + end_, capacity_ - end_};
  }
  void commit(std::size_t bytes) noexcept {
    INVARIANT(bytes <= capacity_ - end_);
    end_ += bytes;
  }

  /// Frees the memory when nothing is buffered; an idle session holds none.
  void release() {
    if (!empty()) return;
    if (capacity_ == kInitial) pool_.give_back(std::move(data_));
    data_.reset();
    begin_ = end_ = capacity_ = 0;
    count(0);
  }

  static constexpr std::size_t kInitial = BufferPool::kReceiveBytes;
  static constexpr std::size_t kLeastRead = 2048;

 private:
  static constexpr std::size_t kLong = std::size_t{1} << 20U;

  void make_room() {
    const std::size_t kept = end_ - begin_;
    if (capacity_ >= kInitial && kept <= capacity_ / 2) {
      if (kept != 0) std::memmove(data_.get(), data_.get() + begin_, kept);
    } else {
      const std::size_t wanted = std::max(kInitial, capacity_ * 2);
      // Both exist while one is copied to the other.
      if (wanted >= kLong) count(capacity_ + wanted);
      auto larger = capacity_ == 0 ? pool_.take_receive()
                                   : std::make_unique_for_overwrite<std::byte[]>(wanted);
      const auto copy = [&] { std::memcpy(larger.get(), data_.get() + begin_, kept); };
      // Touches the pages aside, so that other connections of the thread do not wait for page
      // faults.
      if (kept >= kLong) {
        Runtime::current().run_aside(copy);
      } else if (kept != 0) {
        copy();
      }
      data_ = std::move(larger);
      capacity_ = wanted;
      if (wanted >= kLong) count(wanted);
    }
    begin_ = 0;
    end_ = kept;
  }

  void count(std::size_t bytes) {
    if (bytes > counted_ && !pool_.take_long(bytes - counted_)) throw std::bad_alloc{};
    if (bytes < counted_) pool_.give_back_long(counted_ - bytes);
    counted_ = bytes;
  }

  BufferPool& pool_;
  std::size_t counted_ = 0;
  std::unique_ptr<std::byte[]> data_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace swizzle::server
