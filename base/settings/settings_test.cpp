#include "base/settings/settings.h"

#include <catch2/catch.hpp>

using namespace swizzle;
using Catch::Contains;

namespace {

constexpr RealBounds kShare{0, 1};

void define_all(Settings& settings) {
  using enum SettingContext;
  settings.define(integer_setting("shared_buffers", 16384, {16, 1 << 30}, SettingUnit::blocks,
                                  postmaster, "Resource Usage / Memory", "Size of the pool."));
  settings.define(integer_setting("work_mem", 4096, {64, INT32_MAX}, SettingUnit::kilobytes, user,
                                  "Resource Usage / Memory", "Memory of one operation."));
  settings.define(integer_setting("statement_timeout", 0, {0, INT32_MAX}, SettingUnit::milliseconds,
                                  user, "Client", "Longest statement."));
  settings.define(integer_setting("checkpoint_timeout", 300, {30, 86400}, SettingUnit::seconds,
                                  sighup, "Write-Ahead Log", "Time between checkpoints."));
  settings.define(boolean_setting("fsync", true, sighup, "Write-Ahead Log", "Durability."));
  settings.define(real_setting("cursor_tuple_fraction", 0.1, kShare, SettingUnit::none, user,
                               "Query Tuning", "Share of rows that will be fetched."));
  settings.define(enumeration_setting("synchronous_commit", "on", {"local", "on", "off"}, user,
                                      "Write-Ahead Log", "When a commit returns."));
  settings.define(string_setting("application_name", "", user, "Client", "Shown in logs."));
  settings.define(string_setting("server_version", "15.0", internal, "Preset", "The version."));
  settings.define(integer_setting("log_min_duration_statement", -1, {-1, INT32_MAX},
                                  SettingUnit::milliseconds, superuser, "Logging", "Slow ones."));
}

Result<std::int64_t> kilobytes(std::string_view text) {
  return parse_integer_setting("work_mem", text, SettingUnit::kilobytes, {64, INT32_MAX});
}

}  // namespace

TEST_CASE("numbers are read as PostgreSQL reads them", "[settings]") {
  REQUIRE(kilobytes("64MB").value() == 65536);
  REQUIRE(kilobytes(" 64 MB ").value() == 65536);
  REQUIRE(kilobytes("100").value() == 100);
  REQUIRE(kilobytes("0x100").value() == 256);
  REQUIRE(kilobytes("0100").value() == 64);
  REQUIRE(kilobytes("1.5GB").value() == 1572864);
  REQUIRE(kilobytes("1e3").value() == 1000);
  REQUIRE(kilobytes("99.6").value() == 100);
  REQUIRE(kilobytes("131072B").value() == 128);
  REQUIRE(kilobytes("1TB").value() == 1 << 30);
  REQUIRE(parse_integer_setting("t", "5s", SettingUnit::milliseconds, {}).value() == 5000);
  REQUIRE(parse_integer_setting("t", "2min", SettingUnit::seconds, {}).value() == 120);
  REQUIRE(parse_integer_setting("t", "1d", SettingUnit::minutes, {}).value() == 1440);
  REQUIRE(parse_integer_setting("t", "-1", SettingUnit::milliseconds, {}).value() == -1);
  REQUIRE(parse_integer_setting("t", "8GB", SettingUnit::bytes, {0, INT64_MAX}).value() ==
          std::int64_t{8} << 30);
  REQUIRE(parse_real_setting("r", ".25", SettingUnit::none, kShare).value() == 0.25);
}

