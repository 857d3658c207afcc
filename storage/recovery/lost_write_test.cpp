// A device that acknowledges a write and loses it: it later returns an older page with a correct
// checksum and number.
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "base/simulation/simulated_disk.h"
#include "storage/btree/node.h"
#include "storage/engine.h"
#include "storage/page/page.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"
#include "storage/space/written_lsns_file.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

using Catch::Contains;
using test::kHome;

constexpr int kLostRows = 800;
constexpr int kOtherRows = 2400;

/// Two trees, of which the pool holds a part.
struct ForgetfulDevice {
  ForgetfulDevice() {
    options.pool_bytes = std::uint64_t{1} << 20U;
    options.log_segment_bytes = std::uint64_t{256} << 10U;
    options.log_buffer_bytes = std::uint64_t{256} << 10U;
    REQUIRE(Engine::create(*disk, kHome, options));
    engine = Engine::open(*disk, kHome, options).value();
    const auto transaction = engine->begin();
    tree = engine->create_tree(*transaction).value();
    other = engine->create_tree(*transaction).value();
    for (int row = 0; row < kLostRows; ++row) put(*transaction, tree, row, 'a');
    for (int row = 0; row < kOtherRows; ++row) put(*transaction, other, row, 'a');
    REQUIRE(transaction->commit());
  }
  static std::string key_of(int row) { return std::to_string(1'000'000 + row); }

  void put(Transaction& transaction, TreeId into, int row, char value) {
    Tree rows = engine->tree(into).value();
    const std::string text(700, value);
    const std::string key = key_of(row);
    if (!rows.update(transaction, as_bytes(key), as_bytes(text)).value())
      REQUIRE(rows.insert(transaction, as_bytes(key), as_bytes(text)).value());
  }
  void change(TreeId in, int rows, char value) {
    const auto transaction = engine->begin();
    for (int row = 0; row < rows; ++row) put(*transaction, in, row, value);
    REQUIRE(transaction->commit());
  }
  Result<std::string> get(int row) {
    const auto reader = engine->begin();
    ValueBuffer value;
    const std::string key = key_of(row);
    ASSIGN_OR_RETURN(const bool found,
                     engine->tree(tree).value().get(*reader, as_bytes(key), value));
    REQUIRE(found);
    return std::string(as_text(value.bytes()));
  }
  /// Evicts the first tree's pages; dirty ones are written first.
  void push_out() {
    for (int round = 0; round < 4; ++round) {
      const auto reader = engine->begin();
      ValueBuffer value;
      for (int row = 0; row < kOtherRows; ++row) {
        const std::string key = key_of(row);
        REQUIRE(engine->tree(other).value().get(*reader, as_bytes(key), value).value());
      }
    }
  }
  /// Restarts without rolling the transaction back; the disk keeps its content.
  void kill(std::unique_ptr<Transaction> open_transaction) {
    // Keep it reachable until the process ends, so that the leak checker does not report it.
    static auto* const lost =
        new std::vector<std::tuple<std::unique_ptr<SimulatedDisk>, std::unique_ptr<Engine>,
                                   std::unique_ptr<Transaction>>>;
    auto after = disk->copy(1);
    after->sync_everything();
    lost->emplace_back(std::move(disk), std::move(engine), std::move(open_transaction));
    disk = std::move(after);
  }
  /// Returns the leaves of the first tree as they are on the device.
  std::map<std::uint64_t, std::vector<std::byte>> leaves() {
    std::map<std::uint64_t, std::vector<std::byte>> found;
    const auto bytes = disk->contents(kHome / Volume::kFileName);
    for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
      const std::byte* const at = bytes.data() + page * kPageBytes;
      const auto header = load<PageHeader>(at);
      if (header.tree == tree && header.level == 0 && check_page(at, PageId{page}))
        found.emplace(page, std::vector<std::byte>(at, at + kPageBytes));
    }
    return found;
  }
  /// Restores the old images of leaves. Values do not grow any more, so the leaves stay the same.
  /// Returns the number of leaves restored.
  std::size_t lose_writes() {
    push_out();
    const auto before = leaves();
    change(tree, kLostRows, 'b');
    push_out();
    std::size_t lost = 0;
    for (const auto& [page, now] : leaves()) {
      const auto old = before.find(page);
      if (old == before.end() || old->second == now) continue;
      disk->corrupt(kHome / Volume::kFileName, page * kPageBytes, old->second);
      ++lost;
    }
    return lost;
  }

  std::unique_ptr<SimulatedDisk> disk = std::make_unique<SimulatedDisk>();
  EngineOptions options;
  std::unique_ptr<Engine> engine;
  TreeId tree{};
  TreeId other{};
};

}  // namespace

