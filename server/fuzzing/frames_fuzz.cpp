// A client's stream after its login: frames and their payloads.

#include "base/fuzzing/input.h"
#include "base/invariant.h"
#include "server/protocol/frame.h"
#include "server/protocol/frontend_messages.h"

namespace swizzle::server {
namespace {

/// Runs every decoder on the payload, whatever its kind.
void decode_as_anything(ListDecoder& lists, Bytes payload) {
  static_cast<void>(decode_query(payload));
  static_cast<void>(decode_describe(payload));
  static_cast<void>(decode_close(payload));
  static_cast<void>(decode_execute(payload));
  static_cast<void>(decode_copy_fail(payload));
  static_cast<void>(decode_empty(payload));
  static_cast<void>(decode_sasl_initial(payload));
  if (const auto parse = lists.decode_parse(payload)) {
    INVARIANT(parse->parameter_types.size() * 4 <= payload.size());
  }
  static_cast<void>(lists.decode_function_call(payload));
  if (const auto bind = lists.decode_bind(payload)) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < bind->parameters.size(); ++i) {
      static_cast<void>(bind->parameter_format(i));
      if (bind->parameters[i]) bytes += bind->parameters[i]->size();
    }
    INVARIANT(bytes <= payload.size());
  }
  lists.shrink();
}

void decode(Bytes bytes) {
  ListDecoder lists;
  for (const FrameLimits& limits : {FrameLimits{}, kLimitsBeforeLogin}) {
    Bytes rest = bytes;
    for (;;) {
      const auto scan = scan_frame(rest, limits);
      if (!scan || !scan->frame) break;
      INVARIANT(scan->needed_bytes >= kFrameHeaderBytes && scan->needed_bytes <= rest.size());
      decode_as_anything(lists, scan->frame->payload);
      rest = rest.subspan(scan->needed_bytes);
    }
  }
}

}  // namespace
}  // namespace swizzle::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::server::decode(swizzle::fuzzing::as_bytes_of(data, size));
  return 0;
}