TEST_CASE("bad numbers are refused with PostgreSQL's words", "[settings]") {
  const auto wrong_unit = kilobytes("5 parsecs");
  REQUIRE(wrong_unit.error().state() == sqlstate::invalid_parameter_value);
  REQUIRE(wrong_unit.error().message() ==
          "invalid value for parameter \"work_mem\": \"5 parsecs\"");
  REQUIRE(wrong_unit.error().hint() ==
          "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".");
  REQUIRE_FALSE(kilobytes("64mb"));
  REQUIRE_FALSE(kilobytes("5s"));
  REQUIRE_FALSE(kilobytes(""));
  REQUIRE_FALSE(kilobytes("MB"));
  REQUIRE_FALSE(kilobytes("nan"));
  REQUIRE_FALSE(kilobytes("inf"));
  REQUIRE_FALSE(kilobytes("--5"));
  REQUIRE(kilobytes("1kB").error().message() ==
          "1 kB is outside the valid range for parameter \"work_mem\" (64 kB .. 2147483647 kB)");
  REQUIRE(kilobytes("5000000000").error().hint() == "Value exceeds integer range.");
  REQUIRE(kilobytes("1e30").error().hint() == "Value exceeds integer range.");
  REQUIRE(parse_real_setting("r", "1.5", SettingUnit::none, kShare).error().message() ==
          "1.5 is outside the valid range for parameter \"r\" (0 .. 1)");
}

TEST_CASE("booleans and enumerations in all their spellings", "[settings]") {
  for (const auto* text : {"on", "ON", "true", "t", "tr", "yes", "y", "1"}) {
    CAPTURE(text);
    REQUIRE(parse_boolean_setting("b", text).value());
  }
  for (const auto* text : {"off", "of", "false", "F", "no", "n", "0"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parse_boolean_setting("b", text).value());
  }
  for (const auto* text : {"o", "", "2", "truer", "onn"}) {
    CAPTURE(text);
    REQUIRE(parse_boolean_setting("b", text).error().message() ==
            "parameter \"b\" requires a Boolean value");
  }
  const std::vector<std::string> values{"local", "on"};
  REQUIRE(parse_enumeration_setting("e", "LOCAL", values).value() == "local");
  REQUIRE(parse_enumeration_setting("e", "x", values).error().hint() ==
          "Available values: local, on.");
}

TEST_CASE("SHOW writes the largest unit that leaves the number whole", "[settings]") {
  const auto show = [](std::int64_t value, SettingUnit unit) { return show_setting(value, unit); };
  REQUIRE(show(65536, SettingUnit::kilobytes) == "64MB");
  REQUIRE(show(4100, SettingUnit::kilobytes) == "4100kB");
  REQUIRE(show(16384, SettingUnit::blocks) == "128MB");
  REQUIRE(show(1, SettingUnit::blocks) == "8kB");
  REQUIRE(show(5000, SettingUnit::milliseconds) == "5s");
  REQUIRE(show(5001, SettingUnit::milliseconds) == "5001ms");
  REQUIRE(show(300, SettingUnit::seconds) == "5min");
  REQUIRE(show(86400, SettingUnit::seconds) == "1d");
  REQUIRE(show(0, SettingUnit::milliseconds) == "0");
  REQUIRE(show(-1, SettingUnit::milliseconds) == "-1");
  REQUIRE(show_setting(true, SettingUnit::none) == "on");
  REQUIRE(show_setting(0.1, SettingUnit::none) == "0.1");
  REQUIRE(show_setting(2.5, SettingUnit::milliseconds) == "2500us");
  REQUIRE(bare_setting(SettingValue{std::int64_t{65536}}) == "65536");
}

TEST_CASE("a settings file is read line by line", "[settings]") {
  const auto parsed = parse_settings_file(
      "# comment\n"
      "shared_buffers = 64MB   # trailing\n"
      "\n"
      "  Work_Mem 1MB\r\n"
      "application_name = 'it''s \\'x\\' # not a comment'\n"
      "my.extension = on\n"
      "path=/tmp/a-b.c",
      "swizzle.conf");
  REQUIRE(parsed);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& line : *parsed) pairs.emplace_back(line.name, line.value);
  REQUIRE(pairs == std::vector<std::pair<std::string, std::string>>{
                       {"shared_buffers", "64MB"},
                       {"work_mem", "1MB"},
                       {"application_name", "it's 'x' # not a comment"},
                       {"my.extension", "on"},
                       {"path", "/tmp/a-b.c"}});
  REQUIRE((*parsed)[1].origin == "file \"swizzle.conf\" line 4");
  for (const auto* bad : {"x =", "= 5", "x = 'open", "x = a b", "5x = 1", "x. = 1", "x = 'a\\"}) {
    CAPTURE(bad);
    const auto result = parse_settings_file(std::string{"ok = 1\n"} + bad, "f");
    REQUIRE(result.error().state() == sqlstate::config_file_error);
    REQUIRE_THAT(result.error().message(), Contains("file \"f\" line 2"));
  }
}