TEST_CASE("S6 a page whose last write was lost is brought up to it when it is read", "[recovery]") {
  ForgetfulDevice device;
  const std::size_t lost = device.lose_writes();
  REQUIRE(lost > 10);
  const std::uint64_t before = device.engine->statistics().pages_repaired;
  for (int row = 0; row < kLostRows; ++row)
    REQUIRE(device.get(row).value() == std::string(700, 'b'));
  // Pages that were resident at the end were not read.
  CHECK(device.engine->statistics().pages_repaired - before > lost / 2);
  CHECK(device.engine->verify().value() == std::vector<std::string>{});
  REQUIRE(device.engine->close());
}

TEST_CASE("S6 a page whose last write was lost is an error when the log has forgotten it",
          "[recovery]") {
  ForgetfulDevice device;
  const std::size_t lost = device.lose_writes();
  REQUIRE(lost > 10);
  for (int round = 0; round < 6; ++round) {
    device.change(device.other, kOtherRows, round % 2 == 0 ? 'c' : 'd');
    REQUIRE(device.engine->checkpoint());
  }
  int refused = 0;
  for (int row = 0; row < kLostRows; ++row) {
    const auto got = device.get(row);
    if (got) {
      REQUIRE(*got == std::string(700, 'b'));
      continue;
    }
    ++refused;
    REQUIRE(got.error().state() == sqlstate::data_corrupted);
    REQUIRE_THAT(got.error().message(), Contains("was lost"));
    REQUIRE_THAT(got.error().message(), Contains("tree " + std::to_string(raw(device.tree))));
  }
  CHECK(refused > 0);
  // verify reports each damaged page, and other tables are intact.
  const auto violations = device.engine->verify().value();
  CHECK(violations.size() >= lost / 2);
  for (const std::string& violation : violations) CHECK_THAT(violation, Contains("was lost"));
}

TEST_CASE("S6 a restart makes up for a write that was lost before its checkpoint", "[recovery]") {
  ForgetfulDevice device;
  device.push_out();
  const auto old = device.leaves();
  // An open transaction keeps the log from here on.
  auto unfinished = device.engine->begin();
  device.put(*unfinished, device.other, kOtherRows, 'u');
  device.change(device.tree, kLostRows, 'b');
  device.push_out();
  REQUIRE(device.engine->checkpoint());
  // Redo reads each page first for records after the checkpoint.
  device.change(device.tree, kLostRows, 'c');
  device.kill(std::move(unfinished));
  std::size_t lost = 0;
  for (const auto& [page, now] : device.leaves()) {
    const auto before = old.find(page);
    if (before == old.end() || before->second == now) continue;
    device.disk->corrupt(kHome / Volume::kFileName, page * kPageBytes, before->second);
    ++lost;
  }
  REQUIRE(lost > 10);
  device.engine = Engine::open(*device.disk, kHome, device.options).value();
  for (int row = 0; row < kLostRows; ++row)
    REQUIRE(device.get(row).value() == std::string(700, 'c'));
  CHECK(device.engine->statistics().pages_repaired > lost / 2);
  CHECK(device.engine->verify().value() == std::vector<std::string>{});
  REQUIRE(device.engine->close());
}

namespace {

/// Makes the tree's first leaves lose a write whose log is gone, after which they were changed by a
/// committed and by an open transaction; then stops the machine. Returns the number of these
/// leaves.
std::size_t lose_write_and_log(ForgetfulDevice& device, int rows) {
  device.push_out();
  const auto old = device.leaves();
  device.change(device.tree, kLostRows, 'b');
  device.push_out();
  for (int round = 0; round < 6; ++round) {
    device.change(device.other, kOtherRows, round % 2 == 0 ? 'c' : 'd');
    REQUIRE(device.engine->checkpoint());
  }
  device.change(device.tree, rows, 'c');
  auto loser = device.engine->begin();
  for (int row = 0; row < rows; row += 3) device.put(*loser, device.tree, row, 'u');
  device.put(*loser, device.other, 5, 'u');
  // The commit makes its records durable as well.
  device.change(device.other, 2, 'e');
  device.kill(std::move(loser));
  // On a slow machine the last double-write batches may contain these pages.
  const std::vector<std::byte> none(device.disk->contents(kHome / DoubleWrite::kFileName).size());
  device.disk->corrupt(kHome / DoubleWrite::kFileName, 0, none);
  std::size_t lost = 0;
  for (const auto& [page, now] : device.leaves()) {
    const std::string key = ForgetfulDevice::key_of(rows);
    const auto before = old.find(page);
    if (before == old.end()) continue;
    const Bytes low = Node::of(now.data()).low_fence();
    if (compare(low, as_bytes(key)) >= 0) continue;
    device.disk->corrupt(kHome / Volume::kFileName, page * kPageBytes, before->second);
    ++lost;
  }
  return lost;
}

/// Checks that rows are as committed or XX001; returns the number of the latter.
int count_refused(ForgetfulDevice& device, int changed_rows) {
  int refused = 0;
  for (int row = 0; row < kLostRows; ++row) {
    const auto got = device.get(row);
    if (got) {
      REQUIRE(*got == std::string(700, row < changed_rows ? 'c' : 'b'));
      continue;
    }
    REQUIRE(got.error().state() == sqlstate::data_corrupted);
    REQUIRE_THAT(got.error().message(), Contains("tree " + std::to_string(raw(device.tree))));
    ++refused;
  }
  return refused;
}

}  // namespace

