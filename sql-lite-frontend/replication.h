#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/types/memory_account.h"
#include "storage/options.h"

namespace swizzle {
class FileSystem;
class Transaction;
}  // namespace swizzle

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
    /// End of the log, as the client is told; none: lsn.
    Lsn end = Lsn::none;
  };
  /// Returns the next message. Nothing: there is no more in the log at present, or a long stretch
  /// of it held no message and other fibers should run (is_at_end() tells). Throws when the session
  /// is to end or its request was cancelled.
  virtual std::optional<Message> next() = 0;
  [[nodiscard]] virtual bool is_at_end() const noexcept = 0;
  /// Position before which all commits have been handed out.
  [[nodiscard]] virtual Lsn position() const noexcept = 0;
  /// True if there will never be more: the timeline that is sent has ended.
  [[nodiscard]] virtual bool is_over() const noexcept { return false; }

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
  /// Returns when the client ends the stream or disconnects. Passes exceptions of the stream on.
  virtual void send(ChangeStream& stream) = 0;
  /// Writes a copy of the server's directory into `files`, for a server that will follow. 0A000:
  /// there is no server.
  virtual Result<> copy_server(FileSystem& files, const RecoveryObserver& observer) = 0;
};

struct ReplicationCommand;

/// The commands of a session that was opened with replication=database or replication=true. Belongs
/// to its session's fiber, and goes before the session.
class ReplicationCommands {
 public:
  enum class For : std::uint8_t {
    readers_of_changes,  ///< replication=database: SQL, too
    followers,           ///< replication=true
  };
  ReplicationCommands(Session& session, For whom);
  ReplicationCommands(const ReplicationCommands&) = delete;
  ReplicationCommands& operator=(const ReplicationCommands&) = delete;
  ~ReplicationCommands();

  /// True if run() is to have the text: it begins as a command does, or is SQL that a session with
  /// replication=true refuses.
  [[nodiscard]] bool takes(std::string_view text) const noexcept;
  /// Runs it. Results, and the tag at the end, go to the sink.
  Outcome run(std::string_view text, ResultSink& sink, ChangeSender& sender);
  /// Releases the exported snapshot, because the next request has come.
  void end_export() noexcept;

 private:
  void identify(ResultSink& sink);
  void send_history(const ReplicationCommand& command, ResultSink& sink);
  void show_slot(const ReplicationCommand& command, ResultSink& sink);
  void create_physical(const ReplicationCommand& command, ResultSink& sink);
  void start_physical(const ReplicationCommand& command, ResultSink& sink, ChangeSender& sender);
  void send_base_copy(ResultSink& sink, ChangeSender& sender);
  void note_page_lsns(const ReplicationCommand& command);
  void create(const ReplicationCommand& command, ResultSink& sink);
  void start(const ReplicationCommand& command, ChangeSender& sender);

  Session& session_;
  const For for_;
  /// Shared, so that includers of this header do not need the definition of Transaction.
  std::shared_ptr<Transaction> exported_;
  /// Of the pages that the next base copy leaves out where they have not changed.
  std::vector<Lsn> page_lsns_;
  MemoryShare page_lsns_share_;
  std::string export_name_;
};

}  // namespace swizzle::sql
