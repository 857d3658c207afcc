#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle::server {

struct ProtocolVersion {
  std::uint16_t major = 3;
  std::uint16_t minor = 0;
  friend constexpr auto operator<=>(const ProtocolVersion&, const ProtocolVersion&) = default;
};
/// Unlike 3.0, 3.2 allows cancel keys longer than four bytes. There is no 3.1.
inline constexpr ProtocolVersion kNewestProtocol{3, 2};

struct SslRequest {};
struct GssEncryptionRequest {};
struct CancelRequest {
  std::uint32_t backend_id = 0;
  Bytes key;
};
/// Views point into the packet.
struct StartupMessage {
  ProtocolVersion version;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;

  /// Empty if absent.
  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
};
using StartupPacket = std::variant<SslRequest, GssEncryptionRequest, CancelRequest, StartupMessage>;

/// Decodes a packet as scan_startup() delivers it. 08P01 for malformed ones, 0A000 for another
/// major version.
Result<StartupPacket> decode_startup(Bytes packet);

/// Returns the protocol version for a client that asks for `wanted`.
[[nodiscard]] ProtocolVersion negotiate(ProtocolVersion wanted) noexcept;

}  // namespace swizzle::server