TEST_CASE("R9 a page whose lost write the log has forgotten costs its own rows, not the start",
          "[recovery]") {
  constexpr int kChanged = 30;
  ForgetfulDevice device;
  device.options.recovery_tasks = GENERATE(1U, 2U);
  const std::size_t lost = lose_write_and_log(device, kChanged);
  REQUIRE(lost >= 2);
  REQUIRE(lost < 10);
  for (int start = 0; start < 3; ++start) {
    CAPTURE(start);
    auto opened = Engine::open(*device.disk, kHome, device.options);
    INFO((opened ? "" : opened.error().message()));
    REQUIRE(opened);
    device.engine = std::move(*opened);
    const int refused = count_refused(device, kChanged);
    CHECK(refused >= kChanged);
    CHECK(refused < 100);
    CHECK(device.engine->verify().value().size() == lost);
    // Other tables are as they were committed, and can be written.
    {
      const auto reader = device.engine->begin();
      ValueBuffer value;
      const std::string key = ForgetfulDevice::key_of(1);
      REQUIRE(device.engine->tree(device.other).value().get(*reader, as_bytes(key), value).value());
      CHECK(as_text(value.bytes()) == std::string(700, 'e'));
    }
    // The file of written LSNs need not know it.
    if (start == 1) {
      REQUIRE(device.engine->close());
      device.engine.reset();
      const auto bytes = device.disk->contents(kHome / WrittenLsnsFile::kFileName);
      device.disk->corrupt(kHome / WrittenLsnsFile::kFileName, 0,
                           std::vector<std::byte>(bytes.size()));
      continue;
    }
    if (start == 0) {
      device.change(device.other, kOtherRows, 'e');
      device.kill(device.engine->begin());
    }
  }
  // Their pages are reused once the tree is dropped.
  {
    const auto transaction = device.engine->begin();
    REQUIRE(device.engine->drop_tree(*transaction, device.tree));
    device.tree = device.engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
  }
  REQUIRE(device.engine->shrink());
  for (int round = 0; round < 2; ++round) {
    device.change(device.tree, kLostRows, 'b');
    device.push_out();
  }
  CHECK(count_refused(device, 0) == 0);
  CHECK(device.engine->verify().value() == std::vector<std::string>{});
  REQUIRE(device.engine->close());
  device.engine.reset();
  device.engine = Engine::open(*device.disk, kHome, device.options).value();
  CHECK(count_refused(device, 0) == 0);
}

TEST_CASE("R9 a loser whose page is old and known by nothing costs its own rows, not the start",
          "[recovery]") {
  const bool is_prepared = GENERATE(false, true);
  ForgetfulDevice device;
  device.push_out();
  const auto old = device.leaves();
  // Insert rows that the old pages lack, with room for them and without a split.
  std::vector<std::string> keys;
  for (int row = 0; row < 30; row += 11) keys.push_back(ForgetfulDevice::key_of(row) + "x");
  const auto first = device.engine->begin();
  for (const std::string& key : keys)
    REQUIRE(device.engine->tree(device.tree)
                .value()
                .insert(*first, as_bytes(key), as_bytes("i"))
                .value());
  REQUIRE(first->commit());
  auto open = device.engine->begin();
  for (const std::string& key : keys)
    REQUIRE(device.engine->tree(device.tree)
                .value()
                .update(*open, as_bytes(key), as_bytes("u"))
                .value());
  if (is_prepared) {
    REQUIRE(open->prepare("waits", {}));
    open = device.engine->begin();
  } else {
    device.change(device.other, 1, 'b');
  }
  // Evict the pages, so that redo need not read them.
  device.push_out();
  REQUIRE(device.engine->checkpoint());
  device.kill(std::move(open));
  std::size_t lost = 0;
  for (const auto& [page, now] : device.leaves()) {
    const auto before = old.find(page);
    if (before == old.end() || before->second == now) continue;
    device.disk->corrupt(kHome / Volume::kFileName, page * kPageBytes, before->second);
    ++lost;
  }
  REQUIRE(lost >= 2);
  const std::vector<std::byte> nothing(
      device.disk->contents(kHome / WrittenLsnsFile::kFileName).size());
  device.disk->corrupt(kHome / WrittenLsnsFile::kFileName, 0, nothing);
  for (int start = 0; start < 2; ++start) {
    auto opened = Engine::open(*device.disk, kHome, device.options);
    INFO((opened ? "" : opened.error().message()));
    REQUIRE(opened);
    device.engine = std::move(*opened);
    if (is_prepared && start == 0) device.engine->take_prepared("waits").value()->rollback();
    int refused = 0;
    for (int row = 0; row < kLostRows; ++row) {
      const auto got = device.get(row);
      if (got)
        REQUIRE(*got == std::string(700, 'a'));
      else
        ++refused;
    }
    CHECK(refused >= 20);
    CHECK(refused < 60);
    CHECK(device.engine->verify().value().size() == lost);
    REQUIRE(device.engine->close());
    device.engine.reset();
  }
}

