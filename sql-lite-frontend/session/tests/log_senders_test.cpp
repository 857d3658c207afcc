// Commits that wait for followers: whom synchronous_standby_names means, and how a wait ends.
#include "sql-lite-frontend/session/shared/log_senders.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "base/simulation/simulation.h"
#include "sql-lite-frontend/statement/interruption.h"

namespace swizzle::sql {
namespace {

using Level = LogSenders::Level;
using Waited = LogSenders::Waited;

SyncRule rule_of(std::string_view text) {
  auto rule = SyncRule::parse(text);
  REQUIRE(rule);
  return *std::move(rule);
}

std::string refusal_of(std::string_view text) {
  const auto rule = SyncRule::parse(text);
  REQUIRE(!rule);
  CHECK(rule.error().state() == sqlstate::invalid_parameter_value);
  return rule.error().detail().empty() ? rule.error().message() : rule.error().detail();
}

LogSenders::Sender follower(std::int32_t pid, std::string application, std::uint64_t flushed) {
  return {.pid = pid,
          .application = std::move(application),
          .catches_up = false,
          .sent = Lsn{flushed + 20},
          .written = Lsn{flushed + 10},
          .flushed = Lsn{flushed},
          .replayed = Lsn{flushed}};
}

/// A session that waits in a task of its own.
class WaitingSession {
 public:
  WaitingSession(LogSenders& senders, std::uint64_t end, Level level = Level::flushed)
      : task_(Runtime::current().spawn("session", [this, &senders, end, level] {
          const auto waited = senders.await(Lsn{end}, level, {.pid = 77, .asked = asked});
          outcome = waited == Waited::confirmed ? "confirmed" : "interrupted";
        })) {}
  std::string after_a_while() {
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{200});
    return outcome;
  }

  Interruption asked;
  std::string outcome = "waits";

 private:
  std::unique_ptr<Task> task_;
};

}  // namespace

TEST_CASE("synchronous_standby_names is read as PostgreSQL reads it", "[sql][replication]") {
  CHECK(rule_of("").count == 0);
  CHECK(rule_of(" ").count == 0);
  const SyncRule list = rule_of("a, \"B \"\"c\", 3, d$1");
  CHECK(list.count == 1);
  CHECK(!list.is_any);
  CHECK(list.names == std::vector<std::string>{"a", "B \"c", "3", "d$1"});
  CHECK(rule_of("3, a").names == std::vector<std::string>{"3", "a"});
  CHECK(rule_of("2 (a, *)").count == 2);
  CHECK(rule_of("first 2 (a, b)").names.size() == 2);
  const SyncRule any = rule_of("ANY 1 (a, b)");
  CHECK(any.is_any);
  CHECK(any.priority_of("B") == 1);
  CHECK(any.priority_of("c") == 0);
  CHECK(list.priority_of("A") == 1);
  CHECK(list.priority_of("b \"C") == 2);
  CHECK(rule_of("a, *").priority_of("other") == 2);
  CHECK(rule_of("").priority_of("a") == 0);
  CHECK(refusal_of("FIRST x (a") == "syntax error at or near \"x\"");
  CHECK(refusal_of("a,,b") == "syntax error at or near \",\"");
  CHECK(refusal_of("-1 (a)") == "syntax error at or near \"-\"");
  CHECK(refusal_of("1 (a") == "syntax error at end of input");
  CHECK(refusal_of("0 (a)") == "number of synchronous standbys (0) must be greater than zero");
}

TEST_CASE("a commit waits for the first of the list, or for any of it", "[sql][replication]") {
  Simulation simulation{1};
  simulation.run([] {
    LogSenders senders;
    Interruption nobody_asks;
    CHECK(senders.await(Lsn{100}, Level::flushed, {1, nobody_asks}) == Waited::confirmed);
    senders.set_rule(rule_of("a, b"));
    senders.put(follower(2, "b", 500));
    CHECK(senders.list().front().sync_state == "sync");
    CHECK(senders.await(Lsn{500}, Level::flushed, {1, nobody_asks}) == Waited::confirmed);
    senders.put(follower(1, "A", 90));
    senders.put(follower(3, "c", 900));
    CHECK(senders.list()[0].sync_state == "sync");
    CHECK(senders.list()[1].sync_state == "potential");
    CHECK(senders.list()[2].sync_state == "async");
    WaitingSession waiting{senders, 101};
    CHECK(waiting.after_a_while() == "waits");
    CHECK(senders.waiting() == std::vector<std::int32_t>{77});
    // Its word for a lower level is no word for this one.
    CHECK(senders.await(Lsn{100}, Level::written, {1, nobody_asks}) == Waited::confirmed);
    senders.put(follower(1, "a", 101));
    CHECK(waiting.after_a_while() == "confirmed");
    WaitingSession next{senders, 102};
    CHECK(next.after_a_while() == "waits");
    // The next of the list is in its place.
    senders.remove(1);
    CHECK(next.after_a_while() == "confirmed");

    senders.set_rule(rule_of("ANY 2 (a, b, c)"));
    senders.put(follower(1, "a", 90));
    CHECK(senders.list()[0].sync_state == "quorum");
    CHECK(senders.await(Lsn{500}, Level::flushed, {1, nobody_asks}) == Waited::confirmed);
    WaitingSession quorum{senders, 501};
    CHECK(quorum.after_a_while() == "waits");
    senders.put(follower(1, "a", 501));
    CHECK(quorum.after_a_while() == "confirmed");
  });
}

