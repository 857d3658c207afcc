#pragma once

#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "server/protocol/message_kind.h"

namespace swizzle::server {

/// One message: its kind and the bytes after the length word. Points into the receive buffer.
struct Frame {
  FrontendKind kind;
  Bytes payload;
};

/// Limits of a peer's messages, and so of the memory that it can make us use.
struct FrameLimits {
  /// Query, Parse, Bind, CopyData, FunctionCall. PostgreSQL's own limit is 1 GB.
  std::uint32_t large_bytes = std::uint32_t{256} << 20U;
  /// All other messages are short.
  std::uint32_t small_bytes = 10'000;
};
inline constexpr FrameLimits kLimitsBeforeLogin{10'000, 10'000};

inline constexpr std::size_t kFrameHeaderBytes = 5;
inline constexpr std::size_t kMaxStartupBytes = 10'000;
/// Length, then a protocol version or request code.
inline constexpr std::size_t kMinStartupBytes = 8;

/// The message at the front of the receive buffer.
struct FrameScan {
  /// Set when the whole message has arrived.
  std::optional<Frame> frame;
  /// The size of the message with its header, if the header is complete; else the header's size.
  std::size_t needed_bytes = kFrameHeaderBytes;
};

/// Parses the front of `buffered`. 08P01 for an unknown kind, a length below 4 or above the limit
/// of its kind: the stream cannot be resynchronised and the connection must end.
Result<FrameScan> scan_frame(Bytes buffered, const FrameLimits& limits);

struct StartupScan {
  std::optional<Bytes> packet;  ///< without the length word
  std::size_t needed_bytes = 4;
};

/// The same for the packets before the first typed message. A peer of another protocol (HTTP, say)
/// claims an absurd length and gets 08P01 before anything is allocated.
Result<StartupScan> scan_startup(Bytes buffered);

}  // namespace swizzle::server
