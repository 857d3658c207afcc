#include "clients/testing/swizzled_process.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/testing/free_port.h"

namespace swizzle::clients {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Starts swizzled with its output appended to `log`.
pid_t launch(std::vector<std::string> words, const std::string& log) {
  words.insert(words.begin(), SWIZZLED_PATH);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  // End the server if the test crashes.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(SWIZZLED_PATH, pointers.data());
  ::_exit(127);
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

SwizzledProcess::SwizzledProcess(Access access, std::vector<std::string> settings,
                                 const std::string& service_user)
    : user_(::getpwuid(::geteuid())->pw_name),
      settings_(std::move(settings)),
      port_(swizzle::testing::free_port()) {
  std::string name = (std::filesystem::temp_directory_path() / "swizzled-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
  directory_ = name;
  std::vector<std::string> words{"init", "-D", data_directory()};
  if (access == Access::password) {
    const std::string file = directory_ + "/password";
    std::ofstream{file} << kPassword << "\n";
    words.insert(words.end(), {"--pwfile", file});
  } else {
    words.emplace_back("--peer-only");
  }
  if (!service_user.empty()) {
    // Let the server's user own the directory: the socket is there, and the user removes it in the
    // end.
    const passwd* entry = ::getpwnam(service_user.c_str());
    if (entry == nullptr || ::chown(name.c_str(), entry->pw_uid, entry->pw_gid) != 0) {
      throw std::runtime_error{"no directory for " + service_user};
    }
    words.insert(words.end(), {"--user", service_user});
    settings_.push_back("user=" + service_user);
  }
  const Finished finished = run_swizzled(words);
  if (finished.exit_code != 0) throw std::runtime_error{"init failed: " + finished.output};
  start();
}

SwizzledProcess::~SwizzledProcess() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    wait_for_end();
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string SwizzledProcess::conninfo(const std::string& more) const {
  return "host=" + directory_ + " port=" + std::to_string(port_) + " user=" + user_ +
         " dbname=postgres " + more;
}

std::string SwizzledProcess::tcp_conninfo(const std::string& more) const {
  return "host=127.0.0.1 port=" + std::to_string(port_) + " user=" + user_ + " password='" +
         kPassword + "' dbname=postgres " + more;
}

std::string SwizzledProcess::log() const {
  return read_file(directory_ + "/log");
}

void SwizzledProcess::start() {
  std::filesystem::remove(directory_ + "/log");
  std::vector<std::string> words{"-D", data_directory(), "-p", std::to_string(port_),
                                 "-k", directory_,       "-c", "shared_buffers=64MB",
                                 "-c", "wal_buffers=8MB"};
  for (const std::string& setting : settings_) words.insert(words.end(), {"-c", setting});
  process_ = launch(words, directory_ + "/log");
  for (int i = 0; i < 3000; ++i) {
    if (log().find("ready to accept connections") != std::string::npos) return;
    if (!is_running()) throw std::runtime_error{"the server did not start: " + log()};
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  throw std::runtime_error{"the server takes too long to start: " + log()};
}

bool SwizzledProcess::is_running() {
  int status = 0;
  if (process_ > 0 && ::waitpid(process_, &status, WNOHANG) == 0) return true;
  process_ = -1;
  return false;
}

int SwizzledProcess::wait_for_end() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return exit_code_of(status);
}

void SwizzledProcess::kill() {
  stop(SIGKILL);
}

void SwizzledProcess::send_signal(int signal) const {
  ::kill(process_, signal);
}

int SwizzledProcess::stop(int signal) {
  send_signal(signal);
  return wait_for_end();
}

SwizzledProcess::Finished SwizzledProcess::run_swizzled(const std::vector<std::string>& words) {
  std::string log = (std::filesystem::temp_directory_path() / "swizzled-out-XXXXXX").string();
  const int fd = ::mkstemp(log.data());
  ::close(fd);
  const pid_t child = launch(words, log);
  int status = 0;
  ::waitpid(child, &status, 0);
  Finished finished{exit_code_of(status), read_file(log)};
  std::filesystem::remove(log);
  return finished;
}

}  // namespace swizzle::clients
