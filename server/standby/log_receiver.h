#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/ids.h"
#include "base/result.h"
#include "server/standby/primary_link.h"
#include "server/standby/standby_settings.h"
#include "storage/standby/following.h"
#include "storage/standby/standby.h"

namespace swizzle::server {

/// Feeds a standby with its primary's log: a thread that receives, reconnecting for as long as it
/// takes, and one that redoes.
class LogReceiver {
 public:
  /// Called by the receiver's threads.
  struct Hooks {
    /// Following cannot go on: take_error() has the reason. Called once.
    std::function<void()> failed;
    /// By the thread that redoes, at the start and after each step. May be empty.
    std::function<Result<>()> stepped;
    /// Asked before each step. May be empty.
    std::function<bool()> is_paused;
  };
  LogReceiver(Standby& standby, StandbySettings settings, Hooks hooks);
  LogReceiver(const LogReceiver&) = delete;
  LogReceiver& operator=(const LogReceiver&) = delete;
  /// Ends both threads.
  ~LogReceiver();

  /// Returns the error once; nothing if there is none.
  std::optional<Error> take_error();

  struct Status {
    bool is_connected = false;
    Lsn primary_end = Lsn::none;  ///< as the primary said last
    Lsn received = Lsn::none;
    Lsn durable = Lsn::none;
    Lsn redone = Lsn::none;
    Lsn replayed = Lsn::none;
    std::uint32_t timeline = 1;
    /// Time since a message of the primary's; none before the first.
    std::optional<Duration> heard_before;
  };
  [[nodiscard]] Status status() const;

  /// The connection, while there is one. Times are microseconds since 1970; 0: none is known.
  struct Connection {
    Lsn started_at = Lsn::none;
    std::uint32_t started_timeline = 0;
    std::int64_t sent_us = 0;   ///< of the last message, by the primary's clock
    std::int64_t heard_us = 0;  ///< when it came
    Lsn latest_end = Lsn::none;
    std::int64_t latest_end_us = 0;
    std::string slot;
    PrimaryLink::Address address;
  };
  [[nodiscard]] std::optional<Connection> connection() const;

 private:
  void receive();
  void redo();
  Result<> redo_step();
  [[nodiscard]] bool is_due(TimePoint due) const;
  /// From connecting to the end of the connection.
  Result<> follow_once();
  Result<> follow_history(PrimaryLink& link);
  /// Takes what the archive has. Returns true if that was anything.
  bool restore();
  Result<> stream(PrimaryLink& link);
  /// Takes what has come, without waiting for more.
  Result<bool> take_messages(PrimaryLink& link);
  Result<> take(PrimaryLink& link, Bytes message);
  Result<> take_log(Bytes message);
  Result<> report(PrimaryLink& link, bool wants_reply);
  /// Notes a message's time and the log's end that it tells.
  void note_message(Lsn end, Bytes sent_at);
  void give_up(Error error);

  Standby& standby_;
  Following following_;
  const StandbySettings settings_;
  const Hooks hooks_;
  LinkInterrupt interrupt_;

  mutable std::mutex mutex_;  ///< protects error_ and connection_
  std::optional<Error> error_;
  std::optional<Connection> connection_;
  std::atomic<bool> is_connected_{false};
  std::atomic<std::uint64_t> primary_end_{0};
  std::atomic<std::int64_t> heard_at_{0};  ///< nanoseconds of the clock; 0: never
  // Of the thread that receives.
  TimePoint told_at_{};
  Lsn told_durable_ = Lsn::none;
  Lsn told_replayed_ = Lsn::none;
  bool must_report_ = false;

  std::thread receiving_;
  std::thread redoing_;
};

}  // namespace swizzle::server
