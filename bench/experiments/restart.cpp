// R3: throughput in ticks while checkpoints are taken, under full load.
//     Parameters: --records, --threads, --seconds, --every (seconds between checkpoints), --tick,
//     --repetitions
// R4: how long a restart takes after so much log.
//     Parameters: --records, --log-bytes, --threads, --tasks (of redo), --repetitions
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/workload.h"
#include "storage/engine.h"
#include "storage/statistics.h"

namespace swizzle::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr RecordShape kShape = kEightAndOneTwenty;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>{Clock::now() - begin}.count();
}

EngineOptions engine_options(std::uint64_t records) {
  EngineOptions options;
  options.pool_bytes = records * 400 + (std::uint64_t{64} << 20U);
  // Take no checkpoints other than the experiment's.
  options.checkpoint_log_bytes = std::uint64_t{1} << 50U;
  options.checkpoint_seconds = 1'000'000;
  return options;
}

Result<TreeId> load_table(Engine& engine, std::uint64_t records) {
  const auto transaction = engine.begin();
  ASSIGN_OR_RETURN(const TreeId tree, engine.create_tree(*transaction));
  std::uint64_t index = 0;
  Key key{kShape, 0};
  Value value{kShape, 0};
  const auto next = [&]() -> Result<std::optional<Engine::Record>> {
    if (index == records) return std::optional<Engine::Record>{};
    key = Key{kShape, index};
    value = Value{kShape, index++};
    return std::optional{Engine::Record{key.bytes(), value.bytes()}};
  };
  RETURN_IF_ERROR(engine.bulk_load(*transaction, tree, next));
  RETURN_IF_ERROR(transaction->commit());
  return tree;
}

/// Runs transactions that each update one random row, without waiting for durability.
Result<> update_rows(Engine& engine, TreeId id, std::uint64_t records, Worker& worker) {
  ASSIGN_OR_RETURN(Tree tree, engine.tree(id));
  Random random{worker.number() + 77};
  while (worker.running()) {
    const std::uint64_t number = random.below(records);
    const auto transaction = engine.begin();
    ASSIGN_OR_RETURN(const bool found, tree.update(*transaction, Key{kShape, number}.bytes(),
                                                   Value{kShape, random()}.bytes()));
    if (!found) return fail(sqlstate::internal_error, "a row is missing");
    RETURN_IF_ERROR(transaction->commit(Transaction::Durability::asynchronous));
    worker.did(1);
  }
  return {};
}

/// Keeps the first error of any thread.
class FirstError {
 public:
  void note(Result<> result) {
    const std::lock_guard hold(mutex_);
    if (!result && outcome_) outcome_ = std::move(result);
  }
  Result<> take() { return std::move(outcome_); }

 private:
  std::mutex mutex_;
  Result<> outcome_;
};

unsigned repetitions_of(Context& context) {
  return static_cast<unsigned>(
      context.options().number("repetitions", context.by_scale(3U, 1U, 1U)));
}

/// Runs R3 once on an engine with a recent checkpoint; reports its ticks and their summary.
Result<> update_beside_checkpoints(Engine& engine, TreeId tree, std::uint64_t records,
                                   const Load& load, double every, unsigned repetition,
                                   Report& report) {
  FirstError error;
  std::atomic<bool> over{false};
  std::vector<double> taken_at;
  const auto begin = Clock::now();
  std::thread checkpoints([&] {
    // Take the first checkpoint in the middle of a tick.
    double next = load.warm_up_seconds + every / 2;
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
      if (seconds_since(begin) < next) continue;
      taken_at.push_back(seconds_since(begin) - load.warm_up_seconds);
      error.note(engine.checkpoint());
      next += every;
    }
  });
  const Measured measured = measure(
      load, [&](Worker& worker) { error.note(update_rows(engine, tree, records, worker)); });
  over = true;
  checkpoints.join();
  RETURN_IF_ERROR(error.take());
  std::vector<double> with;
  std::vector<double> without;
  for (std::size_t tick = 0; tick < measured.timeline.size(); ++tick) {
    const double from = static_cast<double>(tick) * load.tick_seconds;
    const bool has_checkpoint = std::ranges::any_of(
        taken_at, [&](double at) { return at >= from && at < from + load.tick_seconds; });
    (has_checkpoint ? with : without).push_back(measured.timeline[tick]);
    report.add({has_checkpoint ? "with a checkpoint" : "without", from, 1, repetition,
                "updates_per_second", measured.timeline[tick]});
  }
  for (auto* ticks : {&with, &without}) {
    if (ticks->empty()) continue;
    std::ranges::sort(*ticks);
    const char* name = ticks == &with ? "with a checkpoint" : "without";
    report.add({name, -1, 1, repetition, "median_of_ticks", (*ticks)[ticks->size() / 2]});
    report.add({name, -1, 1, repetition, "worst_tick", ticks->front()});
  }
  return {};
}

Result<> read_one(Engine& engine, TreeId id, std::uint64_t records) {
  ASSIGN_OR_RETURN(const Tree tree, engine.tree(id));
  const auto transaction = engine.begin();
  ValueBuffer value;
  ASSIGN_OR_RETURN(const bool found,
                   tree.get(*transaction, Key{kShape, records / 2}.bytes(), value));
  if (!found) return fail(sqlstate::internal_error, "a row is missing");
  return {};
}

