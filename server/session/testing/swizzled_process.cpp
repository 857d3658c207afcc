#include "server/session/testing/swizzled_process.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace swizzle::server::testing {
namespace {

constexpr int kTurns = 3000;
constexpr useconds_t kTurn = 10'000;

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ServerHome::ServerHome()
    : path_((std::filesystem::temp_directory_path() / "swizzled-XXXXXX").string()) {
  REQUIRE(::mkdtemp(path_.data()) != nullptr);
}

ServerHome::~ServerHome() {
  while (!processes_.empty()) kill(std::string{processes_.back().name});
  std::filesystem::remove_all(path_);
}

pid_t ServerHome::launch(std::vector<std::string> words, const std::string& log) const {
  words.insert(words.begin(), SWIZZLED_PATH);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string log_path = path_ + "/" + log;
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(SWIZZLED_PATH, pointers.data());
  ::_exit(127);
}

int ServerHome::run(std::vector<std::string> words, const std::string& log) {
  int status = -1;
  ::waitpid(launch(std::move(words), log), &status, 0);
  return exit_status(status);
}

void ServerHome::start(const std::string& name, int port) {
  const pid_t id =
      launch({"-D", data(name), "-k", path_, "-h", "", "-p", std::to_string(port)}, name + ".log");
  processes_.push_back({name, port, id});
}

const ServerHome::Process& ServerHome::find(const std::string& name) const {
  const auto found = std::ranges::find(processes_, name, &Process::name);
  REQUIRE(found != processes_.end());
  return *found;
}

bool ServerHome::is_open(const std::string& name) const {
  const std::string server = conninfo(find(name).port);
  for (int i = 0; i < kTurns; ++i) {
    if (PQping(server.c_str()) == PQPING_OK) return true;
    ::usleep(kTurn);
  }
  return false;
}

void ServerHome::kill(const std::string& name) {
  const pid_t id = find(name).id;
  ::kill(id, SIGKILL);
  ::waitpid(id, nullptr, 0);
  std::erase_if(processes_, [id](const Process& process) { return process.id == id; });
}

int ServerHome::await_end(const std::string& name) {
  const pid_t id = find(name).id;
  int status = -1;
  for (int i = 0; i < kTurns; ++i) {
    if (::waitpid(id, &status, WNOHANG) == id) {
      std::erase_if(processes_, [id](const Process& process) { return process.id == id; });
      return exit_status(status);
    }
    ::usleep(kTurn);
  }
  return -1;
}

std::string ServerHome::conninfo(int port) const {
  return "host=" + path_ + " port=" + std::to_string(port) +
         " dbname=postgres user=" + ::getpwuid(::geteuid())->pw_name;
}

std::string ServerHome::log_of(const std::string& name) const {
  std::ifstream file{path_ + "/" + name + ".log"};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

}  // namespace swizzle::server::testing
