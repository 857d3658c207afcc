#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "clients/testing/swizzled_process.h"

/// Many wrong passwords per second, as in the security page's table. A guesser need not compute
/// anything, so guesses cost the attacker nothing and the server what SCRAM costs.
namespace swizzle::clients {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string int32(std::size_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift);
  return bytes;
}

/// A guess at a password, up to the proof, whose answer the server delays.
class Guess {
 public:
  Guess(int port, const std::string& role) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return;
    }
    const std::string words = std::string{"user\0", 5} + role + std::string{"\0\0", 2};
    send(int32(words.size() + 8) + int32(0x0003'0000) + words);
    static_cast<void>(receive());
    const std::string first = "n,,n=,r=abcdefghijklmnopqrstuvwx";
    send_password(std::string{"SCRAM-SHA-256\0", 14} + int32(first.size()) + first);
    const std::string answer = receive();
    const std::size_t nonce = answer.find("r=");
    if (nonce == std::string::npos) return;
    send_password("c=biws," + answer.substr(nonce, answer.find(',', nonce) - nonce) +
                  ",p=" + std::string(43, 'A') + "=");
    is_complete_ = true;
  }
  Guess(const Guess&) = delete;
  Guess& operator=(const Guess&) = delete;
  ~Guess() { ::close(descriptor_); }

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  void send(const std::string& bytes) const {
    [[maybe_unused]] const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void send_password(const std::string& body) const { send('p' + int32(body.size() + 4) + body); }
  [[nodiscard]] std::string receive() const {
    std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    return size <= 0 ? std::string{} : std::string{bytes.data(), static_cast<std::size_t>(size)};
  }

  int descriptor_;
  bool is_complete_ = false;
};

/// Guesses some 1,000 passwords a second, for a role that exists and for one that does not, until
/// destroyed.
class Flood {
 public:
  explicit Flood(const SwizzledProcess& server)
      : thread_([this, port = server.port(), roles = std::array{server.user(), std::string{"x"}}] {
          // Guesses waiting for their answers; the server admits that many at once.
          std::deque<std::unique_ptr<Guess>> waiting;
          while (!is_over_) {
            waiting.push_back(std::make_unique<Guess>(port, roles[guesses_ % roles.size()]));
            if (waiting.back()->is_complete()) ++guesses_;
            if (waiting.size() > 500) waiting.pop_front();
            std::this_thread::sleep_for(500us);
          }
        }) {}
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() {
    is_over_ = true;
    thread_.join();
  }
  [[nodiscard]] std::size_t guesses() const noexcept { return guesses_; }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<std::size_t> guesses_{0};
  std::thread thread_;
};

struct Latencies {
  double login_ms = 0;
  double query_ms = 0;
};

void add_ann(const SwizzledProcess& server) {
  pqxx::connection connection{server.tcp_conninfo()};
  pqxx::nontransaction{connection}.exec("CREATE ROLE ann LOGIN PASSWORD '" +
                                        std::string{SwizzledProcess::kPassword} + "'");
}

/// Returns the median latencies, over some time, of a client that logs in as another role with the
/// right password.
Latencies honest(const SwizzledProcess& server, Clock::duration duration) {
  std::vector<double> logins;
  std::vector<double> queries;
  const auto timed = [](std::vector<double>& into, const auto& action) {
    const auto start = Clock::now();
    action();
    into.push_back(std::chrono::duration<double, std::milli>{Clock::now() - start}.count());
  };
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
    std::unique_ptr<pqxx::connection> connection;
    timed(logins, [&] {
      connection = std::make_unique<pqxx::connection>(server.tcp_conninfo("user=ann"));
    });
    pqxx::nontransaction work{*connection};
    for (int i = 0; i < 10; ++i) {
      timed(queries, [&] { CHECK(work.exec1("SELECT 1")[0].as<int>() == 1); });
    }
  }
  const auto median = [](std::vector<double>& of) {
    std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
    return of[of.size() / 2];
  };
  return {median(logins), median(queries)};
}

TEST_CASE("a flood of wrong passwords keeps nobody out and nobody waiting") {
  const SwizzledProcess server{SwizzledProcess::Access::password};
  add_ann(server);
  const Latencies alone = honest(server, 500ms);
  std::size_t guesses = 0;
  Latencies beside;
  {
    const Flood flood{server};
    beside = honest(server, 3s);
    guesses = flood.guesses();
  }
  CAPTURE(guesses, alone.login_ms, beside.login_ms, alone.query_ms, beside.query_ms);
  // On a busy machine there may be less than 3,000.
  CHECK(guesses > 300);
  // Guessing one role's password slows down the guesser, but no other client.
  CHECK(beside.login_ms < 2 * alone.login_ms + 20);
  CHECK(beside.query_ms < 2 * alone.query_ms + 2);
  // The guesses leave nothing behind.
  pqxx::connection connection{server.conninfo()};
  pqxx::nontransaction work{connection};
  CHECK(work.exec1("SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")[0]
            .as<int>() == 0);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("who does not wait for the answer guesses no faster") {
  const SwizzledProcess server{SwizzledProcess::Access::password};
  add_ann(server);
  const auto start = Clock::now();
  std::size_t guesses = 0;
  while (Clock::now() < start + 2s) {
    // A right password would be answered by now.
    const Guess guess{server.port(), server.user()};
    std::this_thread::sleep_for(5ms);
    if (guess.is_complete()) ++guesses;
  }
  CAPTURE(guesses);
  CHECK(guesses > 20);
  // Guesses are judged 0.1, 0.3, 0.7, 1.5 and 3.1 s after the first; a later one is not answered
  // sooner.
  std::this_thread::sleep_for(3300ms);
  CHECK(count_of(server.log(), "password authentication failed") <= 6);
  // Neither other users nor the role from elsewhere are kept out.
  CHECK(pqxx::connection{server.tcp_conninfo("user=ann")}.is_open());
  CHECK(pqxx::connection{server.conninfo()}.is_open());
  // It can log in from there as well, once its turn has come.
  CHECK(pqxx::connection{server.tcp_conninfo()}.is_open());
}

}  // namespace
}  // namespace swizzle::clients
