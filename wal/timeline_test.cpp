#include "wal/timeline.h"

#include "wal/internal/segment.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

TEST_CASE("a history names the older timelines and where they ended", "[timeline]") {
  PosixFileSystem files;
  const TemporaryDirectory directory;
  const TimelineHistory first;
  CHECK(first.timeline() == 1);
  CHECK(first.end_of(1) == Lsn::max);
  CHECK(TimelineHistory::read(files, directory.path(), 1).value().older().empty());
  CHECK(TimelineHistory::newest(files, directory.path()).value() == 1);

  const Lsn at{0x1'2345'6788};
  const Lsn later{0x1'3345'6788};
  const TimelineHistory third = first.next(at).next(later);
  CHECK(third.timeline() == 3);
  REQUIRE(third.write(files, directory.path()));
  CHECK(TimelineHistory::newest(files, directory.path()).value() == 3);
  const TimelineHistory read = TimelineHistory::read(files, directory.path(), 3).value();
  CHECK(read.older() == third.older());
  CHECK(read.end_of(1) == at);
  CHECK(read.end_of(2) == later);
  CHECK(read.end_of(3) == Lsn::max);
  CHECK(!read.end_of(4));
  CHECK(!TimelineHistory::read(files, directory.path(), 2));
}

TEST_CASE("what is no history is refused", "[timeline]") {
  CHECK(TimelineHistory::parse(2, "1\t1/23456788\tno recovery target specified\n\n"));
  CHECK(TimelineHistory::parse(2, "# a comment\n1\t0/8\n"));
  for (const char* text :
       {"", "1\n", "1\t1\n", "2\t0/8\tself\n", "one\t0/8\n", "1\t0/10\n1\t0/20\n"}) {
    CAPTURE(text);
    const auto history = TimelineHistory::parse(2, text);
    REQUIRE(!history);
    CHECK(history.error().state() == sqlstate::data_corrupted);
  }
}

TEST_CASE("a segment says its timeline, and one of before there were timelines the first",
          "[timeline]") {
  std::array<std::byte, kSegmentHeaderBytes> block{};
  encode_segment_header({65536, 7, kDatabase, 3}, block);
  CHECK(decode_segment_header(block, "segment").value().timeline == 3);
  encode_segment_header({65536, 7, kDatabase, 0}, block);
  CHECK(decode_segment_header(block, "segment").value().timeline == 1);

  PosixFileSystem files;
  const TemporaryDirectory directory;
  const auto log = Log::create(files, small_options(directory.path()), Lsn::none, 5).value();
  CHECK(log->timeline() == 5);
}
