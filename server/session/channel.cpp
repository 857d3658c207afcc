#include "server/session/channel.h"

#include <algorithm>
#include <new>
#include <utility>

namespace swizzle::server {
namespace {

Stop violation(Error error) {
  return Stop{Stop::Kind::protocol_violation, std::optional<Error>{std::move(error)}};
}

Readiness readiness_for(Transfer::State state) noexcept {
  return state == Transfer::State::wants_writable ? Readiness::writable : Readiness::readable;
}

}  // namespace

std::optional<Stop> Channel::interruption(WakeOn wake_on) const noexcept {
  if (interrupts_.end_reason() != EndReason::none) return Stop{Stop::Kind::end_requested, {}};
  if ((wake_on == WakeOn::cancel || wake_on == WakeOn::log) && interrupts_.cancel_requested()) {
    return Stop{Stop::Kind::cancel_requested, {}};
  }
  if (wake_on == WakeOn::news && interrupts_.has_news()) return Stop{Stop::Kind::news, {}};
  if (wake_on == WakeOn::log && interrupts_.has_log()) return Stop{Stop::Kind::log, {}};
  return std::nullopt;
}

bool Channel::wait_for_bytes(Readiness readiness, std::optional<TimePoint> deadline) {
  // An idle session holds no buffers.
  in_.release();
  out_.release();
  if (is_settled_) return waiter_.wait(readiness, deadline);
  const TimePoint soon = Runtime::current().now() + kSettleAfter;
  if (deadline && *deadline <= soon) return waiter_.wait(readiness, deadline);
  if (!waiter_.wait(readiness, soon)) {
    is_settled_ = true;
    waiter_.settle();
  }
  return true;
}

/// Reads to the end of a message for which there is no memory, because its sender reads the error
/// only then.
void Channel::skip(std::size_t bytes, std::optional<TimePoint> deadline) {
  for (;;) {
    const std::size_t here = std::min(bytes, in_.buffered().size());
    in_.consume(here);
    bytes -= here;
    if (bytes == 0) return;
    in_.release();
    if (!receive(deadline, WakeOn::end)) return;
  }
}

/// Returns nothing if there is no memory for the client's bytes: then only this client must go.
std::optional<MutableBytes> Channel::room_to_read() {
  try {
    return in_.room();
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::expected<void, Stop> Channel::receive(std::optional<TimePoint> deadline, WakeOn wake_on) {
  bool in_time = true;
  is_settled_ = false;
  // A client that has just been answered has not sent its next request yet: reading now would find
  // nothing. But bytes for which the last read had no room are not announced again. And under TLS
  // bytes may be inside OpenSSL already, where no wait sees them.
  bool try_first = !std::exchange(has_answered_, false) || may_hold_more_ || stream_.is_tls();
  for (;;) {
    Readiness readiness = Readiness::readable;
    if (std::exchange(try_first, true)) {
      const auto room = room_to_read();
      if (!room) {
        return std::unexpected{violation(Error{sqlstate::out_of_memory, "out of memory"})};
      }
      const Transfer transfer = stream_.read(*room);
      if (transfer.state == Transfer::State::moved) {
        in_.commit(transfer.bytes);
        may_hold_more_ = transfer.bytes == room->size();
        return {};
      }
      if (transfer.state == Transfer::State::closed) {
        return std::unexpected{Stop{Stop::Kind::peer_gone, {}}};
      }
      readiness = readiness_for(transfer.state);
    }
    if (auto stop = interruption(wake_on)) return std::unexpected{std::move(*stop)};
    if (!in_time) return std::unexpected{Stop{Stop::Kind::timed_out, {}}};
    in_time = wait_for_bytes(readiness, deadline);
  }
}

std::expected<Frame, Stop> Channel::next_frame(std::optional<TimePoint> deadline, WakeOn wake_on) {
  drop_previous_frame();
  for (;;) {
    auto scan = scan_frame(in_.buffered(), limits_);
    if (!scan) return std::unexpected{violation(std::move(scan).error())};
    if (scan->frame) {
      frame_bytes_ = scan->needed_bytes;
      return *scan->frame;
    }
    if (auto received = receive(deadline, wake_on); !received) {
      Stop stop = std::move(received).error();
      if (stop.kind == Stop::Kind::protocol_violation) skip(scan->needed_bytes, deadline);
      return std::unexpected{std::move(stop)};
    }
  }
}

std::expected<std::byte, Stop> Channel::first_byte(TimePoint deadline) {
  for (bool in_time = true;;) {
    std::byte byte{};
    const Transfer transfer = stream_.peek(byte);
    if (transfer.state == Transfer::State::moved) return byte;
    if (transfer.state == Transfer::State::closed) {
      return std::unexpected{Stop{Stop::Kind::peer_gone, {}}};
    }
    if (auto stop = interruption(WakeOn::end)) return std::unexpected{std::move(*stop)};
    if (!in_time) return std::unexpected{Stop{Stop::Kind::timed_out, {}}};
    in_time = wait_for_bytes(Readiness::readable, deadline);
  }
}

std::expected<Bytes, Stop> Channel::next_startup_packet(TimePoint deadline) {
  drop_previous_frame();
  for (;;) {
    auto scan = scan_startup(in_.buffered());
    if (!scan) return std::unexpected{violation(std::move(scan).error())};
    if (scan->packet) {
      frame_bytes_ = scan->needed_bytes;
      return *scan->packet;
    }
    if (auto received = receive(deadline, WakeOn::end); !received) {
      return std::unexpected{std::move(received).error()};
    }
  }
}

void Channel::flush() {
  std::optional<TimePoint> deadline;  // counts from the last progress
  while (!out_.empty()) {
    if (is_broken_) {
      out_.discard();
      return;
    }
    const Transfer transfer = stream_.write(out_.pending());
    if (transfer.state == Transfer::State::moved) {
      out_.consume(transfer.bytes);
      has_answered_ = true;
      deadline.reset();
      continue;
    }
    if (transfer.state == Transfer::State::closed || is_ending()) {
      is_broken_ = true;
      continue;
    }
    if (!deadline) deadline = Runtime::current().now() + send_timeout_;
    if (!waiter_.wait(readiness_for(transfer.state), deadline)) is_broken_ = true;
  }
}

bool Channel::accept_tls(const TlsContext& context, TimePoint deadline) {
  stream_.begin_tls(context);
  for (;;) {
    const Transfer transfer = stream_.continue_handshake();
    if (transfer.state == Transfer::State::moved) return true;
    if (transfer.state == Transfer::State::closed) return false;
    if (interruption(WakeOn::end)) return false;
    if (!waiter_.wait(readiness_for(transfer.state), deadline)) return false;
  }
}

}  // namespace swizzle::server
