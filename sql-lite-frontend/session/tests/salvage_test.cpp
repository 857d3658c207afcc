// A server with salvage = on: damaged definitions cost the objects that they describe.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "storage/page/page.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"

namespace swizzle::sql {
namespace {

constexpr int kTables = 60;
/// The catalog's tree.
constexpr TreeId kCatalogTree{2};
const std::filesystem::path kHome{"/database"};

void fill_and_close(SimulatedDisk& disk) {
  TestDatabase db{disk};
  REQUIRE(db.run("CREATE TABLE large AS SELECT g AS id, repeat('x', 100) AS a "
                 "FROM generate_series(1, 20000) g") == "SELECT 20000");
  for (int i = 0; i < kTables; ++i) {
    REQUIRE(db.run(fmt::format("CREATE TABLE t{0} (id int PRIMARY KEY, a text UNIQUE); "
                               "INSERT INTO t{0} SELECT g, g::text FROM generate_series(1, 20) g; "
                               "CREATE VIEW v{0} AS SELECT id FROM t{0}",
                               i)) == "CREATE TABLE INSERT 0 20 CREATE VIEW");
  }
  db.run("CREATE ROLE plain LOGIN");
  db.run("CREATE TABLE log_filler (g int, a text)");
  // Make sure that neither the double-write area nor the log has the pages that are damaged below.
  for (int i = 0; i < 5; ++i) {
    db.run("INSERT INTO log_filler SELECT g, repeat('x', 1000) FROM generate_series(1, 20000) g");
    db.run("TRUNCATE log_filler");
    REQUIRE(db.run("CHECKPOINT") == "CHECKPOINT");
  }
}

/// Creates a closed database whose log does not reach back to its definitions.
void fill(SimulatedDisk& disk) {
  fill_and_close(disk);
  disk.sync_everything();
}

/// Returns the pages by tree.
std::map<TreeId, std::vector<PageHeader>> pages_of(SimulatedDisk& disk) {
  std::map<TreeId, std::vector<PageHeader>> found;
  const auto bytes = disk.contents(kHome / Volume::kFileName);
  for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
    const std::byte* const at = bytes.data() + page * kPageBytes;
    if (!check_page(at, PageId{page})) continue;
    const auto header = load<PageHeader>(at);
    found[header.tree].push_back(header);
  }
  return found;
}

void damage(SimulatedDisk& disk, PageId page) {
  const auto flip = [&](const std::filesystem::path& file, std::uint64_t offset) {
    const std::array<std::byte, 1> flipped{disk.contents(file).at(offset) ^ std::byte{1}};
    disk.corrupt(file, offset, flipped);
  };
  constexpr std::size_t kAt = kPageBytes / 2;
  flip(kHome / Volume::kFileName, raw(page) * kPageBytes + kAt);
  const auto copies = disk.contents(kHome / DoubleWrite::kFileName);
  for (std::size_t copy = 0; copy + kPageBytes <= copies.size(); copy += kPageBytes)
    if (load<PageHeader>(copies.data() + copy).id == page)
      flip(kHome / DoubleWrite::kFileName, copy + kAt);
}

SessionOptions as_role(const std::string& user) {
  SessionOptions options;
  options.user = user;
  options.backend_pid = 1;
  return options;
}

EngineOptions salvaging() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{16} << 20U;
  options.salvage = true;
  return options;
}

}  // namespace

TEST_CASE("A damaged page of the definitions costs a salvage what it describes",
          "[sql][session][salvage]") {
  SimulatedDisk disk{1};
  fill(disk);
  std::size_t leaves = 0;
  const auto trees = pages_of(disk);
  for (const PageHeader& page : trees.at(kCatalogTree)) {
    // Without the root nothing can be found.
    if (page.level > 0) continue;
    ++leaves;
    CAPTURE(raw(page.id));
    const auto copy = disk.copy(1);
    damage(*copy, page.id);
    const auto engine = Engine::open(*copy, kHome, salvaging()).value();
    auto opened = Database::open(*engine);
    REQUIRE(opened);
    const auto database = std::move(*opened);
    auto connected = database->connect(as_role("postgres"));
    REQUIRE(connected);
    Session& session = **connected;
    TestSink sink;
    const auto run = [&](const std::string& sql) -> std::string {
      sink.clear();
      const Outcome outcome = session.simple_query(sql, sink);
      if (!outcome) return std::string{outcome.error().state.code()};
      return sink.tags.empty() ? "" : sink.tags.back();
    };
    int readable = 0;
    for (int i = 0; i < kTables; ++i) {
      const std::string said = run(fmt::format("SELECT * FROM t{}", i));
      CHECK((said == "SELECT 20" || said == "42P01"));
      readable += said == "SELECT 20" ? 1 : 0;
    }
    CHECK(readable >= kTables / 2);
    REQUIRE(run("SELECT count(*) FROM pg_class") == "SELECT 1");
    // Read-only, and for superusers only.
    CHECK(run("CREATE TABLE fresh (a int)") == "25006");
    CHECK(run("BEGIN READ WRITE") == "0A000");
    CHECK(run("ROLLBACK") == "ROLLBACK");
    CHECK(run("SET transaction_read_only = off") == "0A000");
    CHECK(!database->connect(as_role("plain")));
    connected->reset();
  }
  REQUIRE(leaves > 3);
}

