#include "wal/older_segments.h"

#include "base/simulation/simulated_disk.h"
#include "wal/internal/segment.h"
#include "wal/older_log.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;
using Catch::Contains;

namespace {

constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} << 10U;

/// Counts the appended records that it is shown: the log itself writes flush marks.
class Counter final : public OpeningVisitor {
 public:
  void begin(Lsn from, Lsn /*limit*/) override { CHECK(from != Lsn::none); }
  void visit(const Record& record) override {
    if (record.header.kind != RecordKind::flush_mark) ++count;
  }
  std::size_t count = 0;
};

/// A closed log, whose segments are its archive.
struct Archive {
  Archive() {
    for (const char* const name : {"/archive", "/new", "/backup"})
      REQUIRE(disk.create_directory(name));
    REQUIRE(disk.sync_directory("/"));
    auto log = Log::create(disk, small_options("/archive")).value();
    Random random{7};
    for (int i = 0; i < 1500; ++i) written.push_back(append_random(*log, random, 400));
    log->flush_to(written.back().end);
    log->close();
    last = raw(written.back().end) / kSegmentBytes;
    REQUIRE(last > 4);
  }
  /// Fetches from the archive, and counts.
  [[nodiscard]] RestoreSegment fetch() {
    return [this](const std::string& name, const std::filesystem::path& to) -> Result<bool> {
      ++fetched;
      if (is_out_of_reach) return fail(sqlstate::io_error, "out of reach");
      const auto from = std::filesystem::path{"/archive"} / name;
      if (!disk.exists(from).value() || *segment_number(name) > last) return false;
      put(to, disk.contents(from));
      return true;
    };
  }
  void put(const std::filesystem::path& path, Bytes bytes) {
    const auto file = disk.open(path, OpenMode::open_or_create, {}).value();
    REQUIRE(file->truncate(0));
    REQUIRE(file->write_at(0, bytes));
  }
  /// Gives the backup the segments up to `end`, of the last one the beginning.
  void back_up_to(Lsn end) {
    for (std::uint64_t number = 1; number * kSegmentBytes < raw(end); ++number) {
      std::vector<std::byte> bytes = disk.contents("/archive/" + segment_name(number));
      const std::uint64_t content = raw(end) - number * kSegmentBytes;
      if (content < kSegmentBytes) bytes.resize(kSegmentHeaderBytes + block_ceiling(content));
      put("/backup/" + segment_name(number), bytes);
    }
  }
  std::shared_ptr<OlderSegments> open(OlderPlaces places, std::uint64_t end = 0) {
    return OlderSegments::open(
               disk, "/new",
               {.database_id = kDatabase, .segment_bytes = kSegmentBytes, .first = 1, .end = end},
               std::move(places))
        .value();
  }
  /// Reads all records by way of the segments.
  std::size_t read(const std::shared_ptr<OlderSegments>& segments) {
    Counter counter;
    const LogLocation location{.files = &disk,
                               .directory = "/new",
                               .segment_bytes = kSegmentBytes,
                               .database_id = 0x0dd,
                               .older = OlderLog{.database_id = kDatabase,
                                                 .end = Lsn::max,
                                                 .resumes_at = Lsn::max,
                                                 .segments = segments}};
    const auto extent = read_to_end(location, written.front().lsn, counter);
    if (!extent) FAIL(extent.error().message());
    CHECK(extent->end >= written.back().end);
    return counter.count;
  }
  [[nodiscard]] std::size_t in_directory() {
    return static_cast<std::size_t>(std::ranges::count_if(
        disk.list("/new").value(),
        [](const std::string& name) { return older_segment_number(name).has_value(); }));
  }
  std::uint64_t find_all(OlderSegments& segments) const {
    std::uint64_t number = 1;
    while (segments.find(number).value()) ++number;
    return number;
  }

  SimulatedDisk disk;
  std::vector<Written> written;
  std::uint64_t last = 0;
  std::uint64_t fetched = 0;
  bool is_out_of_reach = false;
};

}  // namespace

TEST_CASE("segments of a folder are read where they are", "[log]") {
  Archive archive;
  const auto segments = archive.open({.folder = "/archive"});
  CHECK(archive.find_all(*segments) > archive.last);
  CHECK(archive.read(segments) == archive.written.size());
  CHECK(archive.in_directory() == 0);
}

TEST_CASE("a segment is fetched when it is first read, and few are kept", "[log]") {
  Archive archive;
  const std::uint64_t usual = std::exchange(OlderSegments::most_fetched_bytes, 3 * kSegmentBytes);
  const auto segments = archive.open({.fetch = archive.fetch()});
  for (std::uint64_t number = 1; number <= archive.last; ++number) segments->promise(number);
  CHECK(archive.fetched == 0);
  CHECK_FALSE(segments->is_here(1));
  CHECK(archive.read(segments) == archive.written.size());
  CHECK(archive.fetched == archive.last);
  CHECK(archive.in_directory() == 3);
  // A reader of one record fetches no other segment, also close to a segment's end.
  OlderSegments::most_fetched_bytes = usual;
  const auto other = archive.open({.fetch = archive.fetch()}, archive.last + 1);
  CHECK(archive.in_directory() == 0);
  std::size_t readers = 0;
  for (const Written& each : archive.written) {
    if (raw(each.lsn) / kSegmentBytes != 3) continue;
    const std::uint64_t before = archive.fetched;
    const auto fresh = archive.open({.fetch = archive.fetch()}, archive.last + 1);
    Reader reader({.files = &archive.disk,
                   .directory = "/new",
                   .segment_bytes = kSegmentBytes,
                   .database_id = 0x0dd,
                   .older = OlderLog{.database_id = kDatabase,
                                     .end = archive.written.back().end,
                                     .resumes_at = Lsn::max,
                                     .segments = fresh}},
                  archive.written.back().end, ReadPattern::random);
    REQUIRE(reader.read(each.lsn).value().header == each.header);
    const bool crosses = (raw(each.end) - 1) / kSegmentBytes != 3;
    REQUIRE(archive.fetched - before == (crosses ? 2 : 1));
    ++readers;
  }
  CHECK(readers > 100);
}

