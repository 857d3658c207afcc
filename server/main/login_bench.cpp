// Measures new connections from a cheap client: each logs in over TCP with SCRAM-SHA-256, selects
// one row and leaves. The salted password, 4,096 rounds of a hash and as expensive as the rest of a
// connection, is computed once, as RFC 5802 allows. For any server that speaks PostgreSQL's
// protocol; prints the connections' rate and number in pgbench's form:
//
//   PGPASSWORD=… swizzle_server_login_bench PORT USER DATABASE CLIENTS SECONDS

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "server/auth/base64.h"
#include "server/auth/crypto.h"

namespace {

using namespace swizzle;
using namespace swizzle::server;

struct Target {
  std::uint16_t port;
  std::string user;
  std::string database;
  std::string password;
};

/// Cache of the keys that a password gives with the salt that the server names.
class Keys {
 public:
  Digest of(const std::string& password, const std::string& salt, std::uint32_t iterations) {
    const std::scoped_lock lock{mutex_};
    if (salt != salt_) {
      salted_ = pbkdf2_sha256(password, as_bytes(*decode_base64(salt)), iterations);
      salt_ = salt;
    }
    return salted_;
  }

 private:
  std::mutex mutex_;
  std::string salt_;
  Digest salted_{};
};

void put_length(std::string& out, std::size_t length) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(length >> shift);
}

std::string message(char kind, std::string_view payload) {
  std::string out{kind};
  put_length(out, payload.size() + 4);
  return out.append(payload);
}

class Connection {
 public:
  explicit Connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ::close(socket_);
      throw std::runtime_error{"cannot connect"};
    }
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  void send(std::string_view bytes) {
    if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error{"cannot send"};
    }
  }

  /// Returns the payload of the next message of this kind; skips others.
  std::string expect(char kind) {
    for (;;) {
      need(5);
      std::size_t length = 0;
      for (std::size_t i = 1; i < 5; ++i)
        length = length << 8U | static_cast<unsigned char>(read_[i]);
      need(length + 1);
      const char found = read_[0];
      std::string payload = read_.substr(5, length - 4);
      read_.erase(0, length + 1);
      if (found == kind) return payload;
      if (found == 'E') throw std::runtime_error{"the server says: " + payload};
    }
  }

 private:
  void need(std::size_t bytes) {
    while (read_.size() < bytes) {
      char piece[4096];
      const ssize_t got = ::recv(socket_, piece, sizeof piece, 0);
      if (got <= 0) throw std::runtime_error{"the server has closed the connection"};
      read_.append(piece, static_cast<std::size_t>(got));
    }
  }

  int socket_;
  std::string read_;
};

std::string attribute(std::string_view list, char name) {
  const std::size_t from =
      list.starts_with(std::string{name, '='}) ? 2 : list.find(std::string{','} + name + '=') + 3;
  return std::string{list.substr(from, list.find(',', from) - from)};
}

void log_in(Connection& connection, const Target& target, Keys& keys) {
  std::string startup;
  put_length(startup, 0x00030000);
  for (const std::string_view word :
       {std::string_view{"user"}, std::string_view{target.user}, std::string_view{"database"},
        std::string_view{target.database}, std::string_view{}}) {
    startup.append(word) += '\0';
  }
  std::string packet;
  put_length(packet, startup.size() + 4);
  connection.send(packet + startup);
  connection.expect('R');

  std::byte nonce[18];
  fill_random(nonce);
  const std::string first = "n=,r=" + encode_base64(nonce);
  std::string initial = std::string{"SCRAM-SHA-256"} + '\0';
  put_length(initial, first.size() + 3);
  connection.send(message('p', initial + "n,," + first));
  const std::string server_first = connection.expect('R').substr(4);

  const auto iterations = static_cast<std::uint32_t>(std::stoul(attribute(server_first, 'i')));
  const Digest salted = keys.of(target.password, attribute(server_first, 's'), iterations);
  const Digest client_key = hmac_sha256(salted, as_bytes(std::string_view{"Client Key"}));
  const std::string final_bare = "c=biws,r=" + attribute(server_first, 'r');
  const std::string signed_text = first + "," + server_first + "," + final_bare;
  Digest proof = hmac_sha256(sha256(client_key), as_bytes(signed_text));
  for (std::size_t i = 0; i < proof.size(); ++i) proof[i] ^= client_key[i];
  connection.send(message('p', final_bare + ",p=" + encode_base64(proof)));
  connection.expect('Z');
}

void ask(Connection& connection) {
  using namespace std::string_literals;
  connection.send(message('Q', "SELECT 1\0"s));
  connection.expect('D');
  connection.expect('Z');
  connection.send(message('X', ""));
}

int run(char** words) {
  const char* password = std::getenv("PGPASSWORD");
  const Target target{static_cast<std::uint16_t>(std::atoi(words[1])), words[2], words[3],
                      password != nullptr ? password : ""};
  const int clients = std::atoi(words[4]);
  Keys keys;
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> failed{false};
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::duration<double>{std::atof(words[5])};
  std::vector<std::jthread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      try {
        while (std::chrono::steady_clock::now() < end && !failed) {
          Connection connection{target.port};
          log_in(connection, target, keys);
          ask(connection);
          ++done;
        }
      } catch (const std::exception& error) {
        if (!failed.exchange(true)) fmt::print(stderr, "{}\n", error.what());
      }
    });
  }
  threads.clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("number of transactions actually processed: {}\ntps = {:.1f}\n", done.load(),
             static_cast<double>(done) / took.count());
  return failed ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    fmt::print(stderr, "usage: {} PORT USER DATABASE CLIENTS SECONDS\n", words[0]);
    return 2;
  }
  return run(words);
}