/// Opens a copy of R4's database with that many redo tasks.
Result<> restart_copy(Context& context, const std::filesystem::path& directory, TreeId tree,
                      std::uint64_t records, double tasks, unsigned repetition, Report& report) {
  const auto copy = context.directory() / "killed";
  std::filesystem::copy(directory, copy, std::filesystem::copy_options::recursive);
  EngineOptions with = engine_options(records);
  with.recovery_tasks = static_cast<std::uint32_t>(tasks);
  PosixFileSystem files;
  const auto begin = Clock::now();
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, copy, with));
  report.add({"restart", tasks, 1, repetition, "seconds", seconds_since(begin)});
  RETURN_IF_ERROR(read_one(*engine, tree, records));
  report.add({"first answer", tasks, 1, repetition, "seconds", seconds_since(begin)});
  while (engine->statistics().pages_pending > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  report.add({"all redone", tasks, 1, repetition, "seconds", seconds_since(begin)});
  RETURN_IF_ERROR(engine->close());
  std::filesystem::remove_all(copy);
  return {};
}

}  // namespace

Result<> run_r3(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t records =
      options.number("records", context.by_scale<std::uint64_t>(1'000'000, 200'000, 5'000));
  const double every = options.real("every", context.by_scale(5.0, 2.0, 0.1));
  Load load;
  load.threads = static_cast<unsigned>(options.number("threads", 2));
  load.seconds = options.real("seconds", context.by_scale(60.0, 10.0, 0.4));
  load.warm_up_seconds = load.seconds / 6;
  load.tick_seconds = options.real("tick", context.by_scale(1.0, 1.0, 0.1));
  const unsigned repetitions = repetitions_of(context);
  RETURN_IF_ERROR(options.finish());
  Report report{"R3", "second", context.csv()};
  report.note("every_seconds", every);
  report.note("records", static_cast<double>(records));
  PosixFileSystem files;
  const auto directory = context.directory() / "database";
  RETURN_IF_ERROR(Engine::create(files, directory, engine_options(records)));
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, engine_options(records)));
  ASSIGN_OR_RETURN(const TreeId tree, load_table(*engine, records));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    RETURN_IF_ERROR(engine->checkpoint());
    RETURN_IF_ERROR(
        update_beside_checkpoints(*engine, tree, records, load, every, repetition, report));
  }
  RETURN_IF_ERROR(engine->close());
  report.print_summary();
  return report.write();
}

Result<> run_r4(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t records =
      options.number("records", context.by_scale<std::uint64_t>(1'000'000, 100'000, 5'000));
  const std::uint64_t log_bytes = options.bytes(
      "log-bytes",
      context.by_scale<std::uint64_t>(std::uint64_t{1} << 30U, 100U << 20U, 2U << 20U));
  const auto threads = static_cast<unsigned>(options.number("threads", 2));
  const auto tasks = options.reals("tasks", "1,2");
  const unsigned repetitions = repetitions_of(context);
  RETURN_IF_ERROR(options.finish());
  Report report{"R4", "tasks", context.csv()};
  report.note("log_bytes", static_cast<double>(log_bytes));
  report.note("records", static_cast<double>(records));
  const auto directory = context.directory() / "database";
  TreeId tree{};
  {
    PosixFileSystem files;
    RETURN_IF_ERROR(Engine::create(files, directory, engine_options(records)));
    ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, engine_options(records)));
    ASSIGN_OR_RETURN(tree, load_table(*engine, records));
    RETURN_IF_ERROR(engine->close());
  }
  {
    PosixFileSystem files;
    ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, engine_options(records)));
    const std::uint64_t wanted = engine->statistics().log_tail + log_bytes;
    FirstError error;
    std::atomic<std::uint64_t> updates{0};
    measure_once(threads, [&](Worker& worker) {
      std::atomic<bool> stop{false};
      Worker own{worker.number(), stop};
      while (engine->statistics().log_tail < wanted) {
        // Check the log's tail only now and then: it is a shared cache line.
        const std::uint64_t until = own.operations() + 1000;
        Random random{worker.number() * 1'000'003 + until};
        auto at = engine->tree(tree);
        if (!at) return error.note(fail(std::move(at).error()));
        while (own.operations() < until) {
          const auto transaction = engine->begin();
          auto done = at->update(*transaction, Key{kShape, random.below(records)}.bytes(),
                                 Value{kShape, random()}.bytes());
          if (!done) return error.note(fail(std::move(done).error()));
          error.note(transaction->commit(Transaction::Durability::asynchronous));
          own.did(1);
        }
      }
      updates += own.operations();
      worker.did(own.operations());
    });
    RETURN_IF_ERROR(error.take());
    report.note("updates", static_cast<double>(updates.load()));
    // Do not close the engine: simulate a kill.
  }
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const double count = tasks[(i + repetition) % tasks.size()];
      RETURN_IF_ERROR(restart_copy(context, directory, tree, records, count, repetition, report));
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