TEST_CASE("A damaged page of the definitions makes no table unknown", "[sql][session][salvage]") {
  SimulatedDisk disk{1};
  fill(disk);
  EngineOptions options;
  options.pool_bytes = std::uint64_t{16} << 20U;
  int started = 0;
  const auto trees = pages_of(disk);
  for (const PageHeader& page : trees.at(kCatalogTree)) {
    CAPTURE(raw(page.id), static_cast<int>(page.level));
    const auto copy = disk.copy(1);
    damage(*copy, page.id);
    const auto engine = Engine::open(*copy, kHome, options).value();
    auto opened = Database::open(*engine);
    if (!opened) {
      // The server's error has a hint that names salvage.
      CHECK(opened.error().state() == sqlstate::data_corrupted);
      continue;
    }
    ++started;
    const auto database = std::move(*opened);
    const auto session = database->connect(as_role("postgres")).value();
    TestSink sink;
    const auto run = [&](const std::string& sql) -> std::string {
      sink.clear();
      const Outcome outcome = session->simple_query(sql, sink);
      if (!outcome) return std::string{outcome.error().state.code()};
      return sink.tags.empty() ? "" : sink.tags.back();
    };
    int readable = 0;
    for (int i = 0; i < kTables; ++i) {
      const std::string said = run(fmt::format("SELECT * FROM t{}", i));
      CHECK((said == "SELECT 20" || said == "XX001"));
      readable += said == "SELECT 20" ? 1 : 0;
      const std::string of_view = run(fmt::format("SELECT * FROM v{}", i));
      CHECK((of_view == "SELECT 20" || of_view == "XX001"));
      const std::string written = run(fmt::format("INSERT INTO t{} VALUES (100, 'a')", i));
      CHECK((written == "INSERT 0 1" || written == "XX001"));
    }
    // A page has the relations of a part of the tables, or one kind of record of theirs, without
    // which they can be read.
    CHECK(readable >= kTables / 2);
    const std::string absent = run("SELECT * FROM never_there");
    CHECK((absent == "42P01" || absent == "XX001"));
  }
  CHECK(started > 3);
}

TEST_CASE("A salvage tells its client what it has passed over", "[sql][session][salvage]") {
  SimulatedDisk disk{1};
  fill(disk);
  const auto trees = pages_of(disk);
  // Use the first table: later trees of its size have been dropped, and their pages are free.
  const auto large =
      std::ranges::find_if(trees, [](const auto& tree) { return tree.second.size() > 200; });
  REQUIRE(large != trees.end());
  const auto leaf = std::ranges::find(large->second, 0, &PageHeader::level);
  REQUIRE(leaf != large->second.end());
  damage(disk, leaf->id);
  const auto engine = Engine::open(disk, kHome, salvaging()).value();
  const auto database = Database::open(*engine).value();
  const auto session = database->connect(as_role("postgres")).value();
  for (const std::string sql : {"SELECT id FROM large", "COPY large TO STDOUT"}) {
    CAPTURE(sql);
    TestSink sink;
    REQUIRE(session->simple_query(sql, sink));
    REQUIRE(sink.notices.size() == 1);
    CHECK(sink.notices[0].severity == Severity::warning);
    CHECK(sink.notices[0].state == sqlstate::data_corrupted);
    CHECK_THAT(sink.notices[0].message,
               Catch::StartsWith("passed over: ") && Catch::Contains("fails its checksum"));
    const auto rows =
        std::max<std::ptrdiff_t>(std::ssize(sink.rows), std::ranges::count(sink.copied, '\n'));
    CHECK(rows < 20'000);
    CHECK(rows > 19'800);
  }
}

}  // namespace swizzle::sql
