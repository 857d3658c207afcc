// swizzle-kill-cycles: repeatedly forks a process that works on a database and kills it with
// SIGKILL at a random moment, also during recovery. Every process compares the database with the
// answers that the earlier processes got.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "base/programs/program_words.h"
#include "base/random.h"
#include "storage/recovery/kill_cycles/kill_worker.h"

namespace swizzle {
namespace {

KillOracle& shared_oracle() {
  void* const memory =
      mmap(nullptr, sizeof(KillOracle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  return *new (memory) KillOracle{};
}

/// Runs `body` in a child process.
template <class Body>
pid_t start(Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  const std::string wrong = body();
  if (!wrong.empty()) fmt::print(stderr, "{}\n", wrong);
  std::fflush(stderr);
  _exit(wrong.empty() ? 0 : 1);
}

// Returns true if the child has exited with 0 or was killed by our signal.
bool ended_well(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL;
  return WEXITSTATUS(status) == 0;
}

bool run_cycle(const std::filesystem::path& directory, KillOracle& oracle, Random& random) {
  oracle.restart_us = 0;
  const std::uint64_t seed = random();
  const pid_t child = start([&] { return work_until_killed(directory, oracle, seed); });
  // One in four is killed early, during recovery.
  const std::uint64_t life_ms = random.one_in(4) ? random.below(30) : random.between(30, 250);
  usleep(static_cast<useconds_t>(life_ms * 1000));
  kill(child, SIGKILL);
  return ended_well(child);
}

void report(const KillOracle& oracle, std::vector<std::uint64_t> restarts, std::uint64_t cycles) {
  std::uint64_t acknowledged = 0;
  for (const auto& session : oracle.sessions) acknowledged += session.acknowledged;
  std::ranges::sort(restarts);
  const auto at = [&](std::size_t percent) {
    return restarts.empty() ? 0 : restarts[(restarts.size() - 1) * percent / 100] / 1000;
  };
  fmt::print(
      "{} kills, {} while recovering; {} commits acknowledged, none lost; {} were under way, "
      "of which {} had committed; {} times something prepared was there, locked; restart in ms: "
      "median {}, p95 {}, longest {}\n",
      cycles, cycles - restarts.size(), acknowledged, oracle.in_doubt, oracle.half_way_committed,
      oracle.found_prepared, at(50), at(95), at(100));
}

int run(const std::filesystem::path& directory, std::uint64_t cycles, std::uint64_t seed) {
  std::filesystem::create_directories(directory);
  const auto database = directory / "database";
  KillOracle& oracle = shared_oracle();
  Random random{seed};
  if (!ended_well(start([&] { return work_until_killed(database, oracle, 0); }))) return 1;
  std::vector<std::uint64_t> restarts;
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    if (!run_cycle(database, oracle, random)) {
      fmt::print(stderr, "cycle {} of seed {} failed; the database is in {}\n", cycle, seed,
                 database.native());
      return 1;
    }
    if (oracle.restart_us != 0) restarts.push_back(oracle.restart_us);
  }
  if (!ended_well(start([&] { return check_once(database, oracle); }))) return 1;
  std::filesystem::remove_all(directory);
  report(oracle, std::move(restarts), cycles);
  return 0;
}

}  // namespace
}  // namespace swizzle

int main(int argc, char** argv) {
  CLI::App app{
      "swizzle-kill-cycles forks a process that works on a database and kills it, again and again.",
      "swizzle-kill-cycles"};
  std::string directory;
  std::uint64_t cycles = 50;
  auto seed = static_cast<std::uint64_t>(getpid());
  app.add_option("DIRECTORY", directory, "made, and removed at the end unless something was wrong")
      ->required();
  app.add_option("CYCLES", cycles, "how often; 50 unless given");
  app.add_option("SEED", seed, "of the moments; another one each time unless given");
  if (const auto exit_code = swizzle::read_program_words(app, argc, argv)) return *exit_code;
  fmt::print("seed {}\n", seed);
  return swizzle::run(directory, cycles, seed);
}
