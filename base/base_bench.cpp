// Measures the cost of waiting: switches, wakes and file reads, beside the bare system calls.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "base/io/posix_file_system.h"
#include "base/io/uring.h"
#include "base/random.h"
#include "base/runtime/coroutine.h"
#include "base/runtime/thread_runtime.h"
#include "base/simulation/simulation.h"

using namespace swizzle;

namespace {

constexpr std::size_t kPage = 8192;
constexpr std::uint64_t kFilePages = 32768;  // 256 MiB, read with O_DIRECT

// SWIZZLE_BENCH_DIRECTORY chooses the device.
const std::filesystem::path& data_path() {
  static const std::filesystem::path path = [] {
    const char* directory = std::getenv("SWIZZLE_BENCH_DIRECTORY");  // NOLINT
    auto file =
        std::filesystem::path{directory != nullptr ? directory : "/var/tmp"} / "swizzle-base-bench";
    PosixFileSystem files;
    auto opened = files.open(file, OpenMode::open_or_create, {.direct = true}).value();
    if (opened->size().value() < kFilePages * kPage) {
      // Written, not only allocated: reads of unwritten extents never reach the device.
      constexpr std::size_t kChunk = std::size_t{1} << 20;
      const std::unique_ptr<std::byte[], void (*)(void*)> chunk{
          static_cast<std::byte*>(std::aligned_alloc(kPage, kChunk)), &std::free};
      std::fill_n(chunk.get(), kChunk, std::byte{1});
      for (std::uint64_t at = 0; at < kFilePages * kPage; at += kChunk) {
        opened->write_at(at, {chunk.get(), kChunk}).value();
      }
      opened->sync().value();
    }
    return file;
  }();
  return path;
}

struct Buffers {
  explicit Buffers(std::size_t count)
      : memory(static_cast<std::byte*>(std::aligned_alloc(kPage, count * kPage)), &std::free) {}
  std::byte* operator[](std::size_t index) const { return memory.get() + index * kPage; }
  std::unique_ptr<std::byte[], void (*)(void*)> memory;
};

// There and back.
void coroutine_switch(benchmark::State& state) {
  StackPool stacks{64 << 10};
  struct Loop {
    Coroutine* self = nullptr;
    bool stop = false;
  } loop;
  Coroutine coroutine{stacks.take(),
                      [](void* argument) noexcept {
                        auto& mine = *static_cast<Loop*>(argument);
                        while (!mine.stop) mine.self->suspend();
                      },
                      &loop};
  loop.self = &coroutine;
  for (auto _ : state) coroutine.resume();
  loop.stop = true;
  coroutine.resume();
  stacks.give_back(coroutine.stack());
}
BENCHMARK(coroutine_switch);

void fiber_yield(benchmark::State& state) {
  FiberRuntime runtime{{.reactors = 1}};
  runtime
      .spawn("bench",
             [&] {
               auto& current = Runtime::current();
               for (auto _ : state) current.yield();
             })
      ->join();
}
BENCHMARK(fiber_yield);

// Two tasks that wake each other alternately; an iteration is one round trip.
struct Rally {
  std::atomic<int> turn{0};
  std::atomic<Parker*> server{nullptr};
  std::atomic<bool> over{false};

