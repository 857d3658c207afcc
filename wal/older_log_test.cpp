#include "wal/older_log.h"

#include "base/simulation/simulated_disk.h"
#include "wal/internal/segment.h"
#include "wal/older_segments.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

namespace {

constexpr std::uint64_t kOther = 0x0dd;

/// A closed log in /old, and the directories of others.
struct OldLog {
  explicit OldLog(std::uint64_t seed) {
    for (const char* const name : {"/old", "/new"}) REQUIRE(disk.create_directory(name));
    auto log = Log::create(disk, small_options("/old")).value();
    Random random{seed};
    for (int i = 0; i < 1200; ++i) written.push_back(append_random(*log, random, 400));
    log->flush_to(written.back().end);
    log->close();
    location = find_log(disk, "/old").value();
  }
  [[nodiscard]] SegmentGeometry geometry() const { return SegmentGeometry{location.segment_bytes}; }
  [[nodiscard]] std::uint64_t last_segment() const {
    return geometry().number_of(raw(written.back().end) - 1);
  }
  /// Returns its segments where they are.
  [[nodiscard]] std::shared_ptr<OlderSegments> segments() {
    return OlderSegments::open(disk, "/new",
                               {.database_id = location.database_id,
                                .segment_bytes = location.segment_bytes,
                                .first = geometry().number_of(raw(written.front().lsn)),
                                .end = last_segment() + 1},
                               {.folder = "/old"})
        .value();
  }
  /// Puts its segments beside those of the other log.
  void put_beside() {
    for (std::uint64_t number = 1; number <= last_segment(); ++number) {
      const std::vector<std::byte> bytes = disk.contents("/old/" + segment_name(number));
      const auto copy =
          disk.open("/new/" + older_segment_name(number), OpenMode::create_new, {}).value();
      REQUIRE(copy->write_at(0, bytes));
    }
  }
  /// Returns it as the older one of another log, cut before the record `cut`. One segment lies
  /// between the two.
  [[nodiscard]] OlderLog cut_before(std::size_t cut) const {
    const std::uint64_t last = geometry().number_of(raw(written.back().end));
    return {.database_id = location.database_id,
            .end = written[cut].lsn,
            .resumes_at = Lsn{geometry().first_lsn(last + 2)}};
  }

  SimulatedDisk disk;
  std::vector<Written> written;
  LogLocation location;
};

}  // namespace

TEST_CASE("a log that goes on from an older one has its records, up to their end", "[log]") {
  for (const std::size_t cut : {std::size_t{1}, std::size_t{300}, std::size_t{1199}}) {
    OldLog old(cut);
    SimulatedDisk& disk = old.disk;
    OlderLog older = old.cut_before(cut);
    const bool are_beside = cut == 300;
    if (are_beside)
      old.put_beside();
    else
      older.segments = old.segments();
    LogOptions options = small_options("/new");
    options.database_id = kOther;
    std::vector<std::string> archived;
    options.archive = [&](const std::filesystem::path&, const std::string& name) -> Result<> {
      archived.push_back(name);
      return {};
    };
    REQUIRE(begin_behind(disk, options, older));
    const Lsn resumes_at = older.resumes_at;
    auto log = Log::open(disk, options, resumes_at, nullptr, 1, older).value();
    REQUIRE(log->begin() == resumes_at);
    REQUIRE(log->oldest() <= old.written.front().lsn);
    Random random{cut};
    std::vector<Written> expected(old.written.begin(),
                                  old.written.begin() + static_cast<std::ptrdiff_t>(cut));
    for (int i = 0; i < 300; ++i) expected.push_back(append_random(*log, random, 400));
    log->flush_to(expected.back().end);
    // Both logs are one in both directions.
    Reader reader = log->reader();
    reader.seek(expected.front().lsn);
    for (const Written& each : expected) {
      auto record = reader.next().value();
      while (record && record->header.kind == RecordKind::flush_mark)
        record = reader.next().value();
      REQUIRE(record);
      REQUIRE(record->lsn == each.lsn);
      REQUIRE(as_text(record->payload) == each.payload);
    }
    reader.seek(expected.back().end);
    for (auto each = expected.rbegin(); each != expected.rend(); ++each) {
      auto record = reader.previous().value();
      while (record && record->header.kind == RecordKind::flush_mark)
        record = reader.previous().value();
      REQUIRE(record);
      REQUIRE(record->lsn == each->lsn);
    }
    Reader random_reader = log->reader(ReadPattern::random);
    for (const Written& each : expected)
      REQUIRE(random_reader.read(each.lsn).value().header == each.header);
    for (auto each = expected.rbegin(); each != expected.rend(); ++each)
      REQUIRE(random_reader.read(each->lsn).value().header == each->header);

    // The older segments are not archived again, and go when nobody needs them.
    log->keep_from(resumes_at);
    const auto is_gone = [&] { return log->oldest() >= resumes_at; };
    for (int i = 0; i < 1000 && !is_gone(); ++i)
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
    CHECK(is_gone());
    log->close();
    for (const std::string& name : archived)
      CHECK(*segment_number(name) >= old.geometry().number_of(raw(resumes_at)));
    const std::vector<std::string> left = disk.list("/new").value();
    for (const std::string& name : left) CHECK_FALSE(older_segment_number(name));
  }
}
