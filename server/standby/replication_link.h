#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "server/session/descriptor.h"

struct pg_conn;
struct pg_result;

namespace swizzle::server {

/// Ends every wait of a ReplicationLink, from another thread or from a signal handler.
class LinkInterrupt {
 public:
  LinkInterrupt();
  void raise() noexcept;
  /// Ends the wait for a message that is in progress, or the next one.
  void nudge() noexcept;
  /// Returns true once after each nudge().
  [[nodiscard]] bool take_nudge() const noexcept;
  [[nodiscard]] int nudge_descriptor() const noexcept { return nudges_.get(); }
  [[nodiscard]] bool is_raised() const noexcept { return is_raised_.load(); }
  /// Sleeps; returns early once raised.
  void wait_for(Duration longest) const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  Descriptor event_;
  Descriptor nudges_;
  std::atomic<bool> is_raised_{false};
};

/// A client's connection for the replication protocol, by libpq. Of one thread; blocks it. Within a
/// statement every wait throws what the statement is to end with, and the link is of no use then.
class ReplicationLink {
 public:
  ReplicationLink(const ReplicationLink&) = delete;
  ReplicationLink& operator=(const ReplicationLink&) = delete;
  ~ReplicationLink();

  /// Parameters of a connection, of which later ones win; "dbname" may be a connection string.
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  /// Connects. `peer` is the noun of the other end in later messages: "the primary". 08006, with
  /// libpq's message, when it cannot be reached.
  static Result<std::unique_ptr<ReplicationLink>> connect(const Parameters& parameters,
                                                          const LinkInterrupt& interrupt,
                                                          std::string peer);

  /// The other end, as pg_stat_wal_receiver shows it.
  struct Address {
    std::string host;
    int port = 0;
    std::string conninfo;  ///< without passwords
  };
  [[nodiscard]] Address address() const;
  /// Version of the other end, such as 150004.
  [[nodiscard]] int version() const;
  /// True if the other end has asked for a password and got it.
  [[nodiscard]] bool has_used_password() const;

  struct ClearResult {
    void operator()(pg_result* result) const noexcept;
  };
  using Answer = std::unique_ptr<pg_result, ClearResult>;
  /// Runs a command and returns its result, if it has the status `expected` of libpq.
  Result<Answer> run(const std::string& command, int expected);
  /// Begins a stream by a command whose result has the status `expected`. The error is the other
  /// end's, as libpq prints it.
  Result<> start(const std::string& command, int expected);
  /// Runs a command or a statement; returns its rows, if it has any. Errors as above.
  using Row = std::vector<std::optional<std::string>>;
  Result<std::vector<Row>> ask(const std::string& command);

  enum class Arrival : std::uint8_t {
    message,
    none,  ///< nothing in that time, or interrupted, or nudged
    end,   ///< the stream has ended in good order
  };
  struct Received {
    Arrival arrival = Arrival::none;
    Bytes bytes;  ///< valid until the next call
  };
  /// Waits for a message; zero: only takes what is there.
  Result<Received> receive(Duration longest);
  Result<> send(Bytes message);

 private:
  ReplicationLink(pg_conn* connection, const LinkInterrupt& interrupt, std::string peer)
      : connection_(connection), interrupt_(interrupt), peer_(std::move(peer)) {}
  Result<> finish_connecting();
  /// Waits for the result of the command that was sent.
  Result<Answer> take_answer(std::string_view what);
  [[nodiscard]] Error error_of(const pg_result* result, std::string_view what) const;
  [[nodiscard]] Error lost(std::string_view what) const;
  /// False: nothing came in that time, or for a while.
  Result<bool> await(short events, Duration longest) const;

  pg_conn* connection_;
  const LinkInterrupt& interrupt_;
  std::string peer_;
  char* buffer_ = nullptr;
};

}  // namespace swizzle::server
