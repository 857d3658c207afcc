// Start-up packets of unauthenticated peers.

#include "base/fuzzing/input.h"
#include "base/invariant.h"
#include "server/protocol/frame.h"
#include "server/session/startup_options.h"

namespace swizzle::server {
namespace {

void decode(Bytes bytes) {
  const auto scan = scan_startup(bytes);
  if (!scan || !scan->packet) return;
  INVARIANT(scan->needed_bytes <= bytes.size());
  const auto packet = decode_startup(*scan->packet);
  if (!packet) return;
  if (const auto* message = std::get_if<StartupMessage>(&*packet)) {
    static_cast<void>(session_options(*message));
    static_cast<void>(unknown_extensions(*message));
    static_cast<void>(negotiate(message->version));
  }
}

}  // namespace
}  // namespace swizzle::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::server::decode(swizzle::fuzzing::as_bytes_of(data, size));
  return 0;
}
