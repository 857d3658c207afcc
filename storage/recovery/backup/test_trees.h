#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/simulation/simulated_disk.h"
#include "storage/engine.h"
#include "storage/recovery/backup/test_archive.h"
#include "storage/testing/database_home.h"

namespace swizzle::test {

/// Fetches segments from the log of the database itself, and those that are not there any more from
/// the archive. A power cut may have left the archive's copy of a segment short; the log has it
/// then.
inline wal::RestoreSegment fetch_from_archive_and_log(SimulatedDisk& disk) {
  return [&disk](const std::string& name, const std::filesystem::path& target) -> Result<bool> {
    for (const auto& source : {kHome / "log" / name, kArchive / name}) {
      if (!disk.exists(source).value()) continue;
      RETURN_IF_ERROR(copy_file(disk, source, target));
      return true;
    }
    return false;
  };
}

/// A database with three trees on a simulated disk, and the rows that each has.
class Trees {
 public:
  using Rows = std::map<std::string, std::string>;
  using Content = std::map<TreeId, Rows>;

  static EngineOptions options_of(SimulatedDisk& disk) {
    EngineOptions options = archiving_options(disk, std::uint64_t{256} << 10U);
    options.restore = fetch_from_archive_and_log(disk);
    return options;
  }

  /// Makes a database.
  Trees(SimulatedDisk& disk, std::uint64_t seed) : random(seed), disk_(disk), home_(kHome) {
    REQUIRE(Engine::create(disk, kHome, options_of(disk)));
    REQUIRE(disk.create_directory(kArchive));
    REQUIRE(disk.sync_directory("/"));
    open();
    for (int i = 0; i < 3; ++i) create_tree();
    for (int i = 0; i < 60; ++i) change();
  }
  /// Opens one that has these rows, or the ones in doubt.
  Trees(SimulatedDisk& disk, std::uint64_t seed, std::filesystem::path home, Content rows,
        std::optional<Content> or_rows = std::nullopt)
      : random(seed), content(std::move(rows)), disk_(disk), home_(std::move(home)) {
    open();
    if (!has(*engine, content)) {
      REQUIRE(or_rows.has_value());
      content = std::move(*or_rows);
      require_content(*engine, content);
    }
  }

  void open() {
    engine.reset();
    auto opened = Engine::open(disk_, home_, options_of(disk_));
    if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
    engine = std::move(*opened);
  }
  /// As after a crash, or after a stop.
  void reopen() {
    if (random.one_in(2)) REQUIRE(engine->close());
    engine.reset();
    open();
  }

  /// Commits or rolls back a transaction. Now and then a tree goes, so that its pages get others.
  void change() {
    if (random.one_in(25) && content.size() == 3) {
      const auto gone = std::next(content.begin(), static_cast<std::ptrdiff_t>(random.below(3)));
      const auto transaction = engine->begin();
      REQUIRE(engine->drop_tree(*transaction, gone->first));
      Content without = content;
      without.erase(gone->first);
      commit(*transaction, std::move(without));
    }
    while (content.size() < 3) create_tree();
    const auto at = std::next(content.begin(), static_cast<std::ptrdiff_t>(random.below(3)));
    const auto transaction = engine->begin();
    Tree tree = engine->tree(at->first).value();
    Rows rows = at->second;
    const std::uint64_t first = random.below(400);
    for (std::uint64_t i = first; i < first + random.between(1, 30); ++i) {
      const std::string key = std::to_string(10'000 + i);
      if (random.one_in(4)) {
        if (tree.remove(*transaction, as_bytes(key)).value()) rows.erase(key);
        continue;
      }
      // Some are too large for the tree itself.
      const std::size_t bytes = random.one_in(60) ? 20'000 : 400;
      const std::string value = std::to_string(random()) + std::string(bytes, 'v');
      const bool is_new = tree.insert(*transaction, as_bytes(key), as_bytes(value)).value();
      if (!is_new) REQUIRE(tree.update(*transaction, as_bytes(key), as_bytes(value)).value());
      rows[key] = value;
    }
    if (random.one_in(5)) return transaction->rollback();
    Content changed = content;
    changed[at->first] = std::move(rows);
    commit(*transaction, std::move(changed));
  }

  static Rows rows_of(Engine& of, TreeId tree) {
    const auto reader = of.begin();
    Rows found;
    Cursor cursor = of.tree(tree).value().scan(*reader, {}).value();
    while (cursor.next().value()) found.emplace(as_text(cursor.key()), as_text(cursor.value()));
    return found;
  }
  static bool has(Engine& of, const Content& expected) {
    for (const auto& [tree, rows] : expected)
      if (!of.tree(tree) || rows_of(of, tree) != rows) return false;
    return true;
  }
  static void require_content(Engine& of, const Content& expected) {
    const bool is_same = has(of, expected);
    REQUIRE(is_same);
  }

  void require_restored(const std::vector<std::filesystem::path>& chain, const Content& expected) {
    const std::filesystem::path home = "/restored-" + std::to_string(++restored_);
    const auto made = restore_backup(disk_, chain, home, {}, {});
    if (!made) FAIL(made.error().message());
    const auto opened = Engine::open(disk_, home, options_of(disk_)).value();
    require_content(*opened, expected);
    REQUIRE(opened->verify().value() == std::vector<std::string>{});
    REQUIRE(opened->close());
  }

  Random random;
  std::unique_ptr<Engine> engine;
  Content content;
  /// Rows with the transaction whose commit is under way.
  std::optional<Content> in_doubt;

 private:
  void commit(Transaction& transaction, Content after) {
    in_doubt = after;
    REQUIRE(transaction.commit());
    content = std::move(after);
    in_doubt.reset();
  }
  void create_tree() {
    const auto transaction = engine->begin();
    Content with = content;
    with[engine->create_tree(*transaction).value()] = {};
    commit(*transaction, std::move(with));
  }

  SimulatedDisk& disk_;
  const std::filesystem::path home_;
  int restored_ = 0;
};

inline void flip_byte(SimulatedDisk& disk, const std::filesystem::path& path, std::uint64_t at) {
  auto file = disk.open(path, OpenMode::read_write, {}).value();
  std::array<std::byte, 1> byte{};
  REQUIRE(file->read_at(at, byte));
  byte[0] ^= std::byte{1};
  REQUIRE(file->write_at(at, byte));
}

}  // namespace swizzle::test
