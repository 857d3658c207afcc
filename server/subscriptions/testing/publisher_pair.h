#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "server/standby/testing/two_servers.h"

namespace swizzle::server::testing {

/// A publisher and a subscriber, without tables.
struct Pair {
  static constexpr int kPublisherPort = 7001;
  static constexpr int kSubscriberPort = 7002;

  explicit Pair(const std::string& settings = "") {
    for (const char* name : {"publisher", "subscriber"}) {
      REQUIRE(home.run({"init", "-D", home.data(name), "--peer-only"}) == 0);
      add_setting(home, name, "wal_level = logical");
      add_setting(home, name, "wal_retrieve_retry_interval = 100ms");
      add_setting(home, name, settings);
    }
    start("publisher");
    start("subscriber");
  }
  void start(const std::string& name) {
    home.start(name, name == "publisher" ? kPublisherPort : kSubscriberPort);
    INFO(home.log_of(name + ".log"));
    REQUIRE(home.is_open(name));
  }
  /// Runs a statement on both.
  void define(const std::string& sql) const {
    CHECK(ask(publisher, sql) == kNothing);
    CHECK(ask(subscriber, sql) == kNothing);
  }
  std::string subscribe(const std::string& options = "") const {
    return ask(subscriber, "CREATE SUBSCRIPTION s CONNECTION '" + publisher + "' PUBLICATION p" +
                               (options.empty() ? "" : " WITH (" + options + ")"));
  }
  /// Waits until the subscriber answers the query as the publisher does now.
  [[nodiscard]] bool agree(const std::string& sql) const {
    const std::string wanted = ask(publisher, sql);
    INFO(sql);
    INFO(wanted);
    const bool is_equal = await_answer(subscriber, sql, wanted);
    CHECK(ask(subscriber, sql) == wanted);
    return is_equal;
  }

  ServerHome home;
  const std::string publisher = home.conninfo(kPublisherPort);
  const std::string subscriber = home.conninfo(kSubscriberPort);
};

inline const std::string kAllReady =
    "SELECT count(*) FILTER (WHERE srsubstate = 'r') = count(*) FROM pg_subscription_rel";

/// All rows of a table, in order.
inline std::string rows_of(const std::string& table) {
  return "SELECT md5(coalesce(string_agg(t::text, ';' ORDER BY t::text), '')) || ' ' || count(*) "
         "FROM " +
         table + " t";
}

}  // namespace swizzle::server::testing
