#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>

#include "server/main/data_directory.h"
#include "server/main/server_settings.h"
#include "server/main/settings_files.h"
#include "server/main/text_file.h"

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

Result<ServerSettings> settings_of(std::string_view text) {
  Settings settings;
  define_server_settings(settings);
  ASSIGN_OR_RETURN(const std::vector<SettingAssignment> file, parse_settings_file(text, "f"));
  for (const SettingAssignment& assignment : file) {
    RETURN_IF_ERROR(settings.set_at_start(assignment, SettingSource::file));
  }
  return server_settings(settings);
}

TEST_CASE("settings have PostgreSQL's names, units and limits") {
  CHECK(settings_of("")->listen_addresses == std::vector<std::string>{"localhost"});
  const auto settings = settings_of(
      "port=1\nauthentication_timeout=2min\nshared_buffers=1000\nlisten_addresses='a, b'\n"
      "port=2\nmax_connections=7");
  REQUIRE(settings);
  CHECK(settings->port == 2);  // the last one wins
  CHECK(settings->authentication_timeout == std::chrono::minutes{2});
  CHECK(settings->engine.pool_bytes == 8'192'000);
  CHECK(settings->listen_addresses == std::vector<std::string>{"a", "b"});
  CHECK(settings->limits.max_connections == 7);
  CHECK(settings_of("shared_buffers=2GB")->engine.pool_bytes == std::uint64_t{2} << 30U);
  for (const char* bad : {"port=65536", "port=5kB", "shared_buffers=5min",
                          "authentication_timeout=0", "authentication_timeout=5MB",
                          "max_connections=0", "ssl_cert_file=x", "max_connections=2"}) {
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
    const auto first = PidFile::take(directory, {getpid(), "5432", "/tmp", "127.0.0.1"});
    REQUIRE(first);
    const auto running = find_running(directory);
    REQUIRE(running);
    REQUIRE(running->has_value());
    CHECK((*running)->process == getpid());
    CHECK((*running)->port == "5432");
    CHECK((*running)->address == "127.0.0.1");
    // The lines of postmaster.pid, by which Patroni knows a server.
    const auto text = read_text_file(directory.pid_file().string());
    REQUIRE(text);
    std::istringstream lines{*text};
    std::string process;
    std::string data;
    std::int64_t started = 0;
    lines >> process >> data >> started;
    CHECK(data == temporary.path());
    CHECK(std::abs(started - std::time(nullptr)) <= 2);
    const auto second = PidFile::take(directory, {getpid(), "5433", "/tmp"});
    REQUIRE_FALSE(second);
    CHECK(second.error().state() == sqlstate::object_in_use);
  }
  CHECK_FALSE(find_running(directory)->has_value());
  CHECK_FALSE(std::filesystem::exists(directory.pid_file()));
  // Files left by a crash do not matter.
  REQUIRE(write_text_file(directory.pid_file().string(), "1\n/data\n0\n5432\n/tmp\n127.0.0.1\n"));
  CHECK_FALSE(find_running(directory)->has_value());
  CHECK(PidFile::take(directory, {getpid(), "5432", "/tmp"}));

  std::filesystem::permissions(temporary.path(), std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  CHECK_FALSE(directory.check_usable());
}

TEST_CASE("a settings file includes others, where it says so") {
  const TemporaryDirectory temporary;
  const std::filesystem::path home = temporary.path();
  const auto write = [&](const char* name, std::string_view text) {
    REQUIRE(write_text_file((home / name).string(), text));
  };
  std::filesystem::create_directory(home / "more");
  write("swizzle.conf", "port = 1\n");
  write("main.conf",
        "max_connections = 50\ninclude 'more/base.conf'\ninclude_if_exists = 'none.conf'\n"
        "port = 3\n");
  write("more/base.conf", "port = 2\nmax_connections = 60\ninclude 'last.conf'\n");
  write("more/last.conf", "wal_buffers = 128\npage_repair_backup = '/full, /part'\n");
  write("swizzle.auto.conf", "shared_buffers = 1000\n");
  const DataDirectory directory{home, home / "main.conf"};
  CHECK(directory.check_usable());
  const auto file = read_settings_files(directory);
  REQUIRE(file);
  const auto settings = early_settings({*file, {{"max_connections", "70", "command line"}}});
  REQUIRE(settings);
  CHECK(settings->port == 3);
  CHECK(settings->limits.max_connections == 70);
  CHECK(settings->engine.log_buffer_bytes == 128 * 8192);
  CHECK(settings->engine.repair_backups ==
        std::vector<std::filesystem::path>{"/full/engine", "/part/engine"});
  CHECK(settings->engine.pool_bytes == 8'192'000);
  CHECK(read_settings_files(DataDirectory{home})->size() == 2);

  write("more/last.conf", "port = \n");
  const auto bad = read_settings_files(directory);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message().find("more/last.conf\" line 1") != std::string::npos);
  write("more/last.conf", "include 'base.conf'\n");
  CHECK(read_settings_files(directory).error().message().find("nesting depth") !=
        std::string::npos);
  write("more/last.conf", "include 'none.conf'\n");
  CHECK(read_settings_files(directory).error().detail().find("last.conf\" line 1") !=
        std::string::npos);
  write("main.conf", "include_dir 'more'\n");
  CHECK(read_settings_files(directory).error().state() == sqlstate::feature_not_supported);
}

}  // namespace
}  // namespace swizzle::server
