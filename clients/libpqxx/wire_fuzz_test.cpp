#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <pqxx/pqxx>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "clients/testing/seed.h"
#include "clients/testing/swizzled_process.h"

/// The whole server against hostile messages: cut at every byte, damaged, in any order. It answers,
/// refuses or disconnects, and other clients notice nothing.
namespace swizzle::clients {
namespace {

std::string int16(unsigned value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value)};
}
std::string int32(std::size_t value) {
  return int16(static_cast<unsigned>(value >> 16U & 0xffffU)) +
         int16(static_cast<unsigned>(value & 0xffffU));
}
std::string text(const std::string& value) {
  return value + '\0';
}
std::string message(char kind, const std::string& body) {
  return kind + int32(body.size() + 4) + body;
}

const std::vector<std::string>& messages() {
  const std::string one_value =
      int16(1) + int16(0) + int16(1) + int32(1) + "7" + int16(1) + int16(1);
  static const std::vector<std::string> kMessages{
      message('Q', text("SELECT 1; SELECT 2")),
      message('Q', text("BEGIN")),
      message('Q', text("COMMIT")),
      message('Q', text("INSERT INTO fuzzed SELECT 1 WHERE false")),
      message('Q', text("COPY fuzzed FROM STDIN")),
      message('Q', text("COPY (SELECT generate_series(1, 50)) TO STDOUT (FORMAT binary)")),
      message('Q', text("LISTEN fuzz; NOTIFY fuzz, 'x'")),
      message('P', text("") + text("SELECT $1::int + 1") + int16(1) + int32(23)),
      message('P', text("named") + text("SELECT k FROM fuzzed WHERE k = $1") + int16(0)),
      message('B', text("") + text("") + one_value),
      message('B', text("p") + text("named") + one_value),
      message('D', "S" + text("named")),
      message('D', "P" + text("p")),
      message('E', text("") + int32(0)),
      message('E', text("p") + int32(1)),
      message('C', "S" + text("named")),
      message('C', "P" + text("p")),
      message('H', ""),
      message('S', ""),
      message('d', "1\n2\n"),
      message('c', ""),
      message('f', text("no more")),
      message('F', int32(1) + int16(0) + int16(0) + int16(0)),
      message('p', text("secret")),
  };
  return kMessages;
}

/// A raw connection.
class Socket {
 public:
  explicit Socket(const SwizzledProcess& server) : descriptor_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = server.directory() + "/.s.PGSQL." + std::to_string(server.port());
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    const std::string words =
        text("user") + text(server.user()) + text("database") + text("postgres") + '\0';
    send(int32(words.size() + 8) + int32(0x0003'0000) + words);
    REQUIRE(wait_for('Z'));
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { ::close(descriptor_); }

  void send(const std::string& bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }
  /// Reads what has arrived, without waiting, so that the server need not wait for us.
  void drain() {
    char piece[65536];
    while (::recv(descriptor_, piece, sizeof piece, MSG_DONTWAIT) > 0) {
    }
  }
  /// Reads until an answer ends with an empty ReadyForQuery; returns false if the server
  /// disconnects.
  bool wait_for(char kind) const {
    std::string received;
    char piece[4096];
    for (;;) {
      pollfd entry{descriptor_, POLLIN, 0};
      if (::poll(&entry, 1, 5'000) != 1) return false;
      const ssize_t n = ::recv(descriptor_, piece, sizeof piece, 0);
      if (n <= 0) return false;
      received.append(piece, static_cast<std::size_t>(n));
      if (received.size() >= 6 && received[received.size() - 6] == kind) return true;
    }
  }

 private:
  int descriptor_;
};

bool becomes_quiet(pqxx::nontransaction& work) {
  for (int i = 0; i < 500; ++i) {
    if (work.exec1("SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")[0]
            .as<int>() == 0) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return false;
}

}  // namespace

TEST_CASE(
    "any message, cut anywhere, damaged, in any order: the server lives and frees everything") {
  SwizzledProcess server;
  pqxx::connection connection{server.conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE TABLE fuzzed (k int PRIMARY KEY)");
  SECTION("cut short, by a client that then goes") {
    for (const std::string& whole : messages()) {
      // Cut at every byte of the header, and at every third one after it.
      for (std::size_t cut = 1; cut < whole.size(); cut += cut < 6 ? 1 : 3) {
        const Socket socket{server};
        socket.send(whole.substr(0, cut));
      }
    }
  }
  SECTION("in any order, some damaged") {
    const unsigned seed = testing::seed();
    CAPTURE(seed);
    std::mt19937 random{seed};
    const auto pick = [&](std::size_t limit) { return random() % limit; };
    for (int client = 0; client < 200; ++client) {
      Socket socket{server};
      for (int i = 0; i < 40; ++i) {
        std::string bytes = messages()[pick(messages().size())];
        if (pick(4) == 0 && bytes.size() > 5) {
          bytes[5 + pick(bytes.size() - 5)] = static_cast<char>(pick(256));
        }
        if (pick(60) == 0) bytes[pick(bytes.size())] = static_cast<char>(pick(256));
        socket.send(bytes);
        if (pick(8) == 0) socket.drain();
      }
      socket.drain();
    }
  }
  CHECK(server.is_running());
  CHECK(becomes_quiet(work));
  CHECK(work.exec1("SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid()")[0].as<int>() ==
        0);
  CHECK(work.exec1("SELECT count(*) FROM fuzzed WHERE k < 0")[0].as<int>() == 0);
}

}  // namespace swizzle::clients