TEST_CASE("the server's settings: start, precedence, reload", "[settings]") {
  Settings settings;
  define_all(settings);
  const auto file = [](std::string_view text) { return parse_settings_file(text, "f").value(); };
  for (const auto& line : file("shared_buffers = 256MB\nwork_mem = 8MB\nfsync = off")) {
    REQUIRE(settings.set_at_start(line, SettingSource::file));
  }
  REQUIRE(settings.set_at_start({"work_mem", "1MB", "command line"}, SettingSource::command_line));
  REQUIRE(settings.set_at_start({"WORK_MEM", "2MB", "file"}, SettingSource::file));
  REQUIRE(settings.integer("work_mem") == 1024);
  REQUIRE(settings.integer("shared_buffers") == 32768);
  REQUIRE_FALSE(settings.boolean("fsync"));
  const auto unknown = settings.set_at_start({"wrok_mem", "1", "here"}, SettingSource::file);
  REQUIRE(unknown.error().message() == "unrecognized configuration parameter \"wrok_mem\"");
  REQUIRE(unknown.error().detail() == "Set by here.");
  REQUIRE_FALSE(settings.set_at_start({"server_version", "9", ""}, SettingSource::file));

  std::vector<std::string> seen;
  settings.on_change("fsync",
                     [&](const SettingValue& value) { seen.push_back(bare_setting(value)); });
  REQUIRE_FALSE(settings.reload(file("fsync = on\nwork_mem = 1B")));
  REQUIRE_FALSE(settings.boolean("fsync"));
  REQUIRE(settings.reload(file("shared_buffers = 512MB\ncheckpoint_timeout = 1min")));
  REQUIRE(settings.boolean("fsync"));
  REQUIRE(seen == std::vector<std::string>{"on"});
  REQUIRE(settings.integer("shared_buffers") == 32768);
  REQUIRE(settings.view(*settings.find("shared_buffers")).pending_restart);
  REQUIRE(settings.integer("checkpoint_timeout") == 60);
  REQUIRE(settings.integer("work_mem") == 1024);
  REQUIRE(settings.all().front().definition->name == "application_name");
  REQUIRE(settings.find("fsync")->type_name() == "bool");
  REQUIRE(settings.find("synchronous_commit")->type_name() == "enum");
}

TEST_CASE("what was set for a call ends with it, and what the call has set stays", "[settings]") {
  Settings server;
  define_all(server);
  using Lifetime = SessionSettings::Lifetime;
  SessionSettings session{server, [] { return SessionSettings::Power::ordinary; }};
  REQUIRE(session.set("work_mem", "3MB", Lifetime::session));
  session.commit();
  const auto call = [&](auto&& body) {
    const auto mark = session.mark();
    REQUIRE(session.set("work_mem", "1MB", Lifetime::transaction));
    REQUIRE(session.set("application_name", "called", Lifetime::transaction));
    body();
    session.end_own(mark, 2);
    CHECK(session.text("application_name").empty());
    return session.mark() == mark;
  };
  CHECK(call([] {}));
  CHECK(session.show("work_mem").value() == "3MB");
  CHECK(call([&] { REQUIRE(session.set("work_mem", "2MB", Lifetime::transaction)); }));
  CHECK(session.show("work_mem").value() == "3MB");
  CHECK_FALSE(call([&] {
    REQUIRE(session.set("statement_timeout", "5s", Lifetime::transaction));
    REQUIRE(session.set("work_mem", "2MB", Lifetime::session));
  }));
  CHECK(session.show("work_mem").value() == "2MB");
  CHECK(session.integer("statement_timeout") == 5000);
  session.commit();
  CHECK(session.show("work_mem").value() == "2MB");
  CHECK(session.integer("statement_timeout") == 0);
  CHECK_FALSE(call([&] { REQUIRE(session.reset("work_mem")); }));
  CHECK(session.show("work_mem").value() == "4MB");
  session.roll_back();
  CHECK(session.show("work_mem").value() == "2MB");
}

