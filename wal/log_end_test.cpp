#include <algorithm>

#include "base/simulation/simulated_disk.h"
#include "wal/internal/log_scan.h"
#include "wal/internal/segment.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

namespace {

const std::filesystem::path kLogHome = "/log";

// A closed log on a disk in memory, whose bytes a test changes.
struct ClosedLog {
  ClosedLog() {
    REQUIRE(disk.create_directory(kLogHome));
    options.buffer_bytes = std::size_t{256} << 10U;
  }

  void write(std::size_t bytes, std::size_t longest) {
    auto log = first == Lsn::none ? Log::create(disk, options).value()
                                  : Log::open(disk, options, first).value();
    if (first == Lsn::none) first = log->begin();
    Random random{bytes};
    for (std::size_t so_far = 0; so_far < bytes;) {
      written.push_back(append_random(*log, random, longest));
      so_far += raw(written.back().end) - raw(written.back().lsn);
    }
    log->close();
    end = log->durable();
    location = log->location();
    find_boundaries();
  }
  void find_boundaries() {
    boundaries.clear();
    Reader reader{location, end};
    reader.seek(first);
    while (const auto record = reader.next().value()) boundaries.push_back(raw(record->lsn));
    boundaries.push_back(raw(end));
  }

  [[nodiscard]] std::filesystem::path file_of(std::uint64_t lsn) const {
    return kLogHome / segment_name(SegmentGeometry{options.segment_bytes}.number_of(lsn));
  }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t lsn) const {
    return SegmentGeometry{options.segment_bytes}.file_offset(lsn);
  }
  // Returns the start of the record, possibly a mark, that contains the byte; the end if it is
  // after it.
  [[nodiscard]] std::uint64_t record_at(std::uint64_t lsn) const {
    return *std::prev(std::upper_bound(boundaries.begin(), boundaries.end(), lsn));
  }
  // Tests every byte of the first and last records and of the block boundary, and some of the
  // others.
  [[nodiscard]] std::uint64_t step(std::uint64_t lsn) const {
    const std::uint64_t from_block = std::min(lsn % kWriteUnit, kWriteUnit - lsn % kWriteUnit);
    return from_block < 150 || lsn + 600 > raw(end) ? 1 : 11;
  }
  // Returns the end of the log if all bytes from `lsn` on are cut off. These read as zeros, and may
  // have been zeros: a record that loses no other bytes is complete.
  [[nodiscard]] std::uint64_t end_if_cut_at(std::uint64_t lsn) const {
    const std::uint64_t start = record_at(lsn);
    const std::uint64_t next = *std::upper_bound(boundaries.begin(), boundaries.end(), lsn);
    const auto bytes = disk.contents(file_of(lsn));
    const bool whole = lsn > start && file_of(next - 1) == file_of(lsn) &&
                       std::all_of(&bytes[offset_of(lsn)], &bytes[offset_of(next - 1)] + 1,
                                   [](std::byte byte) { return byte == std::byte{0}; });
    return whole ? next : start;
  }
  void overwrite(std::uint64_t lsn, Bytes with) {
    disk.corrupt(file_of(lsn), offset_of(lsn), with);
  }

  SimulatedDisk disk;
  LogOptions options = small_options(kLogHome);
  LogLocation location;
  Lsn first = Lsn::none;
  Lsn end = Lsn::none;
  std::vector<Written> written;
  std::vector<std::uint64_t> boundaries;
};

}  // namespace

TEST_CASE("P14 a corrupted byte in the last write ends the log at its record", "[log][crash]") {
  ClosedLog log;
  log.write(9000, 300);  // one write: nothing in it was durable before
  const auto original = log.disk.contents(log.file_of(raw(log.first)));
  for (std::uint64_t at = raw(log.first); at < raw(log.end) + 100; at += log.step(at)) {
    const std::byte was = original[log.offset_of(at)];
    const std::byte other = was ^ std::byte{0x41};
    log.overwrite(at, {&other, 1});
    const auto found = find_end(log.location, raw(log.first));
    REQUIRE(found);
    REQUIRE(found->end == log.record_at(at));
    log.overwrite(at, {&was, 1});
  }
}

TEST_CASE("P14 a file cut at any byte of the last write ends the log before it", "[log][crash]") {
  ClosedLog log;
  log.write(9000, 300);
  const auto path = log.file_of(raw(log.first));
  const auto original = log.disk.contents(path);
  auto file = log.disk.open(path, OpenMode::read_write, {}).value();
  for (std::uint64_t at = raw(log.first); at < raw(log.end); at += log.step(at)) {
    const std::uint64_t expected = log.end_if_cut_at(at);
    REQUIRE(file->truncate(log.offset_of(at)));
    const auto found = find_end(log.location, raw(log.first));
    REQUIRE(found);
    REQUIRE(found->end == expected);
    REQUIRE(file->write_at(0, original));
  }
}

