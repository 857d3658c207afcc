#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/io/posix_file_system.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/silent_sink.h"
#include "storage/engine.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr int kRows = 100'000;

/// Database of all benchmarks: pgbench_accounts without its filler column.
class Accounts {
 public:
  Accounts() {
    directory_ = std::filesystem::temp_directory_path() /
                 ("swizzle-sql-bench-" + std::to_string(::getpid()));
    EngineOptions options;
    options.pool_bytes = std::uint64_t{256} << 20U;
    options.log_segment_bytes = std::uint64_t{2} << 20U;
    if (!Engine::create(files_, directory_, options)) std::abort();
    engine_ = std::move(*Engine::open(files_, directory_, options));
    database_ = std::move(*Database::open(*engine_));
    session_ = std::move(*database_->connect({}));
    run("SET synchronous_commit = off");
    run("CREATE TABLE accounts(aid int primary key, bid int, abalance int)");
    run("INSERT INTO accounts SELECT i, 1, 0 FROM generate_series(1, " + std::to_string(kRows) +
        ") i");
  }
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;
  ~Accounts() {
    session_.reset();
    database_.reset();
    static_cast<void>(engine_->close());
    std::filesystem::remove_all(directory_);
  }
  static Accounts& instance() {
    static Accounts accounts;
    return accounts;
  }
  void run(const std::string& sql) {
    if (!session_->simple_query(sql, sink)) std::abort();
  }
  Session& session() { return *session_; }
  Engine& engine() { return *engine_; }
  CountingSink sink;

 private:
  PosixFileSystem files_;
  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

int next_key() {
  static std::uint32_t state = 12345;
  state = state * 1664525U + 1013904223U;
  return static_cast<int>(state % kRows) + 1;
}

void run_prepared(benchmark::State& state, const std::string& sql) {
  Accounts& accounts = Accounts::instance();
  Session& session = accounts.session();
  if (!session.parse("bench", sql, {}, accounts.sink)) std::abort();
  accounts.run("BEGIN");
  for (auto _ : state) {
    const std::string key = std::to_string(next_key());
    const std::optional<Bytes> values[] = {as_bytes(key)};
    if (!session.bind({"", "bench", {}, values, {}}, accounts.sink)) std::abort();
    if (!session.execute("", 0, accounts.sink)) std::abort();
  }
  accounts.run("COMMIT");
  if (!session.close_statement("bench")) std::abort();
}

/// Fills a tree of the engine with as many records, whose keys and values have the same sizes.
TreeId plain_tree() {
  static const TreeId id = [] {
    Engine& engine = Accounts::instance().engine();
    auto transaction = engine.begin();
    const TreeId made = engine.create_tree(*transaction).value();
    Tree tree = engine.tree(made).value();
    const std::string value(15, 'v');
    for (int key = 1; key <= kRows; ++key) {
      std::byte bytes[4];
      store_big_endian(bytes, static_cast<std::uint32_t>(key));
      if (!tree.insert(*transaction, bytes, as_bytes(value))) std::abort();
    }
    if (!transaction->commit(Transaction::Durability::asynchronous)) std::abort();
    return made;
  }();
  return id;
}

/// Measures a statement's cost below the executor: a snapshot and a lookup.
void engine_lookup(benchmark::State& state) {
  Engine& engine = Accounts::instance().engine();
  Tree tree = engine.tree(plain_tree()).value();
  auto transaction = engine.begin();
  ValueBuffer into;
  for (auto _ : state) {
    std::byte bytes[4];
    store_big_endian(bytes, static_cast<std::uint32_t>(next_key()));
    transaction->begin_statement();
    if (!tree.get(*transaction, bytes, into).value()) std::abort();
  }
  transaction->rollback();
}
BENCHMARK(engine_lookup);

/// Measures a snapshot, a locking lookup and the change.
void engine_update(benchmark::State& state) {
  Engine& engine = Accounts::instance().engine();
  Tree tree = engine.tree(plain_tree()).value();
  auto transaction = engine.begin();
  ValueBuffer into;
  const std::string value(15, 'w');
  for (auto _ : state) {
    std::byte bytes[4];
    store_big_endian(bytes, static_cast<std::uint32_t>(next_key()));
    transaction->begin_statement();
    if (!tree.get(*transaction, bytes, into, ReadMode::for_update).value()) std::abort();
    if (!tree.update(*transaction, bytes, as_bytes(value)).value()) std::abort();
  }
  if (!transaction->commit(Transaction::Durability::asynchronous)) std::abort();
}
BENCHMARK(engine_update);

void point_select_prepared(benchmark::State& state) {
  run_prepared(state, "SELECT abalance FROM accounts WHERE aid = $1");
}
BENCHMARK(point_select_prepared);

// A transaction each, as most clients run it. The number of iterations is fixed, so that
// callgrind's count can be divided by it.
void point_select_autocommit(benchmark::State& state) {
  Accounts& accounts = Accounts::instance();
  Session& session = accounts.session();
  if (!session.parse("bench", "SELECT abalance FROM accounts WHERE aid = $1", {}, accounts.sink))
    std::abort();
  for (auto _ : state) {
    const std::string key = std::to_string(next_key());
    const std::optional<Bytes> values[] = {as_bytes(key)};
    if (!session.bind({"", "bench", {}, values, {}}, accounts.sink)) std::abort();
    if (!session.execute("", 0, accounts.sink)) std::abort();
    if (!session.sync(accounts.sink)) std::abort();
  }
  if (!session.close_statement("bench")) std::abort();
}
BENCHMARK(point_select_autocommit)->Iterations(20'000);

void point_update_prepared(benchmark::State& state) {
  run_prepared(state, "UPDATE accounts SET abalance = abalance + 1 WHERE aid = $1");
}
BENCHMARK(point_update_prepared);

void select_constant_prepared(benchmark::State& state) {
  run_prepared(state, "SELECT $1::int");
}
BENCHMARK(select_constant_prepared);

void point_select_simple(benchmark::State& state) {
  Accounts& accounts = Accounts::instance();
  for (auto _ : state) {
    accounts.run("SELECT abalance FROM accounts WHERE aid = " + std::to_string(next_key()));
  }
}
BENCHMARK(point_select_simple);

void run_query(benchmark::State& state, const std::string& sql) {
  Accounts& accounts = Accounts::instance();
  for (auto _ : state) accounts.run(sql);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kRows);
}
void count_all(benchmark::State& state) {
  run_query(state, "SELECT count(*) FROM accounts");
}
BENCHMARK(count_all)->Unit(benchmark::kMillisecond);
void sum_all(benchmark::State& state) {
  run_query(state, "SELECT sum(abalance) FROM accounts");
}
BENCHMARK(sum_all)->Unit(benchmark::kMillisecond);
void group_all(benchmark::State& state) {
  run_query(state, "SELECT bid, count(*) FROM accounts GROUP BY bid");
}
BENCHMARK(group_all)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
