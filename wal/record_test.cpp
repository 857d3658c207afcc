#include "wal/record.h"

#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;

namespace {

constexpr Lsn kAt{std::uint64_t{1} << 40U};

std::vector<std::byte> encoded(const RecordHeader& header, std::string_view payload,
                               Lsn lsn = kAt) {
  EncodedHeader head;
  encode_header(header, head);
  std::vector<std::byte> record(record_bytes(head, payload.size()));
  const Bytes first = as_bytes(payload).first(payload.size() / 3);
  const Bytes second = as_bytes(payload).subspan(payload.size() / 3);
  const std::array parts{first, Bytes{}, second};
  store(record.data(), write_body(record.data(), head, parts, record.size(), lsn, test::kDatabase));
  return record;
}

}  // namespace

TEST_CASE("a record reads back as it was written", "[record]") {
  Random random{1};
  for (int i = 0; i < 20000; ++i) {
    const RecordHeader header = test::random_header(random);
    const std::string payload = test::random_payload(random, 300);
    const auto bytes = encoded(header, payload);
    Record record;
    REQUIRE(decode(bytes, kAt, test::kDatabase, record) == Decoding::record);
    REQUIRE(record.header == header);
    REQUIRE(as_text(record.payload) == payload);
    REQUIRE(raw(record.end) - raw(kAt) == bytes.size());
  }
}

TEST_CASE("a plain update costs little more than its payload", "[record]") {
  const RecordHeader header{.kind = test::kUpdate,
                            .txn = TxnId{4'000'000},
                            .txn_prev = Lsn{std::uint64_t{30} << 30U},
                            .page = PageId{1'000'000},
                            .page_prev = Lsn{std::uint64_t{20} << 30U},
                            .tree = TreeId{17}};
  EncodedHeader head;
  encode_header(header, head);
  REQUIRE(head.size == 28);
  REQUIRE(record_bytes(head, 50) == 80);
  // The same in a log of a petabyte.
  RecordHeader later = header;
  later.txn_prev = later.page_prev = Lsn{std::uint64_t{1} << 50U};
  encode_header(later, head);
  REQUIRE(head.size == 32);
}

TEST_CASE("no changed bit passes", "[record]") {
  Random random{2};
  for (int i = 0; i < 20; ++i) {
    const auto bytes = encoded(test::random_header(random), test::random_payload(random, 100));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto changed = bytes;
      changed[bit / 8] ^= std::byte{1} << (bit % 8);
      Record record;
      REQUIRE(decode(changed, kAt, test::kDatabase, record) != Decoding::record);
    }
  }
}

TEST_CASE("a record passes only at its own LSN and in its own database", "[record]") {
  const auto bytes = encoded({.kind = test::kUpdate, .txn = TxnId{5}}, "hello");
  Record record;
  REQUIRE(decode(bytes, kAt, test::kDatabase, record) == Decoding::record);
  REQUIRE(decode(bytes, Lsn{raw(kAt) + 8}, test::kDatabase, record) == Decoding::wrong_sum);
  REQUIRE(decode(bytes, kAt, test::kDatabase + 1, record) == Decoding::wrong_sum);
}

TEST_CASE("a record that is cut short says how much it needs", "[record]") {
  const auto bytes = encoded({.kind = test::kUpdate}, std::string(100, 'x'));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Record record;
    REQUIRE(decode(Bytes{bytes}.first(size), kAt, test::kDatabase, record) == Decoding::needs_more);
    REQUIRE(raw(record.end) > raw(kAt) + size);
  }
}

TEST_CASE("bytes that are no record are refused without reading past them", "[record]") {
  Random random{3};
  for (int i = 0; i < 20000; ++i) {
    // On the heap and of exact length, so that the sanitizer detects every access beyond it.
    std::vector<std::byte> bytes(random() % 200);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() % (i % 2 == 0 ? 256 : 8));
    Record record;
    REQUIRE(decode(bytes, kAt, test::kDatabase, record) != Decoding::record);
  }
}
