#include "storage/recovery/checkpoint/control_file.h"

#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/simulated_disk.h"
#include "storage/testing/older_control.h"

using namespace swizzle;
using Catch::Contains;

namespace {

const std::filesystem::path kDirectory = "/database";

Control sample(std::uint64_t version) {
  Control control;
  control.database_id = 0x5eed;
  control.log_id = 0x5eee;
  control.log_segment_bytes = 1 << 20;
  control.directory_root = PageId{3};
  control.shutdown = Control::Shutdown::clean;
  Checkpoint& checkpoint = control.checkpoint;
  checkpoint.begin = Lsn{version * 100};
  checkpoint.redo_from = Lsn{version * 100 - 20};
  checkpoint.keep_from = Lsn{version * 100 - 40};
  checkpoint.next_txn = TxnId{version};
  checkpoint.taken_at_us = 123456;
  for (std::uint64_t i = 0; i < version * 60 % 2000; ++i)
    checkpoint.dirty.push_back({PageId{i + 5}, Lsn{version * 80 + i}});
  for (std::uint64_t i = 0; i < version % 7; ++i) {
    checkpoint.active.push_back({TxnId{i}, Lsn{i * 8}, Lsn{i * 16}});
    OpenChanges& changes = checkpoint.active.back().changes;
    changes.undo_bytes = i * version;
    changes.is_known = i % 2 == 0;
    for (std::uint32_t n = 0; n < i; ++n) changes.trees.push_back({TreeId{n + 7}, version + n});
  }
  return control;
}

void require_same(const Control& a, const Control& b) {
  REQUIRE(a.database_id == b.database_id);
  REQUIRE(a.log_id == b.log_id);
  REQUIRE(a.log_segment_bytes == b.log_segment_bytes);
  REQUIRE(a.directory_root == b.directory_root);
  REQUIRE(a.shutdown == b.shutdown);
  REQUIRE(a.checkpoint.begin == b.checkpoint.begin);
  REQUIRE(a.checkpoint.redo_from == b.checkpoint.redo_from);
  REQUIRE(a.checkpoint.keep_from == b.checkpoint.keep_from);
  REQUIRE(a.checkpoint.next_txn == b.checkpoint.next_txn);
  REQUIRE(a.checkpoint.dirty.size() == b.checkpoint.dirty.size());
  for (std::size_t i = 0; i < a.checkpoint.dirty.size(); ++i) {
    REQUIRE(a.checkpoint.dirty[i].page == b.checkpoint.dirty[i].page);
    REQUIRE(a.checkpoint.dirty[i].since == b.checkpoint.dirty[i].since);
  }
  REQUIRE(a.checkpoint.active.size() == b.checkpoint.active.size());
  for (std::size_t i = 0; i < a.checkpoint.active.size(); ++i) {
    REQUIRE(a.checkpoint.active[i].last == b.checkpoint.active[i].last);
    const OpenChanges& changes = a.checkpoint.active[i].changes;
    const OpenChanges& others = b.checkpoint.active[i].changes;
    REQUIRE(changes.undo_bytes == others.undo_bytes);
    REQUIRE(changes.is_known == others.is_known);
    REQUIRE(changes.trees.size() == others.trees.size());
    for (std::size_t n = 0; n < changes.trees.size(); ++n) {
      REQUIRE(changes.trees[n].tree == others.trees[n].tree);
      REQUIRE(changes.trees[n].records == others.trees[n].records);
    }
  }
}

void make(SimulatedDisk& disk) {
  REQUIRE(disk.create_directory(kDirectory));
  REQUIRE(ControlFile::create(disk, kDirectory, sample(1)));
  disk.sync_everything();
}

}  // namespace

TEST_CASE("what was written last is read, longer or shorter than before", "[control]") {
  SimulatedDisk disk;
  make(disk);
  for (std::uint64_t version = 2; version < 80; ++version) {
    auto control = ControlFile::open(disk, kDirectory).value();
    require_same(control->current(), sample(version - 1));
    REQUIRE(control->write(sample(version)));
    require_same(control->current(), sample(version));
  }
}

TEST_CASE("P24 a torn or lost copy leaves the one before", "[control][crash]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    SimulatedDisk disk{seed};
    make(disk);
    std::uint64_t written = 1;
    {
      auto control = ControlFile::open(disk, kDirectory).value();
      disk.cut_power_at(DiskOperation::change, Random{seed}.between(1, 9));
      while (written < 9 && control->write(sample(written + 1))) ++written;
    }
    disk.crash(seed);
    auto control = ControlFile::open(disk, kDirectory).value();
    const std::uint64_t found = raw(control->current().checkpoint.next_txn);
    REQUIRE((found == written || found == written + 1));
    require_same(control->current(), sample(found));
  }
}

TEST_CASE("a control file of the version before is read, without what transactions changed",
          "[control]") {
  SimulatedDisk disk;
  make(disk);
  REQUIRE(ControlFile::open(disk, kDirectory).value()->write(sample(13)));
  test::make_control_version_2(disk, kDirectory);
  Control expected = sample(13);
  REQUIRE(expected.checkpoint.active.size() == 6);
  for (ActiveTransaction& transaction : expected.checkpoint.active) transaction.changes = {};
  const auto control = ControlFile::open(disk, kDirectory).value();
  require_same(control->current(), expected);
  REQUIRE(control->write(sample(14)));
  require_same(ControlFile::open(disk, kDirectory).value()->current(), sample(14));
}

TEST_CASE("one damaged or lost copy is survived, two are refused by name", "[control]") {
  SimulatedDisk disk;
  make(disk);
  REQUIRE(ControlFile::open(disk, kDirectory).value()->write(sample(2)));
  const auto younger = kDirectory / ControlFile::kFileNames[0];
  const auto older = kDirectory / ControlFile::kFileNames[1];
  const std::byte wrong{0x77};
  disk.corrupt(younger, 70, {&wrong, 1});
  {
    auto control = ControlFile::open(disk, kDirectory).value();
    REQUIRE(control->is_one_copy_lost());
    require_same(control->current(), sample(1));
    REQUIRE(control->write(sample(3)));
  }
  require_same(ControlFile::open(disk, kDirectory).value()->current(), sample(3));
  REQUIRE(disk.remove(younger));
  require_same(ControlFile::open(disk, kDirectory).value()->current(), sample(1));
  disk.corrupt(older, 10, {&wrong, 1});
  const auto version = ControlFile::open(disk, kDirectory);
  REQUIRE_THAT(version.error().message(), Contains("format version"));
  REQUIRE(disk.remove(older));
  const auto refused = ControlFile::open(disk, kDirectory);
  REQUIRE(refused.error().state() == sqlstate::data_corrupted);
  REQUIRE_THAT(refused.error().message(), Contains("control-0") && Contains("control-1"));
}
