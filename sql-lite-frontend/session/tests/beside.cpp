#include "sql-lite-frontend/session/tests/beside.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace swizzle::sql {

std::string answer_of(Session& session, const std::string& sql) {
  TestSink sink;
  const Outcome outcome = session.simple_query(sql, sink);
  if (!outcome) return std::string{outcome.error().state.code()} + " " + outcome.error().message;
  std::string text;
  for (const std::string& row : sink.rows) text += row + " ";
  return text + sink.tags.back();
}

std::string answer_beside(TestDatabase& db, Session& other, const std::string& sql) {
  std::string answer;
  std::atomic<bool> has_answered{false};
  std::thread asking{[&] {
    answer = answer_of(other, sql);
    has_answered = true;
  }};
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  const char* const kWaiting = "SELECT 1 FROM pg_locks WHERE NOT granted LIMIT 1";
  while (!has_answered && db.run(kWaiting) == "SELECT 0" &&
         std::chrono::steady_clock::now() < latest)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  db.run("COMMIT");
  asking.join();
  return answer;
}

}  // namespace swizzle::sql
