#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session.h"

namespace swizzle {
class Transaction;
}

namespace swizzle::sql {

/// Changes for a slot's reader, as messages of an output plugin, and the reader's position. Of one
/// session; parks. Its errors are SqlErrors.
class ChangeStream {
 public:
  ChangeStream() = default;
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;
  virtual ~ChangeStream() = default;

  struct Message {
    Lsn lsn = Lsn::none;
    std::string bytes;
  };
  /// Returns the next message. Nothing: there is no more in the log at present, or a long stretch
  /// of it held no message and other fibers should run (is_at_end() tells). Throws when the session
  /// is to end or its request was cancelled.
  virtual std::optional<Message> next() = 0;
  [[nodiscard]] virtual bool is_at_end() const noexcept = 0;
  /// Position before which all commits have been handed out.
  [[nodiscard]] virtual Lsn position() const noexcept = 0;

  /// Returns true if there is no more at present. Then another thread calls `wake` once, as soon as
  /// there may be. `wake` is that of the first call, and callable for as long as the stream lives.
  virtual bool awaits_more(const std::function<void()>& wake) = 0;

  /// The reader has received all transactions that committed before `lsn`.
  virtual void confirm(Lsn lsn) = 0;
  [[nodiscard]] virtual Lsn confirmed() const noexcept = 0;

  /// The reader's progress, for pg_stat_replication.
  struct Progress {
    Lsn sent = Lsn::none;
    // As the reader says, and when it did (microseconds since 2000).
    Lsn written = Lsn::none;
    Lsn flushed = Lsn::none;
    Lsn replayed = Lsn::none;
    std::int64_t replied_at = 0;
  };
  virtual void show(const Progress& progress) = 0;
  /// wal_sender_timeout; zero: none.
  [[nodiscard]] virtual Duration timeout() const = 0;
};

/// Sends a slot's changes to the client, after START_REPLICATION.
class ChangeSender {
 public:
  ChangeSender() = default;
  ChangeSender(const ChangeSender&) = delete;
  ChangeSender& operator=(const ChangeSender&) = delete;
  virtual ~ChangeSender() = default;
  /// Returns when the client wants no more, or is gone. Exceptions of the stream pass.
  virtual void send(ChangeStream& stream) = 0;
};

struct ReplicationCommand;

/// The commands of a session that was opened with replication=database. Belongs to its session's
/// fiber, and goes before the session.
class ReplicationCommands {
 public:
  explicit ReplicationCommands(Session& session);
  ReplicationCommands(const ReplicationCommands&) = delete;
  ReplicationCommands& operator=(const ReplicationCommands&) = delete;
  ~ReplicationCommands();

  /// Whether the text begins as a command does.
  static bool is_command(std::string_view text) noexcept;
  /// Runs it. Results, and the tag at the end, go to the sink.
  Outcome run(std::string_view text, ResultSink& sink, ChangeSender& sender);
  /// Releases the exported snapshot, because the next request has come.
  void end_export() noexcept;

 private:
  void identify(ResultSink& sink);
  void create(const ReplicationCommand& command, ResultSink& sink);
  void start(const ReplicationCommand& command, ChangeSender& sender);

  Session& session_;
  /// Shared, so that includers of this header do not need the definition of Transaction.
  std::shared_ptr<Transaction> exported_;
  std::string export_name_;
};

}  // namespace swizzle::sql
