#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session/shared/lag_tracker.h"
#include "sql-lite-frontend/session/shared/sync_rule.h"

namespace swizzle::sql {

class Interruption;

/// Sessions that stream the log at present, and their progress: pg_stat_replication; and the
/// commits that wait for it (synchronous_standby_names). Thread-safe.
class LogSenders {
 public:
  struct Sender {
    std::int32_t pid = 0;
    std::string application = {};
    bool catches_up = true;  ///< it has not had all of the log yet, since it began
    Lsn sent = Lsn::none;
    // As the client reports it, and the time of that.
    Lsn written = Lsn::none;
    Lsn flushed = Lsn::none;
    Lsn replayed = Lsn::none;
    std::int64_t replied_at = 0;
    // Of list(). No lag: the follower has had everything for a while, or has said nothing.
    std::optional<Duration> write_lag{};
    std::optional<Duration> flush_lag{};
    std::optional<Duration> replay_lag{};
    std::size_t sync_priority = 0;
    std::string_view sync_state = "async";

    [[nodiscard]] std::string_view state() const noexcept {
      return catches_up ? "catchup" : "streaming";
    }
  };
  LogSenders() = default;
  LogSenders(const LogSenders&) = delete;
  LogSenders& operator=(const LogSenders&) = delete;
  ~LogSenders() = default;

  void put(Sender sender);
  void remove(std::int32_t pid) noexcept;
  [[nodiscard]] std::vector<Sender> list() const;

  /// The followers for which commits wait from now on; those that wait now, too.
  void set_rule(SyncRule rule);
  [[nodiscard]] bool has_rule() const noexcept { return has_rule_.load(std::memory_order_relaxed); }

  enum class Level : std::uint8_t { written, flushed, replayed };
  enum class Waited : std::uint8_t { confirmed, interrupted };
  /// The session that waits.
  struct Waits {
    std::int32_t pid;
    const Interruption& asked;
  };
  /// Returns when the followers that the rule asks for have the log before `end`, or when the
  /// session is asked to end or to cancel. May park.
  Waited await(Lsn end, Level level, const Waits& who);
  /// The sessions that wait, by pid.
  [[nodiscard]] std::vector<std::int32_t> waiting() const;

 private:
  struct Waiter {
    Lsn end = Lsn::none;
    Level level = Level::flushed;
    std::int32_t pid = 0;
    Parker* parker = nullptr;
    std::atomic<bool> is_done{false};
  };
  static constexpr std::size_t kLevels = 3;
  using Positions = std::array<Lsn, kLevels>;

  struct Known {
    Sender sender{};
    LagTracker sent{};
    /// The last reply had all of the log.
    bool had_all = false;
  };
  static void note_reply(Known& known, Sender& sender, TimePoint now);
  /// Senders that the rule names, those first whose word counts.
  [[nodiscard]] std::vector<const Sender*> candidates() const;
  /// The positions that enough followers have reached.
  [[nodiscard]] Positions confirmed() const;
  [[nodiscard]] bool is_confirmed(Lsn end, Level level) const;
  /// Lets those go who need not wait any more.
  void wake_done();

  mutable std::mutex mutex_;  ///< protects all but has_rule_
  std::map<std::int32_t, Known> senders_;
  SyncRule rule_;
  std::vector<Waiter*> waiters_;
  /// Every commit reads it: not beside what senders write.
  alignas(64) std::atomic<bool> has_rule_{false};
};

}  // namespace swizzle::sql
