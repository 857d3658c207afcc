#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/runtime/runtime.h"

namespace swizzle::sql {
class Session;
struct Diagnostic;
}  // namespace swizzle::sql

namespace swizzle::server {

/// The FATAL report of a transaction that has lasted for transaction_timeout.
[[nodiscard]] sql::Diagnostic transaction_timeout_report();

/// Ends statements that run longer than statement_timeout, and sessions whose transactions run
/// longer than transaction_timeout. One thread for all sessions, which
/// starts with the first timeout and sleeps while there is none. Thread-safe.
class StatementTimer {
 public:
  StatementTimer() = default;
  StatementTimer(const StatementTimer&) = delete;
  StatementTimer& operator=(const StatementTimer&) = delete;
  /// Pre: no watch is running.
  ~StatementTimer();

  /// One session's use of the timer. Belongs to the session's fiber.
  class Watch {
   public:
    Watch(StatementTimer& timer, sql::Session& session) noexcept
        : timer_(timer), session_(session) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { stop(); }

    enum class Ends : std::uint8_t { statement, session };
    /// Starts `timeout`, unless it runs already.
    void start(Duration timeout, Ends ends) {
      if (is_started_) return;
      ends_ = ends;
      timer_.add(*this, timeout);
      is_started_ = true;
    }
    void stop() noexcept {
      if (is_started_) timer_.remove(*this);
      is_started_ = false;
    }

   private:
    friend class StatementTimer;
    StatementTimer& timer_;
    sql::Session& session_;
    bool is_started_ = false;
    Ends ends_ = Ends::statement;
    /// Guarded by the timer's mutex; empty once it has expired.
    std::optional<std::multimap<TimePoint, Watch*>::iterator> place_;
  };

 private:
  void add(Watch& watch, Duration timeout);
  void remove(Watch& watch) noexcept;
  void run();
  void fire_due(TimePoint now);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<TimePoint, Watch*> deadlines_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace swizzle::server
