#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {

/// SQLSTATE of a link to a publisher that fails.
inline constexpr SqlState kConnectionFailure{"08006"};

/// A connection to a publisher, opened for logical replication. Of one thread, which it blocks. Its
/// errors are the publisher's; 08006: the connection is lost, or the caller is to stop.
class PublisherLink {
 public:
  PublisherLink() = default;
  PublisherLink(const PublisherLink&) = delete;
  PublisherLink& operator=(const PublisherLink&) = delete;
  virtual ~PublisherLink() = default;

  using Row = std::vector<std::optional<std::string>>;
  /// Runs a statement or a command of the replication protocol; returns its rows.
  virtual Result<std::vector<Row>> ask(const std::string& statement) = 0;
  /// Runs a statement that sends a stream: COPY … TO STDOUT, START_REPLICATION.
  virtual Result<> start(const std::string& statement) = 0;

  enum class Arrival : std::uint8_t {
    message,
    none,  ///< nothing in that time, or the caller is to stop
    end,   ///< the stream has ended in good order
  };
  struct Received {
    Arrival arrival = Arrival::none;
    Bytes bytes;  ///< valid until the next call
  };
  /// Waits for the stream's next message; zero: only takes what is there.
  virtual Result<Received> receive(Duration longest) = 0;
  virtual Result<> send(Bytes message) = 0;
  /// Version of the publisher, such as 150004.
  [[nodiscard]] virtual int version() const = 0;
};

struct PublisherTarget {
  std::string conninfo;
  std::string application_name;
  /// 2F003 if the publisher lets the client in without asking for a password.
  bool must_use_password = false;
};

/// The server's part of subscriptions. Thread-safe, but for connect(), which blocks.
class PublisherDoor {
 public:
  PublisherDoor() = default;
  PublisherDoor(const PublisherDoor&) = delete;
  PublisherDoor& operator=(const PublisherDoor&) = delete;
  virtual ~PublisherDoor() = default;

  virtual Result<std::unique_ptr<PublisherLink>> connect(const PublisherTarget& target) = 0;
  /// 42601 for a connection string that is none; 2F003 if it must have a password and has none.
  virtual Result<> check(const std::string& conninfo, bool must_have_password) = 0;
  /// Ends all waits of its links, now and later.
  virtual void stop() noexcept = 0;
  [[nodiscard]] virtual bool is_stopping() const noexcept = 0;
  /// Writes to the server's log.
  virtual void log(const Diagnostic& diagnostic) = 0;
};

class Database;

/// A worker's subscription.
struct ApplyJob {
  std::uint32_t database = 0;
  std::uint32_t subscription = 0;
  std::uint32_t table = 0;  ///< that it copies; 0: none, it applies the changes of the others
  std::int32_t pid = 0;     ///< number of its session
};

enum class ApplyEnd : std::uint8_t {
  over,     ///< the subscription is dropped or disabled, the table is copied, or it was to stop
  changed,  ///< its definition has changed: to be started again at once
  failed,   ///< to be started again after a pause; the error is in the log
};

/// Returns the enabled subscriptions of all databases without a worker, and then tables that are to
/// be copied and have none. Its caller starts their workers.
std::vector<ApplyJob> find_apply_jobs(Database& database);
/// True if a subscription was made or changed in the last moments.
bool have_subscriptions_changed(Database& database);
/// Makes the workers of all subscriptions end.
void stop_apply_workers(Database& database);
/// Applies the changes of a subscription until it is dropped, disabled or changed, or the door is
/// to stop, or an error; or copies a table. On a thread of its own.
ApplyEnd run_apply_worker(Database& database, PublisherDoor& door, const ApplyJob& job);

}  // namespace swizzle::sql
