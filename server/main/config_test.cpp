#include <catch2/catch.hpp>
#include <filesystem>

#include "server/main/config_file.h"
#include "server/main/data_directory.h"
#include "server/main/server_settings.h"

namespace swizzle::server {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "swizzled-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST_CASE("settings files have PostgreSQL's format") {
  const auto parsed = parse_config(R"(
# comment
port = 5433
listen_addresses 'a, b'   # without "="
name='it''s \'quoted\' # not a comment'
shared_buffers=128MB
)",
                                   "f");
  REQUIRE(parsed);
  REQUIRE(parsed->size() == 4);
  CHECK((*parsed)[0].name == "port");
  CHECK((*parsed)[0].value == "5433");
  CHECK((*parsed)[0].origin == "f, line 3");
  CHECK((*parsed)[1].value == "a, b");
  CHECK((*parsed)[2].value == "it's 'quoted' # not a comment");
  CHECK((*parsed)[3].value == "128MB");
  for (const char* bad : {"port", "port =", "= 5", "port = 5 6", "name = 'open", "a b c"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_config(bad, "f"));
  }
  const std::string odd = "it's a \\ thing";
  CHECK(parse_config("x = " + quote_config_value(odd), "f")->at(0).value == odd);
}

Result<ServerSettings> settings_of(std::string_view text) {
  return make_settings(*parse_config(text, "f"));
}

TEST_CASE("settings have names, units and limits") {
  const auto settings = settings_of(
      "port=1\nauthentication_timeout=2min\nshared_buffers=1000\nlisten_addresses=''\n"
      "statement_timeout=5s\nport=2\nmax_connections=7");
  REQUIRE(settings);
  CHECK(settings->port == 2);  // the last one wins
  CHECK(settings->authentication_timeout == std::chrono::minutes{2});
  CHECK(settings->engine.pool_bytes == 8'192'000);
  CHECK(settings->listen_addresses.empty());
  CHECK(settings->limits.max_connections == 7);
  REQUIRE(settings->session_defaults.size() == 1);
  CHECK(settings->session_defaults[0].first == "statement_timeout");
  CHECK(settings_of("shared_buffers=2GB")->engine.pool_bytes == std::uint64_t{2} << 30U);
  for (const char* bad : {"port=65536", "port=-1", "port=5kB", "shared_buffers=5min",
                          "shared_buffers=99999999999TB", "authentication_timeout=0",
                          "authentication_timeout=5MB", "max_connections=0", "ssl_cert_file=x"}) {
    CAPTURE(bad);
    CHECK_FALSE(settings_of(bad));
  }
}

TEST_CASE("a data directory has one server at a time") {
  const TemporaryDirectory temporary;
  const DataDirectory directory{temporary.path()};
  CHECK_FALSE(directory.check_usable());
  REQUIRE(write_text_file(directory.settings_file().string(), "port = 1\n"));
  CHECK(directory.check_usable());
  CHECK_FALSE(find_running(directory)->has_value());
  {
    const auto first = PidFile::take(directory, {getpid(), "5432", "/tmp"});
    REQUIRE(first);
    const auto running = find_running(directory);
    REQUIRE(running);
    REQUIRE(running->has_value());
    CHECK((*running)->process == getpid());
    CHECK((*running)->port == "5432");
    const auto second = PidFile::take(directory, {getpid(), "5433", "/tmp"});
    REQUIRE_FALSE(second);
    CHECK(second.error().state() == sqlstate::object_in_use);
  }
  CHECK_FALSE(find_running(directory)->has_value());
  CHECK_FALSE(std::filesystem::exists(directory.pid_file()));
  // What a crash leaves behind is no obstacle.
  REQUIRE(write_text_file(directory.pid_file().string(), "1\n5432\n/tmp\n"));
  CHECK_FALSE(find_running(directory)->has_value());
  CHECK(PidFile::take(directory, {getpid(), "5432", "/tmp"}));

  std::filesystem::permissions(temporary.path(), std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  CHECK_FALSE(directory.check_usable());
}

}  // namespace
}  // namespace swizzle::server
