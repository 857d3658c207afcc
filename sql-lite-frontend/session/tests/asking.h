#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_sink.h"

namespace swizzle::sql {

/// Runs statements of a session on another thread.
class Asking {
 public:
  Asking(Session& session, std::string sql)
      : thread_([this, &session, text = std::move(sql)] {
          TestSink sink;
          const Outcome outcome = session.simple_query(text, sink);
          answer_ = outcome ? "done" : std::string{outcome.error().state.code()};
          is_done_ = true;
        }) {}
  ~Asking() {
    if (thread_.joinable()) thread_.join();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// Waits for the end; returns "done" or the SQLSTATE. Call once.
  const std::string& answer() {
    thread_.join();
    return answer_;
  }

 private:
  std::string answer_;
  std::atomic<bool> is_done_{false};
  std::thread thread_;
};

}  // namespace swizzle::sql
