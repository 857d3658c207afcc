#pragma once

#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace swizzle::clients {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

inline Connection connect_to(const std::string& conninfo) {
  Connection connection{PQconnectdb(conninfo.c_str()), &PQfinish};
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    throw std::runtime_error{PQerrorMessage(connection.get())};
  }
  return connection;
}

/// A client with a light load while others keep the server busy: sends SELECT 1 every few
/// milliseconds on a thread of its own, and measures the response times.
class HonestClient {
 public:
  explicit HonestClient(const std::string& conninfo)
      : connection_(connect_to(conninfo)), thread_([this] {
          // At least once, however soon the others have finished.
          do {
            ask();
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
          } while (!stop_);
        }) {}
  HonestClient(const HonestClient&) = delete;
  HonestClient& operator=(const HonestClient&) = delete;
  ~HonestClient() { finish(); }

  void finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// Returns the given percentile of its waits. Pre: finished.
  [[nodiscard]] std::chrono::milliseconds percentile(double part) const {
    std::vector<std::chrono::milliseconds> sorted = waits_;
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * part)];
  }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  void ask() {
    const auto begin = std::chrono::steady_clock::now();
    PGresult* const result = PQexec(connection_.get(), "SELECT 1");
    if (PQresultStatus(result) != PGRES_TUPLES_OK) ++failures_;
    PQclear(result);
    waits_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin));
  }

  Connection connection_;
  std::atomic<bool> stop_{false};
  int failures_ = 0;
  std::vector<std::chrono::milliseconds> waits_;
  std::thread thread_;
};

}  // namespace swizzle::clients
