#include "base/bytes.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "base/checksum.h"
#include "base/common_bytes.h"
#include "base/result.h"

using namespace swizzle;

namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail(sqlstate::invalid_parameter_value, "odd");
  return number / 2;
}

Result<int> quarter_of(int number) {
  ASSIGN_OR_RETURN(const int half, half_of(number));
  return half_of(half);
}

Result<> check_quarter(int number) {
  RETURN_IF_ERROR(quarter_of(number));
  return {};
}

}  // namespace

TEST_CASE("bytes compare as memcmp does, the shorter first", "[bytes]") {
  REQUIRE(compare(as_bytes(""), as_bytes("")) == 0);
  REQUIRE(compare(as_bytes(""), as_bytes("a")) < 0);
  REQUIRE(compare(as_bytes("ab"), as_bytes("a")) > 0);
  REQUIRE(compare(as_bytes("a\xFF"), as_bytes("b")) < 0);
  REQUIRE(compare(as_bytes("\xFF"), as_bytes("\x01")) > 0);
  REQUIRE(compare(Bytes{}, as_bytes("x")) < 0);
}

TEST_CASE("big-endian numbers order as bytes", "[bytes]") {
  std::array<std::byte, 8> small{};
  std::array<std::byte, 8> large{};
  store_big_endian<std::uint64_t>(small.data(), 0x00000000000000FF);
  store_big_endian<std::uint64_t>(large.data(), 0x0000000000000100);
  REQUIRE(compare(small, large) < 0);
  REQUIRE(load_big_endian<std::uint64_t>(large.data()) == 0x100);
  REQUIRE(large[6] == std::byte{1});
  std::array<std::byte, 5> room{};
  store<std::uint32_t>(room.data() + 1, 0x01020304);
  REQUIRE(load<std::uint32_t>(room.data() + 1) == 0x01020304);
}

TEST_CASE("checksums are what earlier versions wrote", "[bytes]") {
  // Recorded values: pages and log records on disk have such checksums.
  REQUIRE(checksum(as_bytes("swizzle"), 0) == 0xAF4D54DEB14C7A6BU);
  REQUIRE(checksum(as_bytes("swizzle"), 7) == 0x6ED976C0D4E61C27U);
  REQUIRE(checksum(as_bytes(""), 0) == 0x2D06800538D394C2U);
}

TEST_CASE("errors travel up with their state", "[result]") {
  REQUIRE(quarter_of(8).value() == 2);
  REQUIRE(quarter_of(6).error().state() == sqlstate::invalid_parameter_value);
  REQUIRE(check_quarter(8));
  REQUIRE(check_quarter(3).error().message() == "odd");
  auto detailed = Error{sqlstate::io_error, "message"}.with_detail("detail").with_hint("hint");
  REQUIRE(detailed.detail() == "detail");
  REQUIRE(detailed.hint() == "hint");
  REQUIRE(detailed.state().code() == "58030");
}

TEST_CASE("common bytes are counted from either end, whatever the lengths", "[bytes]") {
  for (std::size_t a_size = 0; a_size < 28; ++a_size) {
    for (std::size_t b_size = 0; b_size < 28; ++b_size) {
      const std::size_t most = std::min(a_size, b_size);
      for (std::size_t same = 0; same <= most; ++same) {
        std::string a(a_size, 'a');
        std::string b(b_size, 'b');
        std::fill_n(a.begin(), same, 's');
        std::fill_n(b.begin(), same, 's');
        REQUIRE(common_front(as_bytes(a), as_bytes(b)) == same);
        std::reverse(a.begin(), a.end());
        std::reverse(b.begin(), b.end());
        REQUIRE(common_back(as_bytes(a), as_bytes(b)) == same);
      }
    }
  }
}