TEST_CASE("P14 a log that lost its tail is repaired, and goes on", "[log][crash]") {
  Random random{5};
  for (int round = 0; round < 40; ++round) {
    ClosedLog log;
    log.write(60'000, 300);  // into the second segment
    const std::uint64_t cut = raw(log.first) + random() % (raw(log.end) - raw(log.first));
    const std::uint64_t expected = log.end_if_cut_at(cut);
    {
      auto file = log.disk.open(log.file_of(cut), OpenMode::read_write, {}).value();
      REQUIRE(file->truncate(log.offset_of(cut)));
    }
    auto opened = Log::open(log.disk, log.options, log.first).value();
    REQUIRE(raw(opened->begin()) == expected);
    std::erase_if(log.written, [&](const Written& one) { return raw(one.lsn) >= expected; });
    REQUIRE(same(read_forward(opened->reader(), log.first), log.written));
    for (int i = 0; i < 300; ++i) log.written.push_back(append_random(*opened, random, 300));
    opened->close();
    REQUIRE(same(read_forward(opened->reader(), log.first), log.written));
  }
}

TEST_CASE("a hole behind a valid tail is never skipped, what lies behind it never comes back",
          "[log][crash]") {
  // All records have the same length, so that new ones after the restart end where old ones begin.
  ClosedLog log;
  {
    auto opened = Log::create(log.disk, log.options).value();
    log.first = opened->begin();
    for (int i = 0; i < 300; ++i) {
      log.written.push_back(append(*opened, {.kind = kUpdate}, std::string(100, 'a')));
    }
    opened->close();
    log.end = opened->durable();
    log.location = opened->location();
  }
  const Written& lost = log.written[100];
  const std::vector<std::byte> zeros(raw(lost.end) - raw(lost.lsn));
  log.overwrite(raw(lost.lsn), zeros);
  auto opened = Log::open(log.disk, log.options, log.first).value();
  REQUIRE(opened->begin() == lost.lsn);
  const Written instead = append(*opened, {.kind = kUpdate}, std::string(100, 'b'));
  REQUIRE(instead.end == log.written[101].lsn);
  opened->flush_to(instead.end);
  opened.reset();
  opened = Log::open(log.disk, log.options, log.first).value();
  log.written.resize(100);
  log.written.push_back(instead);
  REQUIRE(same(read_forward(opened->reader(), log.first), log.written));
}

TEST_CASE("P14 what was written beyond a torn tail does not come back, however the new log ends",
          "[log][crash]") {
  // Make the new log end at the end of a block where an old record begins: then its last write does
  // not cover the bytes after it.
  constexpr std::uint64_t kEnd = 3 * kWriteUnit;
  const RecordHeader header{.kind = kUpdate};
  EncodedHeader encoded;
  encode_header(header, encoded);
  const auto fill_to = [&](Log& log, std::uint64_t at, std::uint64_t end, char with) {
    std::vector<Written> written;
    while (at < end) {
      const std::uint64_t left = end - at;
      const std::uint64_t bytes = left < 400 ? left : 200;
      std::size_t payload = 0;
      while (record_bytes(encoded, payload) < bytes) ++payload;
      REQUIRE(record_bytes(encoded, payload) == bytes);
      written.push_back(append(log, header, std::string(payload, with)));
      at = raw(written.back().end);
    }
    return written;
  };
  ClosedLog log;
  auto opened = Log::create(log.disk, log.options).value();
  log.first = opened->begin();
  const std::uint64_t block = block_floor(raw(log.first));
  log.written = fill_to(*opened, raw(log.first), block + kEnd, 'a');
  const std::size_t before_the_end = log.written.size();
  fill_to(*opened, block + kEnd, block + kEnd + 1000, 'a');
  opened->close();
  log.location = opened->location();

  const Written lost = log.written[before_the_end / 2];
  REQUIRE(raw(lost.end) < block + kEnd - kWriteUnit);
  log.overwrite(raw(lost.lsn), std::vector<std::byte>(raw(lost.end) - raw(lost.lsn)));
  opened = Log::open(log.disk, log.options, log.first).value();
  REQUIRE(opened->begin() == lost.lsn);
  log.written.resize(before_the_end / 2);
  // The mark that the write adds comes last.
  const RecordHeader mark{.kind = RecordKind::flush_mark};
  encode_header(mark, encoded);
  const std::uint64_t mark_bytes = record_bytes(encoded, sizeof(std::uint64_t));
  encode_header(header, encoded);
  for (const Written& one : fill_to(*opened, raw(lost.lsn), block + kEnd - mark_bytes, 'b'))
    log.written.push_back(one);
  opened->close();
  REQUIRE(raw(opened->durable()) == block + kEnd);

  opened = Log::open(log.disk, log.options, log.first).value();
  REQUIRE(same(read_forward(opened->reader(), log.first), log.written));
}

// A recycled segment has rows of its first use after the log's end.
TEST_CASE("rows that look like long records do not make the search for the end long", "[log]") {
  ClosedLog log;
  log.options.segment_bytes = std::uint64_t{8} << 20U;
  log.write(10'000, 300);
  // A row of one repeated letter, and a row that resembles a record's head and end as far as
  // possible.
  const std::array<unsigned char, 16> heads{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  const auto letter = GENERATE(true, false);
  std::vector<std::byte> rows(log.options.segment_bytes - (raw(log.end) - raw(log.first)));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = letter ? std::byte{'n'} : std::byte{heads[(raw(log.end) + i) % heads.size()]};
  log.overwrite(raw(log.end), rows);
  const auto began = std::chrono::steady_clock::now();
  const auto opened = Log::open(log.disk, log.options, log.first).value();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{10});
  CHECK(opened->begin() == log.end);
}

TEST_CASE("damage to what was durable is refused, with the place", "[log][crash]") {
  ClosedLog log;
  for (int run = 0; run < 4; ++run) log.write(30'000, 300);
  Random random{9};
  // Records of the last run are the log's tail; all before was durable.
  const std::uint64_t proven = raw(log.written[log.written.size() / 2].lsn);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t at = raw(log.first) + random() % (proven - raw(log.first));
    const std::byte was = log.disk.contents(log.file_of(at))[log.offset_of(at)];
    const std::byte other = was ^ std::byte{0x10};
    log.overwrite(at, {&other, 1});
    const auto refused = Log::open(log.disk, log.options, log.first);
    REQUIRE_FALSE(refused);
    REQUIRE(refused.error().state() == sqlstate::data_corrupted);
    REQUIRE_THAT(refused.error().message(), Catch::Contains(std::to_string(log.record_at(at))));
    log.overwrite(at, {&was, 1});
  }
  REQUIRE(Log::open(log.disk, log.options, log.first));
}

TEST_CASE("missing, zeroed, foreign and strange segments are refused by name", "[log][crash]") {
  ClosedLog log;
  for (int run = 0; run < 6; ++run) log.write(40'000, 300);
  const auto second = kLogHome / segment_name(2);
  const auto refusal = [&] {
    const auto opened = Log::open(log.disk, log.options, log.first);
    REQUIRE_FALSE(opened);
    CAPTURE(opened.error().message());
    // A record that crosses into the segment begins in the one before.
    REQUIRE_THAT(opened.error().message(),
                 Catch::Contains(segment_name(2)) ||
                     Catch::Contains(std::to_string(log.record_at(2 * log.options.segment_bytes))));
    return opened.error().state();
  };
  const auto original = log.disk.contents(second);
  const auto restore = [&] {
    auto file = log.disk.open(second, OpenMode::open_or_create, {}).value();
    REQUIRE(file->write_at(0, original));
  };

  SECTION("missing") {
    REQUIRE(log.disk.remove(second));
    REQUIRE(refusal() == sqlstate::undefined_file);
    restore();
  }
  SECTION("zeroed") {
    log.disk.corrupt(second, 0, std::vector<std::byte>(original.size()));
    REQUIRE(refusal() == sqlstate::data_corrupted);
    restore();
  }
  SECTION("zeroed behind its header") {
    log.disk.corrupt(second, 4096, std::vector<std::byte>(original.size() - 4096));
    REQUIRE(refusal() == sqlstate::data_corrupted);
    restore();
  }
  SECTION("cut within its header") {
    REQUIRE(log.disk.open(second, OpenMode::read_write, {}).value()->truncate(100));
    REQUIRE(refusal() == sqlstate::data_corrupted);
    restore();
  }
  SECTION("another segment's content") {
    log.disk.corrupt(second, 0, log.disk.contents(kLogHome / segment_name(1)));
    REQUIRE(refusal() == sqlstate::data_corrupted);
    restore();
  }
  SECTION("another database's segment") {
    std::array<std::byte, kSegmentHeaderBytes> header{};
    encode_segment_header({log.options.segment_bytes, 2, kDatabase + 1}, header);
    log.disk.corrupt(second, 0, header);
    REQUIRE(refusal() == sqlstate::data_corrupted);
    restore();
  }
  SECTION("another format version") {
    const std::uint32_t version = 99;
    log.disk.corrupt(second, 8, std::as_bytes(std::span{&version, 1}));
    REQUIRE(refusal() == sqlstate::feature_not_supported);
    restore();
  }
  auto opened = Log::open(log.disk, log.options, log.first).value();
  REQUIRE(same(read_forward(opened->reader(), log.first), log.written));
}

TEST_CASE("every bit of a segment header is checked", "[log]") {
  std::array<std::byte, kSegmentHeaderBytes> block{};
  const SegmentHeader header{65536, 7, kDatabase};
  encode_segment_header(header, block);
  REQUIRE(decode_segment_header(block, "x").value() == header);
  for (std::size_t bit = 0; bit < 56 * 8; ++bit) {
    block[bit / 8] ^= std::byte{1} << (bit % 8);
    REQUIRE_FALSE(decode_segment_header(block, "x"));
    block[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}
