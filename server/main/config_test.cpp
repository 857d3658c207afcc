#include <catch2/catch.hpp>
#include <filesystem>

#include "server/main/data_directory.h"
#include "server/main/server_settings.h"
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
  // Files left by a crash do not matter.
  REQUIRE(write_text_file(directory.pid_file().string(), "1\n5432\n/tmp\n"));
  CHECK_FALSE(find_running(directory)->has_value());
  CHECK(PidFile::take(directory, {getpid(), "5432", "/tmp"}));

  std::filesystem::permissions(temporary.path(), std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  CHECK_FALSE(directory.check_usable());
}

}  // namespace
}  // namespace swizzle::server