  void return_every_ball() {
    Parker& mine = Runtime::current().parker();
    server = &mine;
    for (int ball = 1;; ball += 2) {
      while (turn.load(std::memory_order_acquire) != ball && !over) mine.park();
      if (over) return;
      turn.store(ball + 1, std::memory_order_release);
      client->unpark();
    }
  }
  void play(benchmark::State& state) {
    Parker& mine = Runtime::current().parker();
    while (server == nullptr) Runtime::current().yield();
    int ball = 1;
    for (auto _ : state) {
      turn.store(ball, std::memory_order_release);
      server.load()->unpark();
      while (turn.load(std::memory_order_acquire) != ball + 1) mine.park();
      ball += 2;
    }
    over = true;
    server.load()->unpark();
  }
  Parker* client = nullptr;
};

void round_trip_threads(benchmark::State& state) {
  auto& runtime = ThreadRuntime::of_the_process();
  Rally rally;
  rally.client = &runtime.parker();
  auto server = runtime.spawn("server", [&] { rally.return_every_ball(); });
  rally.play(state);
}
BENCHMARK(round_trip_threads)->UseRealTime();

void round_trip_fibers(benchmark::State& state) {
  const auto reactors = static_cast<std::size_t>(state.range(0));
  FiberRuntime runtime{
      {.reactors = reactors, .longest_spin = std::chrono::microseconds{state.range(1)}}};
  Rally rally;
  runtime
      .spawn_on(0, "client",
                [&] {
                  rally.client = &runtime.parker();
                  auto server =
                      runtime.spawn_on(reactors - 1, "server", [&] { rally.return_every_ball(); });
                  rally.play(state);
                })
      ->join();
}
BENCHMARK(round_trip_fibers)
    ->ArgNames({"reactors", "spin_us"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({2, 20})
    ->UseRealTime();

void simulation_switch(benchmark::State& state) {
  Simulation simulation{{.seed = 1, .most_spins = UINT64_MAX, .most_switches = UINT64_MAX}};
  simulation.run([&] {
    bool over = false;
    auto other = Runtime::current().spawn("other", [&] {
      while (!over) Runtime::current().yield();
    });
    for (auto _ : state) Runtime::current().yield();
    over = true;
  });
}
BENCHMARK(simulation_switch);

// Random reads of 8 KiB with so many under way, by fibers of one reactor.
void random_reads_fibers(benchmark::State& state) {
  const auto depth = static_cast<std::size_t>(state.range(0));
  PosixFileSystem files;
  auto file = files.open(data_path(), OpenMode::read_only, {.direct = true}).value();
  FiberRuntime runtime{{.reactors = 1}};
  const Buffers buffers{depth};
  constexpr std::int64_t kReadsPerIteration = 4096;
  for (auto _ : state) {
    std::atomic<std::int64_t> left{kReadsPerIteration};
    std::vector<std::unique_ptr<Task>> readers;
    for (std::size_t id = 0; id < depth; ++id) {
      readers.push_back(runtime.spawn("reader", [&, id] {
        Random random{id + 1};
        while (left.fetch_sub(1, std::memory_order_relaxed) > 0) {
          file->read_at(random.below(kFilePages) * kPage, {buffers[id], kPage}).value();
        }
      }));
    }
    for (auto& reader : readers) reader->join();
  }
  state.SetItemsProcessed(state.iterations() * kReadsPerIteration);
}
BENCHMARK(random_reads_fibers)->Arg(1)->Arg(32)->UseRealTime()->Unit(benchmark::kMillisecond);

// The same on a bare ring: the baseline for fibers.
void random_reads_bare_ring(benchmark::State& state) {
  const auto depth = static_cast<unsigned>(state.range(0));
  const int descriptor = open(data_path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  const auto ring = Uring::open(depth, Uring::Use::one_thread);
  if (ring == nullptr) {
    state.SkipWithError("io_uring is refused");
    return;
  }
  const Buffers buffers{depth};
  std::vector<IoRequest> requests(depth);
  Random random{1};
  const auto start = [&](IoRequest& request) {
    request.offset = random.below(kFilePages) * kPage;
    ring->start(request);
  };
  for (std::size_t i = 0; i < depth; ++i) {
    requests[i].descriptor = descriptor;
    requests[i].data = buffers[i];
    requests[i].size = kPage;
    start(requests[i]);
  }
  std::array<Uring::Completion, 64> room{};
  const auto finish_some = [&](bool restart) {
    ring->flush();
    ring->wait();
    const auto done = ring->reap(room);
    for (const auto& [request, result] : done) {
      if (result != static_cast<int>(kPage)) std::abort();
      if (restart) start(*request);
    }
    return done.size();
  };
  std::int64_t reads = 0;
  for (auto _ : state) reads += static_cast<std::int64_t>(finish_some(true));
  for (std::size_t left = depth; left > 0;) left -= finish_some(false);
  close(descriptor);
  state.SetItemsProcessed(reads);
}
BENCHMARK(random_reads_bare_ring)->Arg(1)->Arg(32)->UseRealTime();

// A plain thread that reads one page after the other.
void random_reads_thread(benchmark::State& state) {
  PosixFileSystem files;
  auto file = files.open(data_path(), OpenMode::read_only, {.direct = true}).value();
  const Buffers buffers{1};
  Random random{1};
  for (auto _ : state) {
    file->read_at(random.below(kFilePages) * kPage, {buffers[0], kPage}).value();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(random_reads_thread)->UseRealTime();

// Batches through the io_uring that threads share.
void random_reads_thread_batch(benchmark::State& state) {
  const auto depth = static_cast<std::size_t>(state.range(0));
  PosixFileSystem files;
  auto file = files.open(data_path(), OpenMode::read_only, {.direct = true}).value();
  const Buffers buffers{depth};
  std::vector<IoRequest> requests(depth);
  Random random{1};
  for (auto _ : state) {
    for (std::size_t i = 0; i < depth; ++i) {
      requests[i].offset = random.below(kFilePages) * kPage;
      requests[i].data = buffers[i];
      requests[i].size = kPage;
    }
    file->transfer_all(requests);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(depth));
}
BENCHMARK(random_reads_thread_batch)->Arg(32)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