TEST_CASE("who has not caught up confirms nothing, and a follower says itself what it has replayed",
          "[sql][replication]") {
  Simulation simulation{2};
  simulation.run([] {
    LogSenders senders;
    senders.set_rule(rule_of("*"));
    LogSenders::Sender late = follower(1, "a", 500);
    late.catches_up = true;
    senders.put(late);
    WaitingSession waiting{senders, 400, Level::replayed};
    CHECK(waiting.after_a_while() == "waits");
    late.catches_up = false;
    senders.put(late);
    CHECK(waiting.after_a_while() == "confirmed");
    // A moment behind is not a new beginning.
    late.catches_up = true;
    senders.put(late);
    CHECK(senders.list().front().state() == "streaming");
    // Log that is durable there need not be replayed.
    senders.remove(1);
    LogSenders::Sender behind = follower(4, "a", 500);
    behind.replayed = Lsn{399};
    senders.put(behind);
    WaitingSession applied{senders, 400, Level::replayed};
    CHECK(applied.after_a_while() == "waits");
    behind.replayed = Lsn{400};
    senders.put(behind);
    CHECK(applied.after_a_while() == "confirmed");
  });
}

TEST_CASE("lags are the time from sending to the follower's word, and are forgotten when idle",
          "[sql][replication]") {
  Simulation simulation{4};
  simulation.run([] {
    const auto ms = [](int count) { return std::chrono::milliseconds{count}; };
    // Sleeps of the simulation are some microseconds longer.
    const auto whole = [](std::optional<Duration> lag) {
      return lag ? std::chrono::duration_cast<std::chrono::milliseconds>(*lag).count() : -1;
    };
    const auto pass = [&](int count) {
      Runtime::current().sleep_until(Runtime::current().now() + ms(count));
    };
    LogSenders senders;
    LogSenders::Sender sender = follower(1, "a", 0);
    sender.written = sender.flushed = sender.replayed = Lsn::none;
    const auto reply = [&](std::uint64_t written, std::uint64_t flushed, std::uint64_t replayed) {
      sender.written = Lsn{written};
      sender.flushed = Lsn{flushed};
      sender.replayed = Lsn{replayed};
      ++sender.replied_at;
      senders.put(sender);
      return senders.list().front();
    };
    const auto send = [&](std::uint64_t end) {
      sender.sent = Lsn{end};
      senders.put(sender);
    };
    send(100);
    CHECK(!senders.list().front().write_lag);
    pass(10);
    send(200);
    pass(30);
    // The first of the two is written, and nothing else is known.
    LogSenders::Sender seen = reply(100, 0, 0);
    CHECK(whole(seen.write_lag) == 40);
    CHECK(whole(seen.flush_lag) == 40);
    pass(10);
    seen = reply(200, 100, 100);
    CHECK(whole(seen.write_lag) == 40);
    CHECK(whole(seen.flush_lag) == 50);
    CHECK(whole(seen.replay_lag) == 50);
    pass(20);
    // Half of the way between two positions counts as half of the time between them.
    seen = reply(200, 200, 150);
    CHECK(whole(seen.flush_lag) == 60);
    CHECK(whole(seen.replay_lag) == 65);
    seen = reply(200, 200, 200);
    CHECK(whole(seen.replay_lag) == 60);
    CHECK(whole(seen.write_lag) == 40);
    pass(10'000);
    seen = reply(200, 200, 200);
    CHECK(!seen.write_lag);
    CHECK(!seen.flush_lag);
    CHECK(!seen.replay_lag);
    // Far behind, with many positions.
    for (std::uint64_t i = 1; i <= 3 * LagTracker::kSamples; ++i) {
      send(200 + i);
      pass(1);
    }
    seen = reply(300, 300, 300);
    CHECK(whole(seen.write_lag) / 1000 == 12);
    seen = reply(200 + 3 * LagTracker::kSamples, 300, 300);
    CHECK(whole(seen.write_lag) == 1);
  });
}

TEST_CASE("a wait for followers ends when it is cancelled, or when nobody is asked for",
          "[sql][replication]") {
  Simulation simulation{3};
  simulation.run([] {
    LogSenders senders;
    senders.set_rule(rule_of("a"));
    WaitingSession cancelled{senders, 10};
    WaitingSession patient{senders, 10};
    CHECK(cancelled.after_a_while() == "waits");
    cancelled.asked.cancel(std::nullopt);
    CHECK(cancelled.after_a_while() == "interrupted");
    CHECK(patient.after_a_while() == "waits");
    senders.set_rule({});
    CHECK(patient.after_a_while() == "confirmed");
    CHECK(senders.waiting().empty());
  });
}

}  // namespace swizzle::sql
