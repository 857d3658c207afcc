#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/simulation/simulated_disk.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle::test {

/// Rewrites both copies of a control file as format version 2 has them: without what active
/// transactions have changed.
inline void make_control_version_2(SimulatedDisk& disk, const std::filesystem::path& directory) {
  constexpr std::size_t kHeader = 128;
  constexpr std::size_t kPage = 24;
  constexpr std::size_t kTransaction = 40;
  constexpr std::size_t kTransactionBefore = 24;
  constexpr std::size_t kChecked = 24;
  for (const char* const name : ControlFile::kFileNames) {
    const std::vector<std::byte> bytes = disk.contents(directory / name);
    REQUIRE(load<std::uint32_t>(bytes.data() + 8) == 3);
    const auto pages = load<std::uint64_t>(bytes.data() + 104);
    const auto transactions = load<std::uint64_t>(bytes.data() + 112);
    const std::size_t lists = kHeader + pages * kPage;
    std::vector<std::byte> older(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(lists));
    for (std::uint64_t i = 0; i < transactions; ++i) {
      const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(lists + i * kTransaction);
      older.insert(older.end(), at, at + kTransactionBefore);
    }
    store(older.data() + 8, std::uint32_t{2});
    store(older.data() + 12, std::uint32_t{0});
    store(older.data() + 16,
          checksum(Bytes{older}.subspan(kChecked), load<std::uint64_t>(older.data() + kChecked)));
    older.resize(bytes.size());
    const auto file = disk.open(directory / name, OpenMode::read_write, {}).value();
    REQUIRE(file->write_at(0, older));
  }
}

}  // namespace swizzle::test
