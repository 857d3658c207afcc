#include <libpq-fe.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "server/session/testing/swizzled_process.h"

// Event triggers of logins, over the wire.
namespace swizzle::server {
namespace {

constexpr int kServerPort = 7011;

/// A connection that may have been refused.
class LoggedIn {
 public:
  explicit LoggedIn(const std::string& conninfo)
      : connection_(PQconnectStart(conninfo.c_str()), &PQfinish) {
    // In steps, so that notices before the first request are kept.
    PQsetNoticeReceiver(connection_.get(), &LoggedIn::keep_notice, this);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
      state = PQconnectPoll(connection_.get());
    }
  }
  [[nodiscard]] bool is_in() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  [[nodiscard]] std::string error() const { return PQerrorMessage(connection_.get()); }
  [[nodiscard]] const std::string& notices() const { return notices_; }
  std::string ask(const std::string& sql) const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{
        PQexec(connection_.get(), sql.c_str()), &PQclear};
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR)
      return PQresultErrorMessage(result.get());
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : PQcmdStatus(result.get());
  }

 private:
  static void keep_notice(void* self, const PGresult* notice) {
    static_cast<LoggedIn*>(self)->notices_ += PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
  std::string notices_;
};

}  // namespace

TEST_CASE("Triggers of logins run before a session's first request, and may refuse it",
          "[login_triggers]") {
  testing::ServerHome home;
  REQUIRE(home.run({"init", "-D", home.data("server"), "--peer-only"}) == 0);
  home.start("server", kServerPort);
  REQUIRE(home.is_open("server"));
  const std::string conninfo = home.conninfo(kServerPort);
  {
    const LoggedIn first{conninfo};
    REQUIRE(first.is_in());
    CHECK(first.ask("CREATE TABLE logins(who name, tag text)") == "CREATE TABLE");
    CHECK(first.ask("CREATE FUNCTION greet() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "INSERT INTO logins VALUES (session_user, tg_event || ' ' || tg_tag); "
                    "RAISE NOTICE 'welcome'; "
                    "IF current_setting('application_name') = 'unwanted' THEN "
                    "RAISE EXCEPTION 'not you' USING ERRCODE = '28000', DETAIL = 'by a trigger'; "
                    "END IF; PERFORM set_config('work_mem', '1MB', false); END $$") ==
          "CREATE FUNCTION");
    CHECK(first.ask("CREATE EVENT TRIGGER greeting ON login EXECUTE FUNCTION greet()") ==
          "CREATE EVENT TRIGGER");
    CHECK(first.ask("ALTER EVENT TRIGGER greeting ENABLE ALWAYS") == "ALTER EVENT TRIGGER");
  }
  {
    const LoggedIn second{conninfo};
    REQUIRE(second.is_in());
    CHECK(second.notices() == "welcome");
    CHECK(second.ask("SELECT string_agg(who || ' ' || tag, ', ') = session_user || ' login LOGIN' "
                     "FROM logins") == "t");
    CHECK(second.ask("SHOW work_mem") == "1MB");
  }
  {
    const LoggedIn refused{conninfo + " application_name=unwanted"};
    CHECK_FALSE(refused.is_in());
    CHECK(refused.error().contains("FATAL:  not you\nDETAIL:  by a trigger\n"));
  }
  const LoggedIn exempt{conninfo + " application_name=unwanted options='-c event_triggers=off'"};
  REQUIRE(exempt.is_in());
  CHECK(exempt.notices().empty());
  // Rolled back with its error.
  CHECK(exempt.ask("SELECT count(*) FROM logins") == "1");
  CHECK(exempt.ask("ALTER EVENT TRIGGER greeting DISABLE") == "ALTER EVENT TRIGGER");
  CHECK(LoggedIn{conninfo + " application_name=unwanted"}.is_in());
}

}  // namespace swizzle::server
