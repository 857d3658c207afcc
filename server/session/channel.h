#pragma once

#include <expected>
#include <optional>

#include "base/runtime/runtime.h"
#include "server/protocol/frame.h"
#include "server/protocol/receive_buffer.h"
#include "server/protocol/send_buffer.h"
#include "server/session/interrupts.h"
#include "server/session/socket_waiter.h"
#include "server/session/stream.h"

namespace swizzle::server {

/// Reason why no message came.
struct Stop {
  enum class Kind : std::uint8_t {
    peer_gone,
    timed_out,
    end_requested,     ///< Interrupts::end_reason() has the reason
    cancel_requested,  ///< only for waits that allow it
    news,              ///< only for waits that allow it: a notification for the client
    log,               ///< only for waits that allow it: possibly more changes to send
    protocol_violation,
  };
  Kind kind = Kind::peer_gone;
  /// For protocol_violation.
  std::optional<Error> error;
};

/// Events that may end a wait for the client besides its bytes and the end of the session.
enum class WakeOn : std::uint8_t {
  end,
  cancel,
  news,
  log,  ///< and cancel
};

/// One client's connection: whole messages in, buffered messages out. Waits through the
/// SocketWaiter; everything else is work on memory. Belongs to one fiber.
class Channel {
 public:
  /// Results are written whenever this much has gathered, so this, plus one row, is the memory for
  /// a client that does not read.
  static constexpr std::size_t kSendBytes = std::size_t{64} << 10U;

  Channel(Stream& stream, SocketWaiter& waiter, const Interrupts& interrupts,
          BufferPool& buffers) noexcept
      : stream_(stream), waiter_(waiter), interrupts_(interrupts), in_(buffers), out_(buffers) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() = default;

  /// Returns the next message, valid until the next call. Reads first, and waits only if that finds
  /// nothing.
  std::expected<Frame, Stop> next_frame(std::optional<TimePoint> deadline, WakeOn wake_on);
  /// Waits for the first byte, which stays in the socket. Pre: nothing has been received.
  std::expected<std::byte, Stop> first_byte(TimePoint deadline);
  /// Returns the next start-up packet, valid until the next call.
  std::expected<Bytes, Stop> next_startup_packet(TimePoint deadline);
  /// True if there are bytes after the last packet, from a client that has not waited for an
  /// answer.
  [[nodiscard]] bool has_unread_bytes() const noexcept {
    return in_.buffered().size() > frame_bytes_;
  }

  [[nodiscard]] SendBuffer& out() noexcept { return out_; }
  /// Writes everything. Waits for the client without limit, or for `send_timeout` without any
  /// progress. Discards the bytes if the peer has closed the connection; later calls do so too.
  void flush();
  void flush_if_full() {
    if (out_.size() >= kSendBytes) flush();
  }
  /// The one-byte answers before the first message.
  void put_raw(char byte) { out_.put_raw(byte); }
  [[nodiscard]] bool is_ending() const noexcept {
    return interrupts_.end_reason() != EndReason::none;
  }
  [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
  /// Before a login has succeeded, the limits refuse long messages.
  void set_limits(FrameLimits limits) noexcept { limits_ = limits; }
  void set_send_timeout(Duration timeout) noexcept { send_timeout_ = timeout; }

  /// After this much silence a session counts as idle.
  static constexpr Duration kSettleAfter = std::chrono::seconds{2};

  /// Runs the TLS handshake. False: it failed or took too long.
  bool accept_tls(const TlsContext& context, TimePoint deadline);
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

 private:
  std::expected<void, Stop> receive(std::optional<TimePoint> deadline, WakeOn wake_on);
  std::optional<MutableBytes> room_to_read();
  void skip(std::size_t bytes, std::optional<TimePoint> deadline);
  /// Waits for the socket. False: `deadline` passed.
  bool wait_for_bytes(Readiness readiness, std::optional<TimePoint> deadline);
  [[nodiscard]] std::optional<Stop> interruption(WakeOn wake_on) const noexcept;
  void drop_previous_frame() noexcept {
    in_.consume(frame_bytes_);
    frame_bytes_ = 0;
  }

  Stream& stream_;
  SocketWaiter& waiter_;
  const Interrupts& interrupts_;
  ReceiveBuffer in_;
  SendBuffer out_;
  FrameLimits limits_ = kLimitsBeforeLogin;
  /// Bytes of `in_` that the last frame handed out occupies.
  std::size_t frame_bytes_ = 0;
  Duration send_timeout_ = std::chrono::minutes{15};
  bool is_broken_ = false;
  /// True if something was written since the last read: the client has yet to react.
  bool has_answered_ = false;
  /// True if the last read filled all of its room.
  bool may_hold_more_ = false;
  /// True if the current wait is a long one already.
  bool is_settled_ = false;
};

}  // namespace swizzle::server
