#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "wal/log.h"

namespace swizzle::wal::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "swizzle-wal-XXXXXX").native();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr std::uint64_t kDatabase = 0x5eed'0000'0000'0001;
inline constexpr RecordKind kUpdate{17};

inline LogOptions small_options(const std::filesystem::path& directory) {
  LogOptions options;
  options.directory = directory;
  options.database_id = kDatabase;
  options.segment_bytes = std::uint64_t{64} << 10U;
  options.buffer_bytes = std::size_t{64} << 10U;
  return options;
}

/// A record that a test appended, to compare with the one that a reader finds.
struct Written {
  Lsn lsn = Lsn::none;
  Lsn end = Lsn::none;
  RecordHeader header;
  std::string payload;
};

/// For logs that are cut off in the middle: few segments are kept for recycling.
inline LogOptions crash_options(const std::filesystem::path& directory) {
  LogOptions options = small_options(directory);
  options.spare_segments = 1;
  return options;
}

inline std::string random_payload(Random& random, std::size_t longest) {
  std::string payload(random() % (longest + 1), '\0');
  for (char& c : payload) c = static_cast<char>(random());
  return payload;
}

inline RecordHeader random_header(Random& random) {
  const auto field = [&]() -> std::uint64_t {
    constexpr std::array<unsigned, 5> kShifts{64, 60, 33, 20, 1};
    const unsigned shift = kShifts[random() % kShifts.size()];
    return shift == 64 ? 0 : (random() >> shift) & ~std::uint64_t{7};
  };
  return {.kind = RecordKind{static_cast<std::uint8_t>(16 + random() % 200)},
          .txn = TxnId{field()},
          .txn_prev = Lsn{field()},
          .page = PageId{field()},
          .page_prev = Lsn{field()},
          .page2 = PageId{field()},
          .page2_prev = Lsn{field()},
          .tree = TreeId{static_cast<std::uint32_t>(field())},
          .flags = static_cast<std::uint8_t>(random()),
          .undo_next = Lsn{field()}};
}

inline Written append(Log& log, const RecordHeader& header, std::string payload) {
  auto space = log.reserve(payload.size());
  REQUIRE(space);
  const auto [lsn, end] = log.append(*space, header, as_bytes(payload));
  return {lsn, end, header, std::move(payload)};
}

inline Written append_random(Log& log, Random& random, std::size_t longest) {
  return append(log, random_header(random), random_payload(random, longest));
}

/// Every record from `from` on, the log's own marks left out.
inline Result<std::vector<Written>> try_read_forward(Reader reader, Lsn from) {
  std::vector<Written> found;
  reader.seek(from);
  for (;;) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record) return found;
    if (record->header.kind == RecordKind::flush_mark) continue;
    found.push_back(
        {record->lsn, record->end, record->header, std::string{as_text(record->payload)}});
  }
}
inline std::vector<Written> read_forward(Reader reader, Lsn from) {
  auto found = try_read_forward(std::move(reader), from);
  INFO((found ? std::string{} : found.error().message()));
  REQUIRE(found);
  return *std::move(found);
}

/// Compared by hand: thousands of assertions would be slow.
inline bool same(const std::vector<Written>& a, const std::vector<Written>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.lsn == y.lsn && x.end == y.end && x.header == y.header && x.payload == y.payload;
  });
}

}  // namespace swizzle::wal::test
