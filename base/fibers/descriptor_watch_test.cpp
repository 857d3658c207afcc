#include "base/fibers/descriptor_watch.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fibers/fiber_runtime.h"

using namespace swizzle;
using namespace std::chrono_literals;
using Direction = DescriptorWatch::Direction;

namespace {

class SocketPair {
 public:
  SocketPair() {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()) == 0);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;
  ~SocketPair() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  [[nodiscard]] int here() const noexcept { return ends_[0]; }
  [[nodiscard]] int there() const noexcept { return ends_[1]; }
  void say(std::string_view text) const {
    [[maybe_unused]] const auto sent = ::write(there(), text.data(), text.size());
  }
  void hang_up() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

/// Returns the result of a read of at most `size` bytes; -1 if there are none.
ssize_t read_some(int descriptor, std::size_t size = 64) {
  std::array<char, 64> bytes{};
  return ::read(descriptor, bytes.data(), std::min(size, bytes.size()));
}

// Runs `body` in a fiber. Catch2's assertions work on the main thread only, so fibers hand their
// results over.
void in_fiber(const std::function<void()>& body) {
  FiberRuntime runtime{{.reactors = 1}};
  runtime.spawn("watching", body)->join();
}

TimePoint soon(Duration after) {
  return Runtime::current().now() + after;
}

}  // namespace

TEST_CASE("a fiber waits until its descriptor can be read", "[fiber]") {
  const SocketPair sockets;
  std::vector<ssize_t> reads;
  bool too_early = true;
  in_fiber([&] {
    DescriptorWatch watch{sockets.here()};
    too_early = watch.wait(Direction::reading, soon(5ms));
    auto peer = Runtime::current().spawn("peer", [&] {
      for (const char* word : {"a", "bb", "ccc"}) {
        Runtime::current().sleep_until(soon(2ms));
        sockets.say(word);
      }
    });
    while (reads.size() < 3) {
      if (watch.wait(Direction::reading, std::nullopt)) {
        if (const ssize_t bytes = read_some(sockets.here()); bytes > 0) reads.push_back(bytes);
      }
    }
    peer->join();
  });
  CHECK_FALSE(too_early);
  CHECK(reads == std::vector<ssize_t>{1, 2, 3});
}

TEST_CASE("what came before the watch, or while nobody waited, is announced", "[fiber]") {
  const SocketPair sockets;
  sockets.say("early");
  std::array<bool, 4> announced{};
  in_fiber([&] {
    DescriptorWatch watch{sockets.here()};
    announced[0] = watch.wait(Direction::reading, soon(2s));
    read_some(sockets.here());
    sockets.say("meanwhile");
    // The descriptor becomes ready while the fiber sleeps for another reason, and must not end that
    // sleep.
    const TimePoint until = soon(10ms);
    announced[1] = Runtime::current().parker().park_until(until);
    announced[2] = watch.wait(Direction::reading, soon(2s));
    read_some(sockets.here());
    announced[3] = watch.wait(Direction::reading, soon(5ms));
  });
  CHECK(announced == std::array{true, false, true, false});
}

TEST_CASE("a fiber waits until its descriptor takes more", "[fiber]") {
  const SocketPair sockets;
  bool full = false;
  bool has_room = false;
  int wakes = 0;
  in_fiber([&] {
    DescriptorWatch watch{sockets.here()};
    const std::string piece(4096, 'x');
    const auto fill = [&] {
      while (::write(sockets.here(), piece.data(), piece.size()) > 0) {
      }
    };
    const auto drain = [&] {
      while (read_some(sockets.there()) > 0) {
      }
    };
    fill();
    full = !watch.wait(Direction::writing, soon(5ms));
    auto peer = Runtime::current().spawn("peer", [&] {
      Runtime::current().sleep_until(soon(5ms));
      drain();
    });
    has_room = watch.wait(Direction::writing, soon(2s));
    peer->join();
    // A peer that reads makes the socket writable, which must not wake a waiter for data.
    fill();
    drain();
    if (watch.wait(Direction::reading, soon(5ms))) ++wakes;
  });
  CHECK(full);
  CHECK(has_room);
  CHECK(wakes == 0);
}

TEST_CASE("a peer that hangs up is announced to readers and writers", "[fiber]") {
  const auto direction = GENERATE(Direction::reading, Direction::writing);
  SocketPair sockets;
  bool announced = false;
  in_fiber([&] {
    DescriptorWatch watch{sockets.here()};
    if (direction == Direction::writing) {
      const std::string piece(4096, 'x');
      while (::write(sockets.here(), piece.data(), piece.size()) > 0) {
      }
    }
    auto peer = Runtime::current().spawn("peer", [&] {
      Runtime::current().sleep_until(soon(5ms));
      sockets.hang_up();
    });
    announced = watch.wait(direction, soon(2s));
    peer->join();
  });
  CHECK(announced);
}
