#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/random.h"
#include "base/runtime/runtime.h"
#include "base/simulation/simulation.h"

namespace swizzle::sql::cluster {

inline TimePoint now() {
  return Runtime::current().now();
}
inline void pause(Duration length) {
  Runtime::current().sleep_until(now() + length);
}
inline Duration ms(std::uint64_t count) {
  return std::chrono::milliseconds{count};
}

/// Between three machines, the arbiter and the clients. Messages take their time, are lost, and
/// overtake each other; links are cut and heal.
class Network {
 public:
  static constexpr std::size_t kMachines = 3;
  static constexpr std::size_t kArbiter = 3;
  static constexpr std::size_t kClients = 4;
  static constexpr std::size_t kEnds = 5;

  explicit Network(std::uint64_t seed) : random_(seed), usual_us_(random_.between(200, 5000)) {}

  /// The time that a message takes; nothing if it is lost.
  std::optional<Duration> delay(std::size_t from, std::size_t to) {
    if (cut_[from][to]) return std::nullopt;
    if (is_whole_) return std::chrono::microseconds{200};
    if (random_.one_in(150)) return std::nullopt;
    const std::uint64_t most = random_.one_in(30) ? usual_us_ * 40 : usual_us_;
    return std::chrono::microseconds{random_.below(most) + 20};
  }
  /// Parks for as long as a message takes. False: it does not arrive.
  bool pass(std::size_t from, std::size_t to) {
    const auto time = delay(from, to);
    pause(time.value_or(ms(50)));
    return time.has_value();
  }
  /// True if the next message of a connection may overtake those before it. A network that keeps
  /// their order never does that; the receiver has to notice.
  bool overtakes() { return !is_whole_ && random_.one_in(400); }

  void cut(std::size_t from, std::size_t to) { cut_[from][to] = true; }
  void cut_off(std::size_t end) {
    for (std::size_t other = 0; other < kEnds; ++other) cut_[end][other] = cut_[other][end] = true;
  }
  [[nodiscard]] bool is_cut(std::size_t from, std::size_t to) const { return cut_[from][to]; }
  void heal() { cut_ = {}; }
  /// Nothing is lost or late any more.
  void make_whole() {
    heal();
    is_whole_ = true;
  }
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  Random random_;
  const std::uint64_t usual_us_;
  bool is_whole_ = false;
  std::array<std::array<bool, kEnds>, kEnds> cut_{};
};

/// Messages that have arrived for a task.
template <class Message>
class Inbox {
 public:
  void put(Message message) {
    messages_.push_back(std::move(message));
    wake();
  }
  void wake() {
    is_woken_ = true;
    if (waiting_ != nullptr) waiting_->unpark();
  }
  /// Returns nothing if there is none before `until`, or after a wake().
  std::optional<Message> take(TimePoint until) {
    Parker& own = Runtime::current().parker();
    waiting_ = &own;
    while (messages_.empty() && !is_woken_ && now() < until) own.park_until(until);
    waiting_ = nullptr;
    is_woken_ = false;
    if (messages_.empty()) return std::nullopt;
    Message first = std::move(messages_.front());
    messages_.pop_front();
    return first;
  }

 private:
  std::deque<Message> messages_;
  Parker* waiting_ = nullptr;
  bool is_woken_ = false;
};

/// A connection between a server that sends its log and one that follows.
struct StreamLink : std::enable_shared_from_this<StreamLink> {
  struct Log {
    Lsn at = Lsn::none;
    std::string bytes;
    bool is_end = false;  ///< of the timeline
  };
  struct Report {
    Lsn received = Lsn::none;
    Lsn durable = Lsn::none;
    Lsn replayed = Lsn::none;
  };
  StreamLink(Network& through, std::size_t of_sender, std::size_t of_follower)
      : network(through), sender(of_sender), follower(of_follower) {}

  void send_log(Log log) {
    deliver(sender, follower, log_arrives, [this, log = std::move(log)] { to_follower.put(log); });
  }
  void send_report(Report report) {
    deliver(follower, sender, report_arrives, [this, report] { to_sender.put(report); });
  }

  Network& network;
  const std::size_t sender;
  const std::size_t follower;
  Inbox<Log> to_follower;
  Inbox<Report> to_sender;
  bool is_closed = false;
  bool is_broken = false;

 private:
  void deliver(std::size_t from, std::size_t to, TimePoint& last, std::function<void()> arrive) {
    if (is_broken) return;
    const auto time = network.delay(from, to);
    // A lost message is not sent again: the connection ends, once its ends have heard nothing.
    is_broken = !time;
    if (!time) return;
    TimePoint at = now() + *time;
    if (!network.overtakes()) last = at = std::max(at, last);
    // A late message finds the connection as it is then.
    Simulation::running()->call_at(
        at, [self = shared_from_this(), arrive = std::move(arrive)] { arrive(); });
  }
  TimePoint log_arrives{};
  TimePoint report_arrives{};
};

}  // namespace swizzle::sql::cluster
