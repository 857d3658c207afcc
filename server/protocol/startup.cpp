#include "server/protocol/startup.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "server/protocol/message_reader.h"
#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

// Request codes look like protocol version 1234.x, which will never exist.
constexpr std::uint32_t kCancelRequestCode = (1234U << 16U) | 5678U;
constexpr std::uint32_t kSslRequestCode = (1234U << 16U) | 5679U;
constexpr std::uint32_t kGssEncryptionRequestCode = (1234U << 16U) | 5680U;

constexpr std::size_t kMinCancelKeyBytes = 4;
constexpr std::size_t kMaxCancelKeyBytes = 256;

Result<StartupPacket> decode_cancel(MessageReader reader) {
  CancelRequest request;
  request.backend_id = reader.take_uint32();
  request.key = reader.take_rest();
  if (reader.failed() || request.key.size() < kMinCancelKeyBytes ||
      request.key.size() > kMaxCancelKeyBytes) {
    return fail(state::protocol_violation, "invalid length of query cancel packet");
  }
  return request;
}

Result<StartupPacket> decode_parameters(ProtocolVersion version, MessageReader reader) {
  StartupMessage message;
  message.version = version;
  for (;;) {
    const std::string_view name = reader.take_string();
    if (name.empty()) break;
    const std::string_view value = reader.take_string();
    message.parameters.emplace_back(name, value);
  }
  if (!reader.finish()) {
    return fail(state::protocol_violation,
                "invalid startup packet layout: expected terminator as last byte");
  }
  for (const auto& [name, value] : message.parameters) {
    for (const std::string_view text : {std::string_view{name}, std::string_view{value}}) {
      const std::size_t valid = valid_utf8(text);
      if (valid != text.size())
        return fail(state::character_not_in_repertoire, invalid_utf8_message(text.substr(valid)));
    }
  }
  return message;
}

}  // namespace

std::string_view StartupMessage::parameter(std::string_view name) const noexcept {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

Result<StartupPacket> decode_startup(Bytes packet) {
  MessageReader reader{packet};
  const std::uint32_t code = reader.take_uint32();
  if (reader.failed()) return fail(state::protocol_violation, "incomplete startup packet");
  switch (code) {
    case kCancelRequestCode:
      return decode_cancel(reader);
    case kSslRequestCode:
      RETURN_IF_ERROR(reader.finish());
      return SslRequest{};
    case kGssEncryptionRequestCode:
      RETURN_IF_ERROR(reader.finish());
      return GssEncryptionRequest{};
    default:
      break;
  }
  const ProtocolVersion version{static_cast<std::uint16_t>(code >> 16U),
                                static_cast<std::uint16_t>(code & 0xFFFFU)};
  if (version.major != 3) {
    return fail(sqlstate::feature_not_supported,
                fmt::format("unsupported frontend protocol {}.{}: server supports 3.0 to 3.2",
                            version.major, version.minor));
  }
  return decode_parameters(version, reader);
}

ProtocolVersion negotiate(ProtocolVersion wanted) noexcept {
  if (wanted >= kNewestProtocol) return kNewestProtocol;
  return ProtocolVersion{3, 0};
}

}  // namespace swizzle::server
