#include "wal/older_log.h"

#include "base/simulation/simulated_disk.h"
#include "wal/internal/segment.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

namespace {

constexpr std::uint64_t kOther = 0x0dd;

/// Counts the appended records that it is shown: the log itself writes flush marks.
class Counter final : public OpeningVisitor {
 public:
  void begin(Lsn from, Lsn /*limit*/) override { CHECK(from != Lsn::none); }
  void visit(const Record& record) override {
    if (record.header.kind != RecordKind::flush_mark) ++count;
  }
  std::size_t count = 0;
};

/// A closed log in /old, and the directories of others.
struct OldLog {
  explicit OldLog(std::uint64_t seed) {
    for (const char* const name : {"/old", "/whole", "/new", "/archive"})
      REQUIRE(disk.create_directory(name));
    auto log = Log::create(disk, small_options("/old")).value();
    Random random{seed};
    for (int i = 0; i < 1200; ++i) written.push_back(append_random(*log, random, 400));
    log->flush_to(written.back().end);
    log->close();
    location = find_log(disk, "/old").value();
  }
  [[nodiscard]] SegmentGeometry geometry() const { return SegmentGeometry{location.segment_bytes}; }
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
    const LogOptions whole = small_options("/whole");
    const KeptLog all{.from = old.written.front().lsn,
                      .whole_before = old.written[400].lsn,
                      .end = old.written.back().end};
    REQUIRE(collect_segments(disk, old.location, all, whole));
    LogLocation collected = old.location;
    collected.directory = "/whole";
    Counter counter;
    const LogExtent extent = read_to_end(collected, old.written.front().lsn, counter).value();
    CHECK(extent.end == old.written.back().end);
    CHECK(counter.count == old.written.size());

    const OlderLog older = old.cut_before(cut);
    LogOptions options = small_options("/new");
    options.database_id = kOther;
    std::vector<std::string> archived;
    options.archive = [&](const std::filesystem::path&, const std::string& name) -> Result<> {
      archived.push_back(name);
      return {};
    };
    REQUIRE(take_over_segments(disk, "/whole", "/new"));
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

TEST_CASE("the archive's segments take precedence over those of a backup", "[log]") {
  OldLog old(7);
  const SegmentGeometry geometry = old.geometry();
  const std::uint64_t last = geometry.number_of(raw(old.written.back().end) - 1);
  const Lsn begin = old.written[300].lsn;
  const std::uint64_t first = geometry.number_of(raw(old.written[50].lsn));
  REQUIRE(first < geometry.number_of(raw(begin)));
  std::vector<std::uint64_t> asked;
  LogOptions whole = small_options("/whole");
  whole.restore = [&](const std::string& name,
                      const std::filesystem::path& target) -> Result<bool> {
    asked.push_back(*segment_number(name));
    if (asked.back() > last || asked.back() == geometry.number_of(raw(begin))) return false;
    if (asked.back() == first) return fail(sqlstate::data_corrupted, "of another log");
    const auto from = old.disk.open("/old/" + name, OpenMode::read_only, {}).value();
    std::vector<std::byte> bytes(from->size().value());
    REQUIRE(from->read_at(0, bytes));
    const auto to = old.disk.open(target, OpenMode::open_or_create, {}).value();
    REQUIRE(to->write_at(0, bytes));
    return true;
  };
  // The backup's log ends earlier, behind the segment that the archive lacks.
  const KeptLog kept{
      .from = old.written[50].lsn, .whole_before = begin, .end = old.written[800].lsn};
  REQUIRE(geometry.number_of(raw(begin)) < geometry.number_of(raw(kept.end)));
  REQUIRE(geometry.number_of(raw(kept.end)) < last);
  REQUIRE(collect_segments(old.disk, old.location, kept, whole));
  CHECK(asked.front() == first);
  CHECK(asked.back() == last + 1);
  LogLocation collected = old.location;
  collected.directory = "/whole";
  Counter counter;
  // The closed log has a flush mark behind its last record.
  CHECK(read_to_end(collected, old.written[50].lsn, counter).value().end >= old.written.back().end);
  CHECK(counter.count == old.written.size() - 50);
  // A segment of another log is refused.
  whole.database_id = kOther;
  const auto refused = fetch_segment(old.disk, whole, last);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().state() == sqlstate::data_corrupted);
}