TEST_CASE("a session's settings follow its transactions", "[settings]") {
  Settings server;
  define_all(server);
  using Lifetime = SessionSettings::Lifetime;
  SessionSettings session{server, [] { return SessionSettings::Power::ordinary; }};
  REQUIRE(session.set_at_start("application_name", "psql", SettingSource::client));
  REQUIRE(session.set_at_start("application_name", "other", SettingSource::database));
  REQUIRE(session.text("application_name") == "psql");
  REQUIRE(session.show("Work_Mem").value() == "4MB");

  REQUIRE(session.set("work_mem", "1MB", Lifetime::session));
  session.commit();
  REQUIRE(session.set("work_mem", "2MB", Lifetime::session));
  const auto mark = session.mark();
  REQUIRE(session.set("work_mem", "3MB", Lifetime::session));
  session.roll_back_to(mark);
  REQUIRE(session.show("work_mem").value() == "2MB");
  REQUIRE(session.set("work_mem", "5MB", Lifetime::transaction));
  REQUIRE(session.set("statement_timeout", "5s", Lifetime::transaction));
  REQUIRE(session.show("work_mem").value() == "5MB");
  session.commit();
  REQUIRE(session.show("work_mem").value() == "2MB");
  REQUIRE(session.integer("statement_timeout") == 0);
  REQUIRE(session.set("work_mem", "7MB", Lifetime::session));
  session.roll_back();
  REQUIRE(session.show("work_mem").value() == "2MB");

  REQUIRE(session.set("application_name", "x", Lifetime::session));
  session.reset_all();
  REQUIRE(session.text("application_name") == "psql");
  REQUIRE(session.show("work_mem").value() == "4MB");
  session.commit();
  for (const auto& view : session.all()) {
    if (view.definition->name != "application_name") continue;
    REQUIRE(view.source == SettingSource::client);
    REQUIRE(bare_setting(view.reset_value) == "psql");
  }
}

TEST_CASE("who may change what, and when", "[settings]") {
  Settings server;
  define_all(server);
  SessionSettings session{server, [] { return SessionSettings::Power::ordinary; }};
  const auto set = [&](std::string_view name, std::string_view value) {
    const auto result = session.set(name, value, SessionSettings::Lifetime::session);
    return result ? std::string{} : std::string{result.error().state().code()};
  };
  REQUIRE(set("nonsense", "1") == "42704");
  REQUIRE(set("shared_buffers", "1GB") == "55P02");
  REQUIRE(set("fsync", "off") == "55P02");
  REQUIRE(set("server_version", "16") == "55P02");
  REQUIRE(set("log_min_duration_statement", "0") == "42501");
  REQUIRE(set("synchronous_commit", "sometimes") == "22023");
  REQUIRE(set("synchronous_commit", "OFF").empty());
  REQUIRE(session.text("synchronous_commit") == "off");
  REQUIRE_FALSE(session.set_at_start("shared_buffers", "1GB", SettingSource::client));
  REQUIRE(session.set_at_start("pg_stat_statements.track", "none", SettingSource::client));
  REQUIRE(session.show("pg_stat_statements.track").value() == "none");
  REQUIRE(session.set_at_start("none_such", "1", SettingSource::client).error().state() ==
          sqlstate::undefined_object);
  auto power = SessionSettings::Power::superuser;
  SessionSettings superuser{server, [&] { return power; }};
  REQUIRE(superuser.set("log_min_duration_statement", "250ms", SessionSettings::Lifetime::session));
  power = SessionSettings::Power::ordinary;
  REQUIRE_FALSE(
      superuser.set("log_min_duration_statement", "1s", SessionSettings::Lifetime::session));
  REQUIRE_FALSE(superuser.reset("log_min_duration_statement"));
  superuser.reset_all();
}
