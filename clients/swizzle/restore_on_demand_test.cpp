#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "clients/testing/swizzled_process.h"

/// Tests `swizzled --restore-from` with real servers and SIGKILL.
namespace swizzle::clients {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A server that restores from backups of another one. Its log is kept over all starts.
class RestoredServer {
 public:
  RestoredServer(std::string directory, std::vector<std::string> words, int port)
      : directory_(std::move(directory)), words_(std::move(words)), port_(std::to_string(port)) {
    fs::create_directory(sockets());
  }
  RestoredServer(const RestoredServer&) = delete;
  RestoredServer& operator=(const RestoredServer&) = delete;
  ~RestoredServer() { kill(); }

  void start() {
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ != 0) return;
    std::vector<std::string> all{
        SWIZZLED_PATH,        "-D", directory_, "-p", port_, "-k", sockets(), "-h", "", "-c",
        "shared_buffers=64MB"};
    all.insert(all.end(), words_.begin(), words_.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int log = ::open(log_file().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execv(SWIZZLED_PATH, arguments.data());
    ::_exit(127);
  }
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  /// Waits until the process ends. Returns its exit code.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void ask_to_stop() const { ::kill(process_, SIGINT); }
  int stop() {
    ask_to_stop();
    return wait();
  }
  /// Waits until it says that it is starting. Returns its words.
  [[nodiscard]] std::string wait_for_refusal() const {
    for (int i = 0; i < 1500; ++i) {
      try {
        const pqxx::connection connection{conninfo()};
        FAIL("it serves before the restore is prepared\n" << log());
      } catch (const pqxx::broken_connection& error) {
        const std::string words = error.what();
        if (words.find("starting up") != std::string::npos) return words;
      }
      std::this_thread::sleep_for(10ms);
    }
    FAIL("it does not answer\n" << log());
    return {};
  }
  /// Waits until it answers.
  [[nodiscard]] pqxx::connection connect() const {
    for (int i = 0;; ++i) {
      try {
        return pqxx::connection{conninfo()};
      } catch (const pqxx::broken_connection& error) {
        if (i > 1500) FAIL(error.what() << log());
        std::this_thread::sleep_for(10ms);
      }
    }
  }
  [[nodiscard]] std::string log() const {
    std::ostringstream text;
    text << std::ifstream{log_file()}.rdbuf();
    return text.str();
  }
  void forget_words() { words_.clear(); }

 private:
  [[nodiscard]] std::string conninfo() const {
    return "host=" + sockets() + " port=" + port_ + " dbname=postgres";
  }
  [[nodiscard]] std::string sockets() const { return directory_ + "-s"; }
  [[nodiscard]] std::string log_file() const { return directory_ + ".log"; }

  const std::string directory_;
  std::vector<std::string> words_;
  const std::string port_;
  pid_t process_ = -1;
};

/// Returns the content of each file of a directory.
std::map<std::string, std::string> contents_of(const std::string& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator{directory}) {
    std::ostringstream text;
    text << std::ifstream{entry.path(), std::ios::binary}.rdbuf();
    contents[entry.path().filename()] = text.str();
  }
  return contents;
}

std::int64_t number(pqxx::connection& connection, const std::string& query) {
  pqxx::nontransaction work{connection};
  return work.exec1(query)[0].as<std::int64_t>();
}

}  // namespace

TEST_CASE("swizzled --restore-from serves a backup at once, and goes on after each SIGKILL") {
  SwizzledProcess source;
  const std::string backup = source.directory() + "/b";
  const std::string changes = source.directory() + "/c";
  {
    pqxx::connection connection{source.conninfo()};
    pqxx::nontransaction work{connection};
    work.exec("CREATE TABLE kept (k int PRIMARY KEY, t text)");
    work.exec("INSERT INTO kept SELECT g, repeat('x', 500) FROM generate_series(1, 60000) AS g");
    work.exec("SELECT swizzle_backup('" + backup + "')");
    work.exec("UPDATE kept SET t = 'changed' WHERE k % 100 = 0");
    work.exec("SELECT swizzle_backup('" + changes + "', '" + backup + "')");
    work.exec("DELETE FROM kept WHERE k > 59990");
    work.exec("CREATE TABLE counted (n int PRIMARY KEY)");
  }
  source.kill();
  const std::string log = source.data_directory() + "/engine/log";
  std::vector<std::string> words{"--restore-from", backup, "--restore-from", changes};
  const bool is_folder = GENERATE(false, true);
  if (is_folder)
    words.insert(words.end(), {"--archive-folder", log});
  else
    words.insert(words.end(), {"--restore-command", "cp " + log + "/%f %p"});
  RestoredServer server(source.directory() + "/r", words, source.port());
  std::mt19937 random{1};
  int acknowledged = 0;
  for (int round = 0; round < 6; ++round) {
    server.start();
    pqxx::connection connection = server.connect();
    CHECK(number(connection, "SELECT count(*) FROM counted") >= acknowledged);
    {
      pqxx::nontransaction work{connection};
      const int before = acknowledged;
      for (int i = 0; i < 5; ++i) {
        work.exec("INSERT INTO counted SELECT coalesce(max(n), 0) + 1 FROM counted");
        ++acknowledged;
      }
      work.exec("UPDATE kept SET t = 'after' WHERE k = " + std::to_string(1 + before));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{random() % 60});
    server.kill();
  }
  server.start();
  {
    pqxx::connection connection = server.connect();
    for (int i = 0; number(connection,
                           "SELECT count(*) FROM swizzle_recovery WHERE task = "
                           "'restore'") != 0;
         ++i) {
      REQUIRE(i < 3000);
      std::this_thread::sleep_for(10ms);
    }
    CHECK(number(connection, "SELECT count(*) FROM counted") == acknowledged);
    CHECK(number(connection, "SELECT count(*) FROM kept") == 59990);
    CHECK(number(connection, "SELECT count(*) FROM kept WHERE t = 'changed'") == 599);
    CHECK(number(connection, "SELECT count(*) FROM kept WHERE t = 'after'") == 6);
    CHECK(number(connection, "SELECT length(swizzle_verify())") == 0);
  }
  INFO(server.log());
  CHECK(server.log().find("the restore is complete") != std::string::npos);
  CHECK(server.stop() == 0);
  // It needs neither the backups nor the words now.
  fs::remove_all(backup);
  fs::remove_all(changes);
  server.forget_words();
  server.start();
  pqxx::connection connection = server.connect();
  CHECK(number(connection, "SELECT count(*) FROM kept WHERE length(t) > 0") == 59990);
}

