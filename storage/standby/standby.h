#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "base/runtime/runtime.h"

namespace swizzle {

class Engine;
struct EngineOptions;

/// Questions of redo to the layer whose sessions read a standby. Called by the thread that redoes.
struct StandbyReaders {
  /// How long a step may wait for readers; none: for as long as it takes.
  std::function<std::optional<Duration>()> patience;
  /// Ends what keeps the step waiting. Called again and again until that has left the gate.
  std::function<void()> cancel;
  /// The readers' state is another one: transactions that have changed these trees may be
  /// committed. Nobody else is inside the gate.
  std::function<Result<>(const std::set<TreeId>& changed)> moved;
};

/// A database that follows another one's log: what Engine is, before a promotion.
///
/// One thread receives: it appends the log's bytes. Another one redoes: it takes the pages forward,
/// a stretch of log at a time, and moves the place from which a restart would have to recover, so
/// that a promotion has little to do. What was not committed is undone after the promotion, as
/// after a crash.
class Standby {
 public:
  /// The most log that one step redoes.
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{32} << 20U;
  /// The same while readers wait for each step.
  static constexpr std::uint64_t kMostWithReaders = std::uint64_t{4} << 20U;

  /// Opens a base copy, or a database that another server has gone on from, and finds the log's
  /// end. Locks the directory.
  static Result<std::unique_ptr<Standby>> open(FileSystem& files,
                                               const std::filesystem::path& directory);
  /// True if the directory has been opened as a standby, and not been promoted since.
  static Result<bool> is_in(FileSystem& files, const std::filesystem::path& directory);
  /// End of the whole records of its log. Locks and changes nothing: a server may be running there.
  static Result<Lsn> log_end(FileSystem& files, const std::filesystem::path& directory);
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;
  ~Standby();

  /// As Engine::log_id() of the server that it follows.
  [[nodiscard]] std::uint64_t log_id() const noexcept;
  [[nodiscard]] std::uint32_t timeline() const noexcept;
  /// One behind the last byte of the log, and behind the last that is durable.
  [[nodiscard]] Lsn received() const noexcept;
  [[nodiscard]] Lsn durable() const noexcept;
  /// The pages have everything before.
  [[nodiscard]] Lsn redone() const noexcept;
  /// The same, and readers see it; behind the flush mark that a log ends with while nothing is
  /// written, so that a standby which has everything says so.
  [[nodiscard]] Lsn replayed() const noexcept;
  /// When the newest transaction before it ended, in microseconds since 1970; 0: not known.
  [[nodiscard]] std::int64_t replayed_at_us() const noexcept;

  /// Appends at received(). Of the thread that receives, as flush(), restore_log() and
  /// follow_timeline().
  Result<> append(Bytes bytes);
  Result<> flush();
  /// Appends what the archive has behind received(), as far as it belongs to this history. Returns
  /// true if that was anything.
  Result<bool> restore_log(const std::string& restore_command);
  /// Goes on in that timeline. 55000, with the place, if this log has left that history before its
  /// end. `history` is the text of the history's file.
  Result<> follow_timeline(std::uint32_t timeline, std::string_view history);

  /// Redoes the next stretch of what is durable. Returns false if there is too little.
  /// Ends early when `goes_on` says so, as before a promotion, which has the rest redone as a
  /// restart has.
  Result<bool> redo_some(const std::function<bool()>& goes_on = [] { return true; });

  /// Opens the database for reading, while redo goes on from step to step: each waits until nobody
  /// is inside the engine's replay gate. 55000: the pages are not of one time yet; a later step
  /// makes them so. Of the thread that redoes, or while none does. The engine goes before this
  /// object and before promote(), and not while a step is under way.
  Result<std::unique_ptr<Engine>> open_engine(const EngineOptions& options, StandbyReaders readers);
  /// Keeps readers out before a promotion in which the engine stays
  /// (Engine::close_for_promotion()): those who are inside have `patience`, and are cancelled then.
  /// Parks until all have left. Of the thread that redoes, or while none does, as forget_engine().
  void keep_readers_out(Duration patience);
  /// The engine is gone, or closed.
  void forget_engine() noexcept;

  /// Makes a database of it that Engine::open opens: the log ends behind the last whole record, and
  /// a new timeline begins there. Pre: nobody receives or redoes any more.
  Result<> promote();

 private:
  struct State;
  explicit Standby(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace swizzle
