/// Fails if a warm prepared point SELECT allocates from the heap between Bind and the end of
/// Execute or, where it is a transaction of its own, of Sync. Prints the allocations of
/// other statements.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "base/io/posix_file_system.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/silent_sink.h"
#include "storage/engine.h"

namespace {

thread_local std::uint64_t allocations = 0;

void* take(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc{};
}

void* take(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto align = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(align, (bytes + align - 1) / align * align)) {
    return memory;
  }
  throw std::bad_alloc{};
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes);
}
void* operator new[](std::size_t bytes) {
  return take(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace swizzle::sql {
namespace {

constexpr int kRows = 1000;
constexpr int kRuns = 1000;
/// An undo log grows by chunks.
constexpr int kRunsPerChunk = 20;

void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "failed: {}\n", what);
  std::exit(2);
}

enum class Transactions : std::uint8_t { one, one_a_run };

/// Returns the allocations of kRuns warm runs.
std::uint64_t allocations_of(Session& session, CountingSink& sink, const std::string& sql,
                             Transactions transactions) {
  require(session.parse("s", sql, {}, sink).has_value(), sql);
  if (transactions == Transactions::one)
    require(session.simple_query("BEGIN", sink).has_value(), "BEGIN");
  std::uint64_t before = 0;
  for (int run = 0; run < 2 * kRuns; ++run) {
    if (run == kRuns) before = allocations;
    char key[16];
    const auto end = fmt::format_to(key, "{}", run * 7919 % kRows + 1);
    const std::optional<Bytes> values[] = {
        as_bytes(std::string_view{key, static_cast<std::size_t>(end - key)})};
    require(session.bind({"", "s", {}, values, {}}, sink).has_value(), "Bind");
    require(session.describe_portal("", sink).has_value(), "Describe");
    require(session.execute("", 0, sink).has_value(), "Execute");
    if (transactions == Transactions::one_a_run) require(session.sync(sink).has_value(), "Sync");
  }
  const std::uint64_t taken = allocations - before;
  if (transactions == Transactions::one)
    require(session.simple_query("COMMIT", sink).has_value(), "COMMIT");
  require(session.close_statement("s").has_value(), "Close");
  return taken;
}

int run() {
  const std::filesystem::path directory = std::filesystem::temp_directory_path() /
                                          ("swizzle-allocations-" + std::to_string(::getpid()));
  PosixFileSystem files;
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} << 20U;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  require(Engine::create(files, directory, options).has_value(), "create");
  auto engine = std::move(*Engine::open(files, directory, options));
  auto database = std::move(*Database::open(*engine));
  auto session = std::move(*database->connect({}));
  CountingSink sink;
  require(
      session->simple_query("CREATE TABLE t(id int primary key, v int, w text)", sink).has_value(),
      "CREATE TABLE");
  require(
      session
          ->simple_query("INSERT INTO t SELECT i, i, 'text ' || i FROM generate_series(1, 1000) "
                         "i",
                         sink)
          .has_value(),
      "INSERT");
  int outcome = 0;
  struct Case {
    std::string sql;
    Transactions transactions;
    std::uint64_t allowed;
  };
  for (const auto& [sql, transactions, allowed] : std::initializer_list<Case>{
           {"SELECT v FROM t WHERE id = $1", Transactions::one, 0},
           {"SELECT v FROM t WHERE id = $1", Transactions::one_a_run, 0},
           {"SELECT id, v, w FROM t WHERE id = $1", Transactions::one, 0},
           {"SELECT v + 1 FROM t WHERE id = $1 AND v > 0", Transactions::one, 0},
           {"UPDATE t SET v = v + 1 WHERE id = $1", Transactions::one, kRuns / kRunsPerChunk},
           {"SELECT count(*) FROM t WHERE id > $1", Transactions::one, UINT64_MAX},
       }) {
    const std::uint64_t taken = allocations_of(*session, sink, sql, transactions);
    const bool is_fine = taken <= allowed;
    fmt::print("{:6.2f} allocations a run{}: {}{}\n", static_cast<double>(taken) / kRuns,
               transactions == Transactions::one ? "" : " and transaction", sql,
               is_fine ? "" : "  MORE THAN ALLOWED");
    if (!is_fine) outcome = 1;
  }
  session.reset();
  database.reset();
  static_cast<void>(engine->close());
  engine.reset();
  std::filesystem::remove_all(directory);
  return outcome;
}

}  // namespace
}  // namespace swizzle::sql

int main() {
  return swizzle::sql::run();
}
