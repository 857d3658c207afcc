#include "sql-lite-frontend/session/shared/notifications.h"

#include <catch2/catch.hpp>

using namespace swizzle::sql;

namespace {

std::vector<std::string> heard(Notifications::Listener& listener) {
  std::vector<std::string> payloads;
  for (const NotificationPtr& notification : listener.take()) {
    payloads.push_back(notification->channel + ":" + notification->payload);
  }
  return payloads;
}

}  // namespace

TEST_CASE("Those who listen to a channel of the database hear it, once and in order",
          "[sql][notify]") {
  Notifications hub;
  int wakes = 0;
  Notifications::Listener first{hub, "a", [&] { ++wakes; }};
  Notifications::Listener second{hub, "a", {}};
  Notifications::Listener elsewhere{hub, "b", {}};
  first.listen("x");
  first.listen("y");
  second.listen("y");
  elsewhere.listen("x");
  const NotificationPtr said[] = {hub.make(7, "x", "1"), hub.make(7, "y", "2"),
                                  hub.make(7, "z", "3"), hub.make(7, "x", "4")};
  hub.publish("a", said);
  CHECK(wakes == 1);
  CHECK(first.has_any());
  CHECK(heard(first) == std::vector<std::string>{"x:1", "y:2", "x:4"});
  CHECK_FALSE(first.has_any());
  CHECK(heard(second) == std::vector<std::string>{"y:2"});
  CHECK_FALSE(elsewhere.has_any());

  first.unlisten("x");
  hub.publish("a", said);
  CHECK(heard(first) == std::vector<std::string>{"y:2"});
  first.unlisten_all();
  hub.publish("a", said);
  CHECK_FALSE(first.has_any());
  CHECK(first.channels().empty());
}

TEST_CASE("A notification counts until its last listener has heard it", "[sql][notify]") {
  Notifications hub;
  auto listener = std::make_unique<Notifications::Listener>(hub, "a", nullptr);
  listener->listen("x");
  {
    const NotificationPtr said[] = {hub.make(1, "x", std::string(4000, 'p'))};
    hub.publish("a", said);
  }
  CHECK(hub.usage() > 0);
  SECTION("it hears it") {
    listener->take();
  }
  SECTION("it goes") {
    listener.reset();
  }
  CHECK(hub.usage() == 0);
}

TEST_CASE("What a transaction says twice it says once, and a savepoint takes its part back",
          "[sql][notify]") {
  Notifications hub;
  PendingNotifications pending;
  const auto say = [&](std::string_view payload) { pending.say(hub.make(1, "x", payload)); };
  say("a");
  say("a");
  const auto mark = pending.mark();
  say("b");
  pending.resolve(PendingNotifications::Resolution::listen, "x");
  pending.roll_back_to(mark);
  CHECK(pending.said().size() == 1);
  CHECK_FALSE(pending.has_resolutions());
  say("b");
  say("a");
  CHECK(pending.said().size() == 2);
  CHECK(pending.said().back()->payload == "b");
}

TEST_CASE("Resolutions to listen apply in their order", "[sql][notify]") {
  using enum PendingNotifications::Resolution;
  Notifications hub;
  Notifications::Listener listener{hub, "a", {}};
  PendingNotifications pending;
  pending.resolve(listen, "x");
  pending.resolve(unlisten_all, "");
  pending.resolve(listen, "y");
  pending.resolve(listen, "z");
  pending.resolve(unlisten, "z");
  pending.apply_resolutions(listener);
  CHECK(listener.channels() == std::vector<std::string>{"y"});
}
