#pragma once

#include <libpq-fe.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>

#include "server/session/testing/swizzled_process.h"

/// A primary and its standby as processes, and sessions with them.
namespace swizzle::server::testing {

struct EndSession {
  void operator()(PGconn* session) const { PQfinish(session); }
  void operator()(PGresult* answer) const { PQclear(answer); }
};

/// The answer of a statement without rows.
inline const std::string kNothing;

/// A session that is kept.
class Client {
 public:
  /// A statement that waits for too long fails, so that its test does not wait for ever.
  explicit Client(const std::string& conninfo)
      : session_(PQconnectdb((conninfo + " options='-c statement_timeout=2min'").c_str())) {}
  /// Returns the first value of the last result, or all errors with their states.
  std::string ask(const std::string& sql) {
    if (PQstatus(session_.get()) != CONNECTION_OK) return PQerrorMessage(session_.get());
    if (PQsendQuery(session_.get(), sql.c_str()) == 0) return PQerrorMessage(session_.get());
    std::string value;
    std::string errors;
    while (PGresult* const next = PQgetResult(session_.get())) {
      const std::unique_ptr<PGresult, EndSession> answer{next};
      if (PQresultStatus(next) == PGRES_FATAL_ERROR) {
        // Null where the connection has gone.
        const char* const state = PQresultErrorField(next, PG_DIAG_SQLSTATE);
        errors += std::string{state == nullptr ? "" : state} + " " + PQresultErrorMessage(next);
      } else {
        value = PQntuples(next) == 0 ? "" : PQgetvalue(next, 0, 0);
      }
    }
    return errors.empty() ? value : errors;
  }
  [[nodiscard]] std::string parameter(const char* name) const {
    const char* const value = PQparameterStatus(session_.get(), name);
    return value == nullptr ? "" : value;
  }

 private:
  std::unique_ptr<PGconn, EndSession> session_;
};

/// Asks in a session of its own.
inline std::string ask(const std::string& conninfo, const std::string& sql) {
  return Client{conninfo}.ask(sql);
}

/// False if it does not become the answer within half a minute.
inline bool await_answer(const std::string& conninfo, const std::string& sql,
                         const std::string& wanted) {
  for (int i = 0; i < 3000; ++i) {
    if (ask(conninfo, sql) == wanted) return true;
    ::usleep(10'000);
  }
  return false;
}

inline void add_setting(const ServerHome& home, const std::string& name, const std::string& line) {
  std::ofstream{home.data(name) + "/swizzle.auto.conf", std::ios::app} << line << '\n';
}

/// A primary with a table, and a standby that has been copied from it and started.
struct TwoServers {
  static constexpr int kPrimaryPort = 7001;
  static constexpr int kStandbyPort = 7002;

  /// `settings`: lines for the standby. `of_both`: for the primary, which is copied.
  explicit TwoServers(const std::string& settings = "", const std::string& of_both = "") {
    REQUIRE(home.run({"init", "-D", home.data("first"), "--peer-only"}) == 0);
    std::ofstream{home.data("first") + "/swizzle.auto.conf", std::ios::app} << of_both;
    home.start("first", kPrimaryPort);
    REQUIRE(home.is_open("first"));
    CHECK(ask(primary, "CREATE TABLE rows AS SELECT n FROM generate_series(1, 1000) n") ==
          kNothing);
    INFO(home.log_of("init"));
    REQUIRE(home.run({"init", "-D", home.data("second"), "--standby-of", primary, "--slot", "s"},
                     "init.log") == 0);
    std::ofstream{home.data("second") + "/swizzle.auto.conf", std::ios::app} << settings;
    home.start("second", kStandbyPort);
  }
  /// Waits until the standby has what the primary has.
  bool has_all() const {
    return await_answer(primary,
                        "SELECT flush_lsn >= pg_current_wal_lsn() FROM pg_stat_replication", "t");
  }

  ServerHome home;
  const std::string primary = home.conninfo(kPrimaryPort);
  const std::string standby = home.conninfo(kStandbyPort);
};

}  // namespace swizzle::server::testing
