#include "server/protocol/frame.h"

#include <fmt/format.h>

#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

/// Returns the limit for messages of this kind, or nothing if there is no such kind.
std::optional<std::uint32_t> limit_of(FrontendKind kind, const FrameLimits& limits) noexcept {
  switch (kind) {
    case FrontendKind::bind:
    case FrontendKind::copy_data:
    case FrontendKind::function_call:
    case FrontendKind::parse:
    case FrontendKind::query:
      return limits.large_bytes;
    case FrontendKind::close:
    case FrontendKind::copy_done:
    case FrontendKind::copy_fail:
    case FrontendKind::describe:
    case FrontendKind::execute:
    case FrontendKind::flush:
    case FrontendKind::password:
    case FrontendKind::sync:
    case FrontendKind::terminate:
      return limits.small_bytes;
  }
  return std::nullopt;
}

}  // namespace

Result<FrameScan> scan_frame(Bytes buffered, const FrameLimits& limits) {
  if (buffered.empty()) return FrameScan{};
  const auto kind = static_cast<FrontendKind>(buffered[0]);
  // The kind is checked before the length has arrived: garbage is refused at its first byte.
  const std::optional<std::uint32_t> limit = limit_of(kind, limits);
  if (!limit) {
    return fail(state::protocol_violation, fmt::format("invalid frontend message type {}",
                                                       std::to_integer<unsigned>(buffered[0])));
  }
  if (buffered.size() < kFrameHeaderBytes) return FrameScan{};
  const auto length = load_big_endian<std::uint32_t>(buffered.data() + 1);
  if (length < 4 || length > *limit) {
    return fail(state::protocol_violation,
                fmt::format("invalid message length {} for message type {}", length,
                            static_cast<char>(buffered[0])));
  }
  FrameScan scan;
  scan.needed_bytes = std::size_t{1} + length;
  if (buffered.size() >= scan.needed_bytes) {
    scan.frame = Frame{kind, buffered.subspan(kFrameHeaderBytes, length - 4)};
  }
  return scan;
}

Result<StartupScan> scan_startup(Bytes buffered) {
  StartupScan scan;
  if (buffered.size() < scan.needed_bytes) return scan;
  const auto length = load_big_endian<std::uint32_t>(buffered.data());
  if (length < kMinStartupBytes || length > kMaxStartupBytes) {
    return fail(state::protocol_violation, "invalid length of startup packet");
  }
  scan.needed_bytes = length;
  if (buffered.size() >= length) scan.packet = buffered.subspan(4, length - 4);
  return scan;
}

}  // namespace swizzle::server
