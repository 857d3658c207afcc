#include "base/simulation/seeded_runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace swizzle {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 0);
}

[[noreturn]] void run_and_exit(const std::function<void()>& body, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  int status = 0;
  try {
    body();
  } catch (const std::exception& error) {
    std::printf("exception: %s\n", error.what());
    status = 1;
  } catch (...) {
    std::printf("an exception of unknown type\n");
    status = 1;
  }
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);  // no destructors, no leak check
}

// False when the time was up first.
bool read_until_closed(int input, Clock::time_point deadline, std::string& output) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd watched{.fd = input, .events = POLLIN, .revents = 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 4096> chunk{};
    const auto bytes = read(input, chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return true;
    output.append(chunk.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

std::uint64_t test_seed() {
  return number_from_environment("SWIZZLE_SEED").value_or(1);
}

void for_seeds(std::uint64_t count, const std::function<void(std::uint64_t seed)>& run) {
  const auto only = number_from_environment("SWIZZLE_SEED");
  const std::uint64_t first =
      only ? *only : number_from_environment("SWIZZLE_FIRST_SEED").value_or(1);
  const std::uint64_t last =
      only ? *only : first + number_from_environment("SWIZZLE_SEEDS").value_or(count) - 1;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    try {
      run(seed);
    } catch (...) {
      std::fprintf(stderr, "seed %llu failed; SWIZZLE_SEED=%llu repeats it\n",
                   static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
      throw;
    }
  }
}

ChildReport run_in_child(const std::function<void()>& body, std::chrono::milliseconds limit) {
  std::array<int, 2> ends{};
  std::cout.flush();
  std::fflush(nullptr);
  if (pipe(ends.data()) != 0) throw std::system_error{errno, std::system_category(), "pipe"};
  const pid_t child = fork();
  if (child < 0) throw std::system_error{errno, std::system_category(), "fork"};
  if (child == 0) {
    close(ends[0]);
    run_and_exit(body, ends[1]);
  }
  close(ends[1]);
  ChildReport report;
  const bool in_time = read_until_closed(ends[0], Clock::now() + limit, report.output);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  report.succeeded = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!in_time) {
    report.output += fmt::format("killed after {} ms\n", limit.count());
  } else if (WIFSIGNALED(status)) {
    report.output += fmt::format("ended by signal {}\n", WTERMSIG(status));
  } else if (!report.succeeded) {
    report.output += fmt::format("exit status {}\n", WEXITSTATUS(status));
  }
  return report;
}

}  // namespace swizzle
