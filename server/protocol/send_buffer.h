#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/encodings/encoding_table.h"
#include "base/invariant.h"
#include "server/protocol/buffer_pool.h"
#include "server/protocol/message_kind.h"

namespace swizzle::server {

/// Output buffer: each message to the client is put together at its place in the next write.
class SendBuffer {
 public:
  explicit SendBuffer(BufferPool& pool) noexcept : pool_(pool) {}
  SendBuffer(const SendBuffer&) = delete;
  SendBuffer& operator=(const SendBuffer&) = delete;
  ~SendBuffer() = default;

  /// Position at which an unfinished message began.
  enum class Mark : std::size_t {};

  [[nodiscard]] Bytes pending() const noexcept { return as_bytes(data_).subspan(sent_); }
  [[nodiscard]] bool empty() const noexcept { return data_.size() == sent_; }
  [[nodiscard]] std::size_t size() const noexcept { return data_.size() - sent_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return data_.capacity(); }

  /// Removes the first `bytes` of pending(), which were sent.
  void consume(std::size_t bytes) noexcept {
    INVARIANT(bytes <= size());
    sent_ += bytes;
    if (sent_ == data_.size()) discard();
  }
  void discard() noexcept {
    data_.clear();
    sent_ = 0;
  }
  /// Frees the memory when everything is sent; the next message takes it again.
  void release() {
    if (!empty() || data_.capacity() < BufferPool::kSendBytes) return;
    discard();
    pool_.give_back(std::exchange(data_, std::string{}));
  }

  Mark begin(BackendKind kind) {
    if (data_.capacity() < BufferPool::kSendBytes) data_ = pool_.take_send();
    const Mark mark{data_.size()};
    const char header[5] = {static_cast<char>(kind), 0, 0, 0, 0};
    data_.append(header, sizeof header);
    return mark;
  }
  /// Pre: everything since begin(), which gave `mark`, belongs to the message, and nothing was
  /// consumed in between.
  void end(Mark mark) noexcept {
    const std::size_t length_at = std::to_underlying(mark) + 1;
    const std::uint32_t length =
        std::byteswap(static_cast<std::uint32_t>(data_.size() - length_at));
    std::memcpy(data_.data() + length_at, &length, sizeof length);
  }
  /// Removes an unfinished message.
  void abandon(Mark mark) noexcept { data_.resize(std::to_underlying(mark)); }
  /// A byte outside of any message.
  void put_raw(char byte) {
    abandon(begin(BackendKind::no_data));  // takes memory from the pool
    put_char(byte);
  }
  /// A whole message without fields.
  void put_empty(BackendKind kind) { end(begin(kind)); }

  void put_char(char value) { data_.push_back(value); }
  void put_int16(std::int16_t value) { put_integer(static_cast<std::uint16_t>(value)); }
  void put_int32(std::int32_t value) { put_integer(static_cast<std::uint32_t>(value)); }
  void put_int64(std::int64_t value) { put_integer(static_cast<std::uint64_t>(value)); }
  void put_uint32(std::uint32_t value) { put_integer(value); }
  void put_text(std::string_view text) { data_.append(text); }
  void put_bytes(Bytes bytes) { put_text(as_text(bytes)); }
  /// Appends the text, in the client's encoding, and a NUL. Characters that the encoding lacks
  /// become question marks. Pre: none inside.
  void put_string(std::string_view text) {
    if (client_encoding_ == nullptr) [[likely]] {
      put_text(text);
    } else {
      client_encoding_->encode_with_substitutes(text, data_);
    }
    put_char('\0');
  }
  /// Sets the encoding of strings; null is UTF-8.
  void set_client_encoding(const EncodingTable* encoding) noexcept { client_encoding_ = encoding; }
  [[nodiscard]] const EncodingTable* client_encoding() const noexcept { return client_encoding_; }

  /// For code that formats values directly into the message.
  [[nodiscard]] std::string& tail() noexcept { return data_; }

 private:
  template <std::unsigned_integral T>
  void put_integer(T value) {
    const T swapped = std::byteswap(value);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &swapped, sizeof swapped);
    data_.append(bytes, sizeof bytes);
  }

  BufferPool& pool_;
  std::string data_;
  std::size_t sent_ = 0;
  const EncodingTable* client_encoding_ = nullptr;
};

}  // namespace swizzle::server
