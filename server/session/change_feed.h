#pragma once

#include <functional>
#include <optional>

#include "server/session/channel.h"
#include "sql-lite-frontend/replication.h"

namespace swizzle::server {

/// Writes a copy of the server's directory into a file system.
using CopyServer = std::function<Result<>(FileSystem& files, const RecoveryObserver& observer)>;

/// Sends a slot's changes to the client of a START_REPLICATION, and hears how far it is, until
/// either side ends that: the copy-both part of the protocol.
class ChangeFeed final : public sql::ChangeSender {
 public:
  /// An empty `copy_server`: there is no directory to copy.
  ChangeFeed(Channel& channel, Interrupts& interrupts, const CopyServer& copy_server) noexcept
      : channel_(channel), interrupts_(interrupts), copy_server_(copy_server) {}

  void send(sql::ChangeStream& stream) override;
  Result<> copy_server(FileSystem& files, const RecoveryObserver& observer) override;
  /// Set when the conversation cannot go on.
  [[nodiscard]] const std::optional<Stop>& stop() const noexcept { return stop_; }

 private:
  /// Waits for a message of the client until `deadline`, and takes it. False: none has come.
  bool listen(sql::ChangeStream& stream, TimePoint deadline, WakeOn wake_on = WakeOn::end);
  /// Until there may be more to send, the client says something, or it is time to say something.
  void wait_for_more(sql::ChangeStream& stream);
  void take(sql::ChangeStream& stream, const Frame& frame);
  void take_status(sql::ChangeStream& stream, Bytes payload);
  /// Sends a part of the pending changes; returns false if there are none.
  bool send_some(sql::ChangeStream& stream);
  /// Waits until the client has confirmed the end of the stream.
  void finish_timeline(sql::ChangeStream& stream);
  void send_keepalive(Lsn position, bool wants_reply);
  /// Sends one where the client should hear of a new position, or has been silent for long.
  void keep_alive(sql::ChangeStream& stream);

  Channel& channel_;
  Interrupts& interrupts_;
  const CopyServer& copy_server_;
  std::optional<Stop> stop_;
  bool is_over_ = false;
  sql::ChangeStream::Progress progress_;
  TimePoint heard_at_{};
  TimePoint told_at_{};
  Lsn told_ = Lsn::none;
  bool awaits_reply_ = false;
  Duration timeout_{};
};

}  // namespace swizzle::server
