#include "base/simulation/seeded_runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/sanitizers.h"

namespace swizzle {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 0);
}

/// Forgets redzones of AddressSanitizer in the stacks of the parent's other threads: after a fork
/// the C library unmaps these stacks later, and the redzones would stay for new mappings. A stack
/// is recognised by its inaccessible guard page.
void forget_redzones_of_lost_threads() {
#ifdef SWIZZLE_ASAN
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::uintptr_t end_of_guard = 0;
  while (std::getline(maps, line)) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::array<char, 8> access{};
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %lu", &begin, &end, access.data(), &inode) !=
        4)
      continue;
    constexpr std::uintptr_t kLargestStack = std::uintptr_t{64} << 20U;
    if (std::string_view{access.data()} == "rw-p" && inode == 0 && begin == end_of_guard &&
        end - begin <= kLargestStack && (here < begin || here >= end))
      unpoison(reinterpret_cast<const void*>(begin), end - begin);
    end_of_guard = std::string_view{access.data()} == "---p" ? end : 0;
  }
#endif
}

[[noreturn]] void run_and_exit(const std::function<void()>& body, int output) {
  forget_redzones_of_lost_threads();
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

// Returns false when the time was up first.
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

struct Seeds {
  std::uint64_t first;
  std::uint64_t last;
};

Seeds seeds_to_run(std::uint64_t count) {
  if (const auto only = number_from_environment("SWIZZLE_SEED")) return {*only, *only};
  const std::uint64_t first = number_from_environment("SWIZZLE_FIRST_SEED").value_or(1);
  return {first, first + number_from_environment("SWIZZLE_SEEDS").value_or(count) - 1};
}

void run_range(Seeds seeds, const std::function<void(std::uint64_t seed)>& run) {
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    try {
      run(seed);
    } catch (...) {
      std::fprintf(stderr, "seed %llu failed; SWIZZLE_SEED=%llu repeats it\n",
                   static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
      throw;
    }
  }
}

/// Memory that a child process writes and this one reads.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t size)
      : size_(std::max<std::size_t>(size, 1)),
        bytes_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (bytes_ == MAP_FAILED) throw std::system_error{errno, std::system_category(), "mmap"};
  }
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes() { munmap(bytes_, size_); }
  [[nodiscard]] std::byte* begin() const noexcept { return static_cast<std::byte*>(bytes_); }

 private:
  std::size_t size_;
  void* bytes_;
};

}  // namespace

std::uint64_t test_seed() {
  return number_from_environment("SWIZZLE_SEED").value_or(1);
}

void for_seeds(std::uint64_t count, const std::function<void(std::uint64_t seed)>& run) {
  run_range(seeds_to_run(count), run);
}

void run_seeds_apart(std::uint64_t count, std::uint64_t at_once, std::span<std::byte> totals,
                     const std::function<void(std::uint64_t seed)>& run) {
  const Seeds all = seeds_to_run(count);
  if (all.first == all.last) return run_range(all, run);
  const SharedBytes shared(totals.size());
  for (std::uint64_t first = all.first; first <= all.last; first += at_once) {
    const ChildReport report = run_in_child(
        [&] {
          run_range({first, std::min(all.last, first + at_once - 1)}, run);
          std::ranges::copy(totals, shared.begin());
        },
        std::chrono::minutes{10});
    if (!report.succeeded) throw std::runtime_error{report.output};
    std::copy_n(shared.begin(), totals.size(), totals.begin());
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
