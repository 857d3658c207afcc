#include "wal/received_log.h"

#include <fstream>

#include "wal/byte_reader.h"
#include "wal/internal/segment.h"
#include "wal/test_support.h"
#include "wal/timeline.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

namespace {

/// A log that is being written, and a copy of its beginning that receives the rest.
struct Pair {
  PosixFileSystem files;
  TemporaryDirectory from;
  TemporaryDirectory to;
  LogOptions source = small_options(from.path());
  LogOptions copy = small_options(to.path());
  std::unique_ptr<Log> log = Log::create(files, source).value();
  Random random{11};
  std::vector<Written> written;

  Pair() {
    for (const auto& entry : std::filesystem::directory_iterator{from.path()})
      std::filesystem::copy_file(entry.path(), to.path() / entry.path().filename());
  }
  void write(int records) {
    for (int i = 0; i < records; ++i) written.push_back(append_random(*log, random, 3000));
    log->flush_to(log->tail());
  }
  std::unique_ptr<ReceivedLog> open() {
    return ReceivedLog::open(files, copy, log->begin()).value();
  }
  /// Appends [received.end(), up_to).
  void receive(ReceivedLog& received, Lsn up_to) {
    ByteReader reader{*log};
    while (received.end() < up_to) {
      const auto bytes = reader.read(received.end(), up_to);
      REQUIRE(bytes);
      REQUIRE(received.append(*bytes));
    }
  }
};

/// Records the visited LSNs.
struct Seen final : OpeningVisitor {
  void begin(Lsn /*from*/, Lsn /*limit*/) override {}
  void visit(const Record& record) override {
    end = record.end;
    if (record.header.kind != RecordKind::flush_mark)
      payloads.emplace_back(as_text(record.payload));
  }
  Lsn end = Lsn::none;
  std::vector<std::string> payloads;
};

}  // namespace

TEST_CASE("a log is received byte by byte and opens as a log", "[received]") {
  Pair pair;
  pair.write(200);
  auto received = pair.open();
  CHECK(received->end() == pair.log->begin());
  pair.receive(*received, pair.log->durable());
  REQUIRE(received->flush());
  CHECK(received->durable() == pair.log->durable());
  Seen seen;
  const Lsn last = received->read(pair.log->begin(), UINT64_MAX / 2, &seen).value().last;
  // All but the last record, a mark.
  CHECK(seen.end == last);
  CHECK(last < received->durable());
  REQUIRE(seen.payloads.size() == pair.written.size());
  for (std::size_t i = 0; i < seen.payloads.size(); ++i)
    CHECK(seen.payloads[i] == pair.written[i].payload);
  CHECK(received->cut(pair.log->begin()).value() == pair.log->durable());
  received.reset();
  const auto opened = Log::open(pair.files, pair.copy, pair.log->begin()).value();
  CHECK(same(read_forward(opened->reader(), pair.log->begin()), pair.written));
}

TEST_CASE("a received log that ends within a record goes on where the record begins",
          "[received]") {
  Pair pair;
  pair.write(100);
  const Written& torn = pair.written[60];
  {
    auto received = pair.open();
    pair.receive(*received, Lsn{raw(torn.lsn) + 12});
    REQUIRE(received->flush());
  }
  auto received = pair.open();
  CHECK(received->end() == torn.lsn);
  pair.receive(*received, pair.log->durable());
  CHECK(received->cut(pair.log->begin()).value() == pair.log->durable());
}

