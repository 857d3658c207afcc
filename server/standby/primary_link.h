#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "server/session/descriptor.h"

struct pg_conn;
struct pg_result;

namespace swizzle::server {

/// Ends every wait of a PrimaryLink, from another thread or from a signal handler.
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

/// A replication connection to another server of ours, by libpq. Of one thread; blocks it.
class PrimaryLink {
 public:
  /// 08006 when the server cannot be reached, 22023 for a connection string that is none.
  static Result<std::unique_ptr<PrimaryLink>> connect(const std::string& conninfo,
                                                      const LinkInterrupt& interrupt);
  PrimaryLink(const PrimaryLink&) = delete;
  PrimaryLink& operator=(const PrimaryLink&) = delete;
  ~PrimaryLink();

  /// The other end, as pg_stat_wal_receiver shows it.
  struct Address {
    std::string host;
    int port = 0;
    std::string conninfo;  ///< without passwords
  };
  [[nodiscard]] Address address() const;

  struct System {
    std::uint64_t id = 0;
    std::uint32_t timeline = 1;
    Lsn durable = Lsn::none;
  };
  Result<System> identify();
  /// The text of its history file.
  Result<std::string> history(std::uint32_t timeline);
  /// A physical slot that keeps the log from now on.
  Result<> create_slot(const std::string& name);
  /// Begins a stream: messages come by receive(). `slot` may be empty.
  Result<> start_log(const std::string& slot, Lsn from, std::uint32_t timeline);
  Result<> start_base_copy();
  /// Tells which pages need not be copied: their LSNs, from that number on.
  Result<> tell_page_lsns(std::uint64_t first_page, std::span<const Lsn> lsns);

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
  struct ClearResult {
    void operator()(pg_result* result) const noexcept;
  };
  using Answer = std::unique_ptr<pg_result, ClearResult>;

  PrimaryLink(pg_conn* connection, const LinkInterrupt& interrupt)
      : connection_(connection), interrupt_(interrupt) {}
  Result<> finish_connecting();
  Result<Answer> run(const std::string& command, int expected);
  [[nodiscard]] Error error_of(const pg_result* result, std::string_view what) const;
  [[nodiscard]] Error lost(std::string_view what) const;
  /// False: nothing came in that time.
  Result<bool> await(short events, Duration longest) const;

  pg_conn* connection_;
  const LinkInterrupt& interrupt_;
  char* buffer_ = nullptr;
};

}  // namespace swizzle::server
