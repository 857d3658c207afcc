#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace swizzle::sql {

/// Number that an application chooses for a lock: one of 64 bits, or two of 32.
struct AdvisoryKey {
  std::uint32_t database = 0;
  std::uint64_t number = 0;
  bool is_pair = false;
  friend auto operator<=>(const AdvisoryKey&, const AdvisoryKey&) = default;
};

enum class AdvisoryMode : std::uint8_t { shared, exclusive };
/// Until it is unlocked or the session ends; or until the transaction ends.
enum class AdvisoryScope : std::uint8_t { session, transaction };

/// The advisory locks of all sessions. Thread-safe. Sessions are named by their pids; one that
/// holds a lock may take it again, and then unlocks it as often.
class AdvisoryLocks {
 public:
  struct Held {
    AdvisoryKey key;
    AdvisoryMode mode;
    std::int32_t session;
  };

  /// A session, and one that it waits for.
  using Edge = std::pair<std::int32_t, std::int32_t>;

  /// Takes the lock at once, or returns false if another session holds it in a conflicting mode or
  /// has waited for such a mode for longer. 53200 if the limit of all sessions is reached.
  bool try_lock(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode,
                AdvisoryScope scope);
  /// Notes that `session` waits, until it locks or gives up. False if that closes a cycle of
  /// sessions that hold what the next one waits for. A cycle that only the order of a queue closes
  /// is broken: one of its waiters goes to the end of its queue.
  bool wait_for(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode);
  void stop_waiting(std::int32_t session);
  /// Returns the sessions that a waiting session waits for, directly or through others.
  [[nodiscard]] std::set<std::int32_t> reached_from(std::int32_t session) const;
  /// True if a waiting session waits for itself, in part through waits of another kind.
  [[nodiscard]] bool closes_cycle(std::int32_t session, const std::set<Edge>& other_waits) const;
  /// Session locks only. False if there was none.
  bool unlock(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode);
  void unlock_all(std::int32_t session, AdvisoryScope scope);
  /// For savepoints: how many locks the session's transaction has taken. unlock_to() such a number
  /// releases those that it has taken since.
  [[nodiscard]] std::size_t mark(std::int32_t session) const;
  void unlock_to(std::int32_t session, std::size_t mark);
  [[nodiscard]] std::vector<Held> held() const;
  /// Lists the locks that sessions wait for.
  [[nodiscard]] std::vector<Held> waited_for() const;
  /// Returns the locks of a session's transaction, each as often as it was taken. 0A000 if the
  /// session also holds one of them in session scope: the two could not be told apart afterwards.
  [[nodiscard]] std::vector<Held> of_transaction(std::int32_t session) const;
  /// Gives the locks of a session's transaction to another owner. Pre: of_transaction() has just
  /// returned them.
  void hand_over(std::int32_t from, std::int32_t to);
  /// Returns the sessions that a session waits for.
  [[nodiscard]] std::vector<std::int32_t> blocking(std::int32_t session) const;

 private:
  struct Counts {
    std::uint32_t by_session[2] = {};      ///< per mode
    std::uint32_t by_transaction[2] = {};  ///< per mode
    [[nodiscard]] bool empty() const noexcept;
    [[nodiscard]] bool holds(AdvisoryMode mode) const noexcept;
  };
  /// The first time that a transaction takes a key in a mode.
  struct Taken {
    AdvisoryKey key;
    AdvisoryMode mode;
  };
  struct Wait {
    AdvisoryKey key;
    AdvisoryMode mode;
    std::uint64_t ticket;  ///< its place in the queue
  };
  enum class Through : std::uint8_t { all, holders };
  using Holders = std::map<std::int32_t, Counts>;

  /// Drops the session's entry of the key once nothing is left in it. Pre: mutex_ is held.
  void forget_if_empty(std::int32_t session, const AdvisoryKey& key);

  [[nodiscard]] std::vector<std::int32_t> holders_against(std::int32_t session,
                                                          const AdvisoryKey& key,
                                                          AdvisoryMode mode) const;
  /// Returns the sessions that wait for a conflicting mode and came earlier, those excepted that
  /// wait for `session` itself.
  [[nodiscard]] std::vector<std::int32_t> waiters_before(std::int32_t session,
                                                         const AdvisoryKey& key, AdvisoryMode mode,
                                                         std::uint64_t ticket) const;
  /// Appends to `path` the waits by which `from` waits for `to`. False if it does not.
  bool find_path(std::int32_t from, std::int32_t to, Through through,
                 const std::set<Edge>& other_waits, std::set<std::int32_t>& seen,
                 std::vector<Edge>& path) const;
  [[nodiscard]] bool is_ahead_in_queue(const Edge& edge) const;
  void set_wait(std::int32_t session, Wait wait);
  void end_wait(std::int32_t session);

  /// Limit of all sessions together: several times that of PostgreSQL by default.
  static constexpr std::size_t kMostLocks = 100'000;

  mutable std::mutex mutex_;
  std::map<AdvisoryKey, Holders> holders_;
  /// Keys that each session holds, so that its end need not visit those of others.
  std::map<std::int32_t, std::set<AdvisoryKey>> keys_;
  std::map<std::int32_t, std::vector<Taken>> taken_;  ///< by each session's transaction, in order
  std::size_t held_ = 0;
  std::map<std::int32_t, Wait> waits_;
  std::map<AdvisoryKey, std::map<std::uint64_t, std::int32_t>> queues_;  ///< sessions by ticket
  std::uint64_t last_ticket_ = 0;
};

}  // namespace swizzle::sql