TEST_CASE("the backup's whole segments are not fetched, and its last one is the archive's",
          "[log]") {
  Archive archive;
  const Lsn end = archive.written[800].end;
  archive.back_up_to(end);
  const std::uint64_t in_part = raw(end) / kSegmentBytes;
  const auto segments =
      archive.open({.fetch = archive.fetch(), .backup = "/backup", .backup_end = end});
  for (std::uint64_t number = 1; number < in_part; ++number) {
    REQUIRE(segments->find(number).value());
    CHECK_FALSE(segments->is_fetched(number));
  }
  CHECK(archive.fetched == 0);
  CHECK(segments->is_fetched(in_part));
  CHECK(archive.find_all(*segments) == archive.last + 1);
  CHECK(archive.read(segments) == archive.written.size());
  // The backup's part of a segment does not count where the log goes on.
  const auto later = archive.open(
      {.fetch = archive.fetch(), .backup = "/backup", .backup_end = end}, archive.last + 1);
  archive.is_out_of_reach = true;
  CHECK_FALSE(later->open_segment(in_part));
  CHECK(later->open_segment(in_part - 1).value() != nullptr);
  // Not even if the archive lacks the segment.
  archive.is_out_of_reach = false;
  REQUIRE(archive.disk.remove("/archive/" + segment_name(in_part)));
  const auto lacking = archive.open(
      {.fetch = archive.fetch(), .backup = "/backup", .backup_end = end}, archive.last + 1);
  const auto missing = lacking->open_segment(in_part);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().state() == sqlstate::undefined_file);
  CHECK(lacking->open_segment(in_part - 1).value() != nullptr);
  // Without an archive it ends with the backup.
  const auto alone = archive.open({.backup = "/backup", .backup_end = end});
  CHECK(archive.find_all(*alone) == in_part + 1);
}

TEST_CASE("a segment that cannot be had is an error as long as that lasts", "[log]") {
  Archive archive;
  const auto segments = archive.open({.fetch = archive.fetch()}, archive.last + 1);
  archive.is_out_of_reach = true;
  const auto refused = segments->open_segment(2);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().state() == sqlstate::io_error);
  CHECK_THAT(refused.error().message(), Contains(segment_name(2)) && Contains("out of reach"));
  archive.is_out_of_reach = false;
  CHECK(segments->open_segment(2).value() != nullptr);
  // Another segment under its name says nothing of the log.
  archive.put("/archive/" + segment_name(3), archive.disk.contents("/archive/" + segment_name(4)));
  const auto wrong = segments->open_segment(3);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().state() == sqlstate::io_error);
  REQUIRE(archive.disk.remove("/archive/" + segment_name(4)));
  const auto missing = segments->open_segment(4);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().state() == sqlstate::undefined_file);
  // A segment behind the log's end is none of its own.
  CHECK(segments->open_segment(archive.last + 1).value() == nullptr);
  CHECK(segments->open_segment(0).value() == nullptr);
}

TEST_CASE("kept segments need no other place, and go when they are not needed", "[log]") {
  Archive archive;
  const Lsn end = archive.written[800].end;
  archive.back_up_to(end);
  {
    const auto segments = archive.open(
        {.fetch = archive.fetch(), .backup = "/backup", .backup_end = end}, archive.last + 1);
    REQUIRE(segments->remove_below(3));
    CHECK(segments->first() == 3);
    REQUIRE(segments->keep_here(3));
    CHECK(archive.in_directory() == archive.last - 2);
  }
  archive.disk.crash(1);
  archive.is_out_of_reach = true;
  const auto segments = archive.open({});
  CHECK(segments->first() == 3);
  CHECK(segments->end() == archive.last + 1);
  for (std::uint64_t number = 3; number <= archive.last; ++number)
    CHECK(segments->open_segment(number).value() != nullptr);
  REQUIRE(segments->remove_below(archive.last + 7));
  CHECK(segments->is_empty());
  CHECK(archive.in_directory() == 0);
}

TEST_CASE("an archive that lacks a segment and has a later one has a gap", "[log]") {
  Archive archive;
  const std::uint64_t gap = archive.last - 2;
  for (const bool is_folder : {true, false}) {
    const auto places =
        is_folder ? OlderPlaces{.folder = "/archive"} : OlderPlaces{.fetch = archive.fetch()};
    if (is_folder) {
      const auto whole = archive.open(places);
      archive.find_all(*whole);
      CHECK_FALSE(whole->find_behind_gap(archive.written.back().end).value());
      REQUIRE(archive.disk.remove("/archive/" + segment_name(gap)));
    }
    const auto segments = archive.open(places);
    CHECK(archive.find_all(*segments) == gap);
    CHECK(segments->find_behind_gap(Lsn{gap * kSegmentBytes - 8}).value() ==
          std::optional{segment_name(gap + 1)});
  }
}
