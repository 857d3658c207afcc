#include "server/session/testing/wire_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>

#include "base/invariant.h"

namespace swizzle::server::testing {
namespace {

constexpr int kPatienceMs = 10'000;

/// Polls in short turns, to notice wakes for other reasons than the socket too.
class PollWaiter final : public SocketWaiter {
 public:
  explicit PollWaiter(int fd) : fd_(fd) {}
  bool wait(Readiness readiness, std::optional<TimePoint> deadline) noexcept override {
    pollfd entry{fd_, static_cast<short>(readiness == Readiness::readable ? POLLIN : POLLOUT), 0};
    ::poll(&entry, 1, 5);
    return !deadline || std::chrono::steady_clock::now() < *deadline;
  }

 private:
  int fd_;
};

}  // namespace

std::string int16(std::uint16_t value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value)};
}
std::string int32(std::uint32_t value) {
  return int16(static_cast<std::uint16_t>(value >> 16U)) + int16(static_cast<std::uint16_t>(value));
}
std::string text(std::string_view value) {
  return std::string{value} + '\0';
}
std::string message(char kind, std::string_view body) {
  return kind + int32(static_cast<std::uint32_t>(body.size() + 4)) + std::string{body};
}
std::string startup_packet(std::string_view body, std::uint32_t code) {
  return int32(static_cast<std::uint32_t>(body.size() + 8)) + int32(code) + std::string{body};
}

std::string Received::field(char name) const {
  std::size_t at = 0;
  while (at < body.size() && body[at] != '\0') {
    const std::size_t end = body.find('\0', at);
    if (body[at] == name) return body.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return {};
}

bool WireClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool WireClient::receive_exactly(char* into, std::size_t size) {
  while (size > 0) {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, kPatienceMs) != 1) return false;
    const ssize_t got = ::recv(socket_.get(), into, size, 0);
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<char> WireClient::receive_byte() {
  char byte = 0;
  if (!receive_exactly(&byte, 1)) return std::nullopt;
  return byte;
}

Received WireClient::receive() {
  std::byte header[5];
  if (!receive_exactly(reinterpret_cast<char*>(header), sizeof header)) return {};
  Received received{static_cast<char>(header[0]),
                    std::string(load_big_endian<std::uint32_t>(header + 1) - 4, '\0')};
  if (!receive_exactly(received.body.data(), received.body.size())) return {};
  if (received.kind == 'K') {
    backend_id = load_big_endian<std::uint32_t>(as_bytes(received.body).data());
    cancel_key = received.body.substr(4);
  }
  return received;
}

std::vector<Received> WireClient::receive_until(char last) {
  std::vector<Received> all;
  do {
    all.push_back(receive());
  } while (all.back().kind != last && all.back().kind != 0);
  return all;
}

std::string WireClient::kinds_until(char last) {
  std::string kinds;
  for (const Received& received : receive_until(last)) kinds += received.kind;
  return kinds;
}

std::string WireClient::log_in(std::string_view user, std::uint32_t version) {
  send(startup_packet(text("user") + text(user) + '\0', version));
  return kinds_until('Z');
}

std::string WireClient::query(std::string_view sql) {
  send(message('Q', text(sql)));
  return kinds_until('Z');
}

bool WireClient::is_quiet() {
  pollfd entry{socket_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 50) == 0;
}

DoorPolicy TestServer::door(std::string_view rules) {
  DoorPolicy policy;
  policy.rules = HbaRules::parse(rules).value();
  return policy;
}
DoorPolicy TestServer::open_door() {
  return door("local all all trust");
}

TestServer::TestServer(DoorPolicy policy, ConnectionLimits limits) {
  // The fake database never uses its engine.
  alignas(8) static std::byte no_engine[8];
  database_ = sql::Database::open(reinterpret_cast<Engine&>(no_engine)).value();
  context_ = std::make_unique<ServerContext>(*database_, limits, "secret of the test",
                                             std::make_shared<ServerLog>(-1));
  context_->set_policy(std::move(policy));
}

TestServer::~TestServer() {
  context_->registry().end_all(EndReason::administrator);
  for (std::thread& thread : threads_) thread.join();
}

WireClient TestServer::connect(Peer peer) {
  int pair[2];
  INVARIANT(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  threads_.emplace_back([this, peer, fd = pair[0]] {
    INVARIANT(::fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    Stream stream{Descriptor{fd}};
    PollWaiter waiter{fd};
    BufferPool buffers;
    serve_connection(stream, peer, *context_, waiter, buffers);
  });
  return WireClient{Descriptor{pair[1]}};
}

bool TestServer::becomes_empty() {
  for (int i = 0; i < kPatienceMs; ++i) {
    if (context_->registry().size() == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return false;
}

}  // namespace swizzle::server::testing