TEST_CASE("swizzled --restore-from answers and obeys signals while it prepares the restore") {
  SwizzledProcess source;
  const std::string backup = source.directory() + "/b";
  {
    pqxx::connection connection{source.conninfo()};
    pqxx::nontransaction work{connection};
    work.exec("CREATE TABLE kept (k int PRIMARY KEY)");
    work.exec("SELECT swizzle_backup('" + backup + "')");
    work.exec("INSERT INTO kept SELECT g FROM generate_series(1, 1000) AS g");
  }
  source.kill();
  const std::string log = source.data_directory() + "/engine/log";
  const auto log_before = contents_of(log);
  // The archive gives nothing until there is the file. Then it gives its own files.
  const std::string gate = source.directory() + "/gate";
  const std::string command =
      "until [ -e " + gate + " ]; do sleep 0.02; done; ln " + log + "/%f %p 2>/dev/null";
  const std::string target = source.directory() + "/r";
  RestoredServer server(target, {"--restore-from", backup, "--restore-command", command},
                        source.port());
  server.start();
  const std::string words = server.wait_for_refusal();
  CHECK(words.find("A restore on demand is being prepared") != std::string::npos);
  server.ask_to_stop();
  std::ofstream{gate}.put('\n');
  CHECK(server.wait() == 0);
  CHECK(server.log().find("received fast shutdown request") != std::string::npos);
  CHECK(server.log().find("the database system is shut down") != std::string::npos);
  CHECK_FALSE(fs::exists(target));

  // Killed in the middle of the preparation, it begins again.
  for (int round = 0; round < 3; ++round) {
    fs::remove(gate);
    server.start();
    static_cast<void>(server.wait_for_refusal());
    server.kill();
    std::ofstream{gate}.put('\n');
  }
  server.start();
  {
    pqxx::connection connection = server.connect();
    CHECK(number(connection, "SELECT count(*) FROM kept") == 1000);
    pqxx::nontransaction work{connection};
    work.exec("INSERT INTO kept SELECT g FROM generate_series(1001, 2000) AS g");
  }
  CHECK(server.stop() == 0);
  const bool is_untouched = contents_of(log) == log_before;
  CHECK(is_untouched);
}

TEST_CASE("swizzled --restore-from refuses what it cannot restore, and leaves nothing of it") {
  SwizzledProcess source;
  const std::string backup = source.directory() + "/b";
  {
    pqxx::connection connection{source.conninfo()};
    pqxx::nontransaction work{connection};
    work.exec("SELECT swizzle_backup('" + backup + "')");
  }
  const std::string target = source.directory() + "/r";
  const auto refused = [](std::vector<std::string> words, const std::string& message) {
    const SwizzledProcess::Finished done = SwizzledProcess::run_swizzled(words);
    INFO(done.output);
    CHECK(done.exit_code == 1);
    CHECK(done.output.find(message) != std::string::npos);
  };
  refused({"-D", target, "--restore-from", target + "-none"}, "is no whole backup of a server");
  refused({"-D", target, "--restore-from", backup, "--target-name", "never"},
          "before the recovery target");
  CHECK_FALSE(fs::exists(target));
  refused({"-D", source.data_directory(), "--restore-from", backup},
          "was not restored from these backups");
  CHECK(SwizzledProcess::run_swizzled({"-D", target, "--target-name", "never"}).exit_code == 2);
}

TEST_CASE("swizzled checks page_repair_backup at the start") {
  SwizzledProcess source;
  const std::string backup = source.directory() + "/b";
  {
    pqxx::connection connection{source.conninfo()};
    pqxx::nontransaction work{connection};
    work.exec("SELECT swizzle_backup('" + backup + "')");
  }
  source.stop(SIGINT);
  const SwizzledProcess::Finished refused = SwizzledProcess::run_swizzled(
      {"-D", source.data_directory(), "-c", "page_repair_backup=" + backup + "-none"});
  INFO(refused.output);
  CHECK(refused.exit_code == 1);
  CHECK(refused.output.find("invalid value for parameter \"page_repair_backup\"") !=
        std::string::npos);
  RestoredServer server(source.data_directory(), {"-c", "page_repair_backup=" + backup},
                        source.port());
  server.start();
  {
    pqxx::connection connection = server.connect();
    CHECK(number(connection,
                 "SELECT count(*) FROM pg_settings WHERE name = 'page_repair_backup' AND setting = "
                 "'" +
                     backup + "'") == 1);
  }
  CHECK(server.stop() == 0);
  CHECK(server.log().find("cannot be rebuilt from a backup") == std::string::npos);
}

}  // namespace swizzle::clients