TEST_CASE("a backup has no older page than a reader would be given", "[recovery][backup]") {
  ForgetfulDevice device;
  const bool log_forgets = GENERATE(false, true);
  const std::size_t lost = device.lose_writes();
  REQUIRE(lost > 10);
  // The device need not have the pool's version of these rows.
  for (int row = 0; row < 40; ++row) REQUIRE(device.get(row).value() == std::string(700, 'b'));
  for (int round = 0; log_forgets && round < 6; ++round) {
    for (int part = 0; part < 8; ++part) {
      device.change(device.other, kOtherRows / 8, round % 2 == 0 ? 'c' : 'd');
      for (int row = 0; row < 40; ++row) REQUIRE(device.get(row).value() == std::string(700, 'b'));
    }
    REQUIRE(device.engine->checkpoint());
  }
  const std::filesystem::path backup = "/backup";
  const auto made = device.engine->back_up(backup);
  INFO((made ? "" : made.error().message()));
  REQUIRE(made);
  CHECK(made->given_up.empty() == !log_forgets);
  for (const std::string& why : made->given_up) CHECK_THAT(why, Contains("page "));
  const auto restored = restore_backup(*device.disk, {backup}, "/restored", {}, {});
  INFO((restored ? "" : restored.error().message()));
  REQUIRE(restored);
  CHECK(restored->given_up.size() == made->given_up.size());
  for (const auto& home : {std::filesystem::path{"/restored"}, backup}) {
    device.engine = Engine::open(*device.disk, home, device.options).value();
    int refused = 0;
    for (int row = 0; row < kLostRows; ++row) {
      const auto got = device.get(row);
      if (got) {
        REQUIRE(*got == std::string(700, 'b'));
      } else {
        REQUIRE(got.error().state() == sqlstate::data_corrupted);
        ++refused;
      }
    }
    CHECK((refused > 0) == log_forgets);
    CHECK(device.engine->verify().value().size() == made->given_up.size());
  }
}

TEST_CASE("S6 a write that was lost before the last start is seen", "[recovery]") {
  ForgetfulDevice device;
  device.push_out();
  const auto old = device.leaves();
  device.change(device.tree, kLostRows, 'b');
  // Close, so that redo has nothing to read.
  REQUIRE(device.engine->close());
  device.engine.reset();
  std::size_t lost = 0;
  for (const auto& [page, now] : device.leaves()) {
    const auto before = old.find(page);
    if (before == old.end() || before->second == now) continue;
    device.disk->corrupt(kHome / Volume::kFileName, page * kPageBytes, before->second);
    ++lost;
  }
  REQUIRE(lost > 10);
  const bool knows = GENERATE(true, false);
  if (!knows) {
    // As after a torn write of the file: then only parents can tell.
    const std::vector<std::byte> nothing(4096);
    device.disk->corrupt(kHome / WrittenLsnsFile::kFileName, 0, nothing);
  }
  device.engine = Engine::open(*device.disk, kHome, device.options).value();
  int old_ones = 0;
  for (int row = 0; row < kLostRows; ++row) {
    const auto got = device.get(row);
    if (got) {
      old_ones += *got == std::string(700, 'a') ? 1 : 0;
      continue;
    }
    REQUIRE(got.error().state() == sqlstate::data_corrupted);
    REQUIRE_THAT(got.error().message(), Contains("was lost"));
  }
  CHECK((old_ones == 0) == knows);
}

}  // namespace swizzle