TEST_CASE("a flush mark behind a hole of a received log is no damage", "[received]") {
  // The writes of a batch reach the disk in any order: a later one may have survived alone.
  Pair pair;
  for (int i = 0; i < 30; ++i) pair.write(3);
  {
    auto received = pair.open();
    pair.receive(*received, pair.log->durable());
    REQUIRE(received->flush());
  }
  const SegmentGeometry geometry{pair.copy.segment_bytes};
  const Written& lost = pair.written[20];
  {
    std::fstream file{pair.to.path() / segment_name(geometry.number_of(raw(lost.lsn))),
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(static_cast<std::streamoff>(geometry.file_offset(raw(lost.lsn))));
    file.write("\0\0\0\0\0\0\0\0", 8);
  }
  auto received = pair.open();
  CHECK(received->end() == lost.lsn);
  pair.receive(*received, pair.log->durable());
  REQUIRE(received->cut(pair.log->begin()));
  received.reset();
  const auto opened = Log::open(pair.files, pair.copy, pair.log->begin()).value();
  CHECK(same(read_forward(opened->reader(), pair.log->begin()), pair.written));
}

TEST_CASE("a received log keeps what is asked for, and belongs to one log", "[received]") {
  Pair pair;
  pair.write(200);
  auto received = pair.open();
  pair.receive(*received, pair.log->durable());
  REQUIRE(received->flush());
  const Lsn kept = pair.written[150].lsn;
  REQUIRE(received->release_before(kept));
  CHECK(!ReceivedLog::open(pair.files, pair.copy, pair.log->begin()));
  CHECK(ReceivedLog::open(pair.files, pair.copy, kept).value()->end() == pair.log->durable());
  pair.copy.database_id ^= 2U;
  const auto foreign = ReceivedLog::open(pair.files, pair.copy, kept);
  REQUIRE(!foreign);
  CHECK(foreign.error().state() == sqlstate::data_corrupted);
}

TEST_CASE("a received log with a gap is refused", "[received]") {
  Pair pair;
  pair.write(400);
  {
    auto received = pair.open();
    pair.receive(*received, pair.log->durable());
    REQUIRE(received->flush());
  }
  const SegmentGeometry geometry{pair.copy.segment_bytes};
  const std::uint64_t last = geometry.number_of(raw(pair.log->durable()));
  const std::uint64_t first = geometry.number_of(raw(pair.log->begin()));
  REQUIRE(last > first + 1);
  std::filesystem::remove(pair.to.path() / segment_name(last - 1));
  const auto refused = ReceivedLog::open(pair.files, pair.copy, pair.log->begin());
  REQUIRE(!refused);
  CHECK(refused.error().state() == sqlstate::undefined_file);
  CHECK_THAT(refused.error().message(), Catch::Contains(segment_name(last - 1) + "\" is missing"));
}

TEST_CASE("segments that nobody keeps are gone for a byte reader", "[received]") {
  Pair pair;
  pair.write(300);
  pair.log->keep_from(pair.log->durable());
  ByteReader reader{*pair.log};
  for (int i = 0; i < 500 && pair.log->oldest() <= pair.log->begin(); ++i)
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
  const auto bytes = reader.read(pair.log->begin(), pair.log->durable());
  REQUIRE(!bytes);
  CHECK(bytes.error().state() == sqlstate::undefined_file);
  CHECK(bytes.error().message() ==
        "requested WAL segment 0000000000000001.log has already been "
        "removed");
}

TEST_CASE("a received log takes from the archive what is whole and of its history", "[received]") {
  Pair pair;
  pair.write(300);
  const SegmentGeometry geometry{pair.copy.segment_bytes};
  const std::uint64_t last = geometry.number_of(raw(pair.log->durable()));
  REQUIRE(last > kFirstSegment + 2);
  std::uint64_t withheld = last;
  const RestoreSegment archive = [&](const std::string& name,
                                     const std::filesystem::path& target) -> Result<bool> {
    if (segment_number(name).value() >= withheld) return false;
    std::filesystem::copy_file(pair.from.path() / name, target,
                               std::filesystem::copy_options::overwrite_existing);
    return true;
  };
  const Lsn begin = pair.log->begin();
  const auto from = [begin] { return begin; };
  const TimelineHistory first;
  SECTION("from within a record on, and from an unfinished segment") {
    {
      auto received = pair.open();
      pair.receive(*received, Lsn{raw(pair.written[10].lsn) + 12});
      REQUIRE(received->restore(archive, first, from).value());
      CHECK(received->end() <= Lsn{geometry.first_lsn(last)});
      CHECK(received->end() > Lsn{geometry.first_lsn(last - 1)});
      CHECK(received->durable() == received->end());
      CHECK_FALSE(received->restore(archive, first, from).value());
      // A copy of the segment that is being written has zeros behind the log's end.
      withheld = last + 1;
      REQUIRE(received->restore(archive, first, from).value());
      CHECK(received->end() == pair.log->durable());
      CHECK_FALSE(std::filesystem::exists(pair.to.path() / "restored.tmp"));
    }
    const auto opened = Log::open(pair.files, pair.copy, begin).value();
    CHECK(same(read_forward(opened->reader(), begin), pair.written));
  }
  SECTION("up to where its timeline was left") {
    const Lsn parted = pair.written[150].lsn;
    auto received = pair.open();
    REQUIRE(received->restore(archive, first.next(parted), from).value());
    CHECK(received->end() == parted);
    CHECK_FALSE(received->restore(archive, first.next(parted), from).value());
  }
  SECTION("no other log's") {
    pair.copy.database_id += 1;
    TemporaryDirectory elsewhere;
    pair.copy.directory = elsewhere.path();
    const auto other = Log::create(pair.files, pair.copy).value();
    other->flush_to(other->tail());
    auto received = ReceivedLog::open(pair.files, pair.copy, other->begin()).value();
    const auto restored = received->restore(archive, first, [&] { return other->begin(); });
    REQUIRE_FALSE(restored);
    CHECK(restored.error().state() == sqlstate::data_corrupted);
    CHECK(received->end() == other->begin());
  }
}
