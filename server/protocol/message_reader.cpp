#include "server/protocol/message_reader.h"

#include "server/protocol/sqlstates.h"

namespace swizzle::server {

std::string_view MessageReader::take_string() noexcept {
  const void* end = rest_.empty() ? nullptr : std::memchr(rest_.data(), 0, rest_.size());
  if (end == nullptr) {
    fail();
    return {};
  }
  const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - rest_.data());
  const std::string_view text = as_text(rest_.first(length));
  rest_ = rest_.subspan(length + 1);
  return text;
}

Bytes MessageReader::take_bytes(std::size_t size) noexcept {
  if (size > rest_.size()) {
    fail();
    return {};
  }
  const Bytes taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::optional<Bytes> MessageReader::take_nullable() noexcept {
  const std::int32_t size = take_int32();
  if (failed_ || size == -1) return std::nullopt;
  if (size < 0) {
    fail();
    return std::nullopt;
  }
  return take_bytes(static_cast<std::size_t>(size));
}

std::size_t MessageReader::take_count(std::size_t least_bytes_each) noexcept {
  // Unsigned: PostgreSQL 15 allows 65,535 parameters in what the documents call an Int16.
  const std::size_t count = take_uint16();
  if (count * least_bytes_each > rest_.size()) {
    fail();
    return 0;
  }
  return count;
}

Result<> MessageReader::finish() const {
  if (failed_) return swizzle::fail(state::protocol_violation, "insufficient data left in message");
  if (!rest_.empty()) return swizzle::fail(state::protocol_violation, "invalid message format");
  return {};
}

}  // namespace swizzle::server
