#include "wal/log_rewrite.h"

#include "base/simulation/simulated_disk.h"
#include "wal/internal/segment.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

namespace {

constexpr std::uint64_t kOther = 0x0dd;
constexpr RecordKind kFiller{58};

LogOptions other_options(const std::filesystem::path& directory) {
  LogOptions options = small_options(directory);
  options.database_id = kOther;
  return options;
}

/// Rewrites the records from `from` on, in /old, into /new, and fills up to `to`.
Lsn rewrite(SimulatedDisk& disk, const Log& old, Lsn from, Lsn to) {
  LogRewriter rewriter = LogRewriter::begin(disk, other_options("/new"), from, kFiller).value();
  Reader reader = old.reader();
  reader.seek(from);
  while (const auto record = reader.next().value()) REQUIRE(rewriter.append(*record));
  REQUIRE(rewriter.position() == reader.end());
  REQUIRE(rewriter.fill_to(to));
  REQUIRE(rewriter.finish());
  return rewriter.position();
}

}  // namespace

TEST_CASE("a rewritten log has the same records under another id, and goes on behind a gap",
          "[log]") {
  for (const std::size_t skipped :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{400}}) {
    SimulatedDisk disk;
    REQUIRE(disk.create_directory("/old"));
    REQUIRE(disk.create_directory("/new"));
    auto old = Log::create(disk, small_options("/old")).value();
    Random random{skipped + 1};
    std::vector<Written> written;
    for (int i = 0; i < 600; ++i) written.push_back(append_random(*old, random, 400));
    old->flush_to(written.back().end);
    const SegmentGeometry geometry{small_options("/old").segment_bytes};
    const Lsn boundary{geometry.first_lsn(geometry.number_of(raw(old->durable())) + 2)};
    const Lsn from = written[skipped].lsn;
    const Lsn end = rewrite(disk, *old, from, boundary);
    REQUIRE(end >= boundary);
    REQUIRE(raw(end) < raw(boundary) + 16);

    std::vector<std::string> archived;
    LogOptions options = other_options("/new");
    options.archive = [&](const std::filesystem::path&, const std::string& name) -> Result<> {
      archived.push_back(name);
      return {};
    };
    auto log = Log::open(disk, options, end).value();
    REQUIRE(log->begin() == end);
    REQUIRE(raw(log->oldest()) <= raw(from));
    Reader reader = log->reader(ReadPattern::random);
    for (std::size_t i = skipped; i < written.size(); ++i) {
      const Record record = reader.read(written[i].lsn).value();
      REQUIRE(record.header == written[i].header);
      REQUIRE(as_text(record.payload) == written[i].payload);
      REQUIRE(record.end == written[i].end);
    }
    // Without gaps in both directions, down to the start of the segment.
    reader.seek(end);
    Lsn before = end;
    while (const auto record = reader.previous().value()) {
      REQUIRE(record->end == before);
      before = record->lsn;
    }
    const std::uint64_t start = geometry.first_lsn(geometry.number_of(raw(from)));
    REQUIRE(raw(before) == (raw(from) - start < 16 ? raw(from) : start));

    // The old segments are not archived again.
    const Written more = append_random(*log, random, 100);
    log->flush_to(more.end);
    while (raw(log->durable()) < geometry.first_lsn(geometry.number_of(raw(end)) + 1))
      log->flush_to(append_random(*log, random, 4000).end);
    log->close();
    for (const std::string& name : archived)
      CHECK(*segment_number(name) >= geometry.number_of(raw(end)));
  }
}
