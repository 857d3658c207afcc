#include "base/encodings/encoding_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "base/encodings/character_form.h"
#include "base/encodings/code_keys.h"
#include "base/random.h"
#include "base/utf8.h"

namespace swizzle {
namespace {

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// FNV-1a.
class Digest {
 public:
  void add(std::string_view text) noexcept {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 1469598103934665603U;
};

const EncodingTable& table_of(Encoding encoding) {
  const auto table = EncodingTable::of(encoding);
  REQUIRE(table);
  REQUIRE(*table != nullptr);
  return **table;
}
const EncodingTable& table_of(std::string_view name) {
  return table_of(find_encoding(name).value());
}

std::string bytes_of(std::uint32_t code, std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i)
    bytes += static_cast<char>(code >> (8U * (length - 1 - i)) & 0xffU);
  return bytes;
}

/// Calls `visit(character)` for the bytes of every character beyond ASCII that has code points.
template <class Visit>
void for_each_character(const EncodingTable& table, const Visit& visit) {
  const auto look = [&](std::uint32_t code, std::size_t length) {
    std::string decoded;
    const std::string character = bytes_of(code, length);
    if (table.decode(character, decoded)) visit(character, decoded);
  };
  for_each_code(table.encoding(), look);
  if (table.encoding() != Encoding::gb18030) return;
  for (std::uint32_t number = 0; number < kFourByteCodes; ++number) look(four_byte_code(number), 4);
}

template <class Visit>
void for_each_code_point(const Visit& visit) {
  for (std::uint32_t point = 0x80; point <= 0x2ffff; ++point) {
    const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
    const bool is_asked = point < 0x10000 || point >= 0x1f000;
    if (is_asked && !is_surrogate) visit(point);
  }
}

/// Numbers of characters and digests of PostgreSQL 18.6's tables. Of EUC_TW without the 4,197
/// characters of a plane that PostgreSQL writes and does not read.
struct Expected {
  std::string_view encoding;
  std::size_t characters;
  std::uint64_t decoded;
  std::size_t code_points;
  std::uint64_t encoded;
};
constexpr Expected kPostgres[] = {
    {"EUC_JP", 13197, 0x52ceb9ffc9badcb2, 13175, 0xd5f5034dc54b45ec},
    {"EUC_CN", 7445, 0xd239acef4efc8bc3, 7445, 0x336c849fb248c349},
    {"EUC_KR", 8227, 0x159bd5505c1eedb5, 8227, 0x1d369959f5c20f73},
    {"EUC_TW", 19378, 0x00fc241cebc0e45f, 13514, 0x95874d739b059882},
    {"EUC_JIS_2004", 11296, 0x3b5fc1315df0afdc, 11303, 0x5764da3a29ba6a2a},
    {"LATIN1", 128, 0x641146e61ed85e1f, 128, 0xec1349f6f0fc2683},
    {"LATIN2", 128, 0xbfb8f511b73b34c2, 128, 0x0c7d432f0da7dd6a},
    {"LATIN3", 121, 0xfc8225c249bd99db, 121, 0xcf8b53591c959ac1},
    {"LATIN4", 128, 0xf88f00fcabaa4933, 128, 0x6af859211481b4d8},
    {"LATIN5", 128, 0xf1477c8aae4c9d5b, 128, 0xabb0656ecacc46ac},
    {"LATIN6", 128, 0x032365478b82e060, 128, 0xedc86b3e6c248ea2},
    {"LATIN7", 128, 0x379feb1b9447a3ec, 128, 0x488f8dfe21ab4fbc},
    {"LATIN8", 128, 0x6db9e70c00882d66, 128, 0x2b5ecd713c4cb612},
    {"LATIN9", 128, 0xc53c22389cdc2a02, 128, 0xf6c58895de05273f},
    {"LATIN10", 128, 0xd936cc2bd924e97e, 128, 0x759b923c0decbfe4},
    {"WIN1256", 128, 0xd18010004f2695f9, 128, 0x8c67262ef7343445},
    {"WIN1258", 119, 0x06e0c89ea055c8eb, 119, 0x5870f8832d14a877},
    {"WIN866", 128, 0x5dd12c0d957d8ac3, 128, 0x86ec717357f1c654},
    {"WIN874", 97, 0xf02b4783d8339a3c, 97, 0x177eb5c0e814648a},
    {"KOI8R", 128, 0xb7caea63bdf18fe0, 128, 0x7f8fa79edea36feb},
    {"WIN1251", 127, 0xb463ad67ba33338a, 127, 0x2fecde34236fd125},
    {"WIN1252", 123, 0xe9e3d2d22d0e3edb, 123, 0x2c30a4591d2f1a73},
    {"ISO_8859_5", 128, 0xc11351645d9d5ed4, 128, 0xee3745df21c082b9},
    {"ISO_8859_6", 83, 0xf96736dfa499bfaf, 83, 0x82c9640eed2d5e5f},
    {"ISO_8859_7", 125, 0xe0c7d18ddffe8f9d, 125, 0xde8790056c3af81a},
    {"ISO_8859_8", 92, 0xf07a89abe2b45cd2, 92, 0x8edca00cbc63fce2},
    {"WIN1250", 123, 0x8a5885a6eaf61d9b, 123, 0x076d36325b9a563d},
    {"WIN1253", 111, 0x1ef34ed95ec1d9f4, 111, 0xefb6db1331adddf1},
    {"WIN1254", 121, 0x1301dba480effe5f, 121, 0x49ba2b4d932c4dc6},
    {"WIN1255", 105, 0xc8986f0b74714725, 105, 0x74e5311a1e42d9db},
    {"WIN1257", 116, 0x539e56a9210e1867, 116, 0x13e7b4c4678b8fe5},
    {"KOI8U", 128, 0x2acaa33c58e5f6f5, 128, 0xd26a83a522fca7c5},
    {"SJIS", 7787, 0x36ac4048de83cf45, 7397, 0x2ad87b926a60d2c7},
    {"BIG5", 13717, 0x3b51b7caf539b57d, 13711, 0x2cc38707d0c483fe},
    {"GBK", 21791, 0xdcc7370d2c3cb358, 21792, 0x49caeb5e2caee92b},
    {"UHC", 17237, 0x1c35a3ec8dcffe42, 17237, 0x9d6cc11a1d83ee6f},
    {"GB18030", 63360, 0x8f143767b5b0121b, 132992, 0xd74a72d785dc2925},
    {"JOHAB", 8169, 0x3c25cf14ba1d0988, 17049, 0x1336194d50df1810},
    {"SHIFT_JIS_2004", 11296, 0xb586717786366b18, 11271, 0x55f709fcf46d42f3},
};

std::string failure(const Result<>& result) {
  return result ? ""
                : fmt::format("{} {}", result.error().state().code(), result.error().message());
}

std::string decoded(std::string_view encoding, std::string_view text) {
  std::string out;
  const auto result = table_of(encoding).decode(text, out);
  return result ? out : failure(result);
}

}  // namespace

TEST_CASE("an encoding's characters are PostgreSQL's, all of them", "[encodings]") {
  for (const Expected& expected : kPostgres) {
    INFO(expected.encoding);
    const EncodingTable& table = table_of(expected.encoding);
    CHECK(encoding_name(table.encoding()) == expected.encoding);
    Digest decoded;
    std::size_t characters = 0;
    for_each_character(table, [&](const std::string& character, const std::string& text) {
      decoded.add(fmt::format("{} {}\n", hex_of(character), hex_of(text)));
      ++characters;
    });
    CHECK(characters == expected.characters);
    CHECK(decoded.value() == expected.decoded);
    Digest encoded;
    std::size_t code_points = 0;
    for_each_code_point([&](std::uint32_t point) {
      std::string text;
      std::string code;
      append_character(text, point);
      if (!table.encode(text, code)) return;
      encoded.add(fmt::format("{:x} {}\n", point, hex_of(code)));
      ++code_points;
    });
    CHECK(code_points == expected.code_points);
    CHECK(encoded.value() == expected.encoded);
  }
}

TEST_CASE("a text of all characters of an encoding is cut anywhere and put together",
          "[encodings]") {
  for (const Expected& expected : kPostgres) {
    const EncodingTable& table = table_of(expected.encoding);
    std::string text;
    std::string wanted;
    for_each_character(table, [&](const std::string& character, const std::string& decoded) {
      text += character + "a\\";
      wanted += decoded + "a\\";
    });
    Random random{expected.decoded};
    std::string cut;
    std::string got;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random.below(9), text.size() - at);
      cut += std::string_view{text}.substr(at, size);
      at += size;
      const std::size_t whole = table.whole_characters(cut);
      REQUIRE(cut.size() - whole < 4);
      REQUIRE(table.decode(std::string_view{cut}.substr(0, whole), got));
      cut.erase(0, whole);
    }
    INFO(expected.encoding);
    CHECK(cut.empty());
    CHECK(got == wanted);
  }
}

TEST_CASE("no character grows by more than what is counted for a text", "[encodings]") {
  for (const Expected& expected : kPostgres) {
    INFO(expected.encoding);
    const EncodingTable& table = table_of(expected.encoding);
    std::size_t grown = 0;
    for_each_character(table, [&](const std::string& character, const std::string& decoded) {
      if (decoded.size() > EncodingTable::kMostDecodedGrowth * character.size()) ++grown;
    });
    for_each_code_point([&](std::uint32_t point) {
      std::string text;
      std::string encoded;
      append_character(text, point);
      if (!table.encode(text, encoded)) return;
      if (encoded.size() > EncodingTable::kMostEncodedGrowth * text.size()) ++grown;
    });
    CHECK(grown == 0);
  }
}

TEST_CASE("random bytes are refused or are characters", "[encodings]") {
  for (const Expected& expected : kPostgres) {
    const EncodingTable& table = table_of(expected.encoding);
    Random random{expected.decoded};
    for (int round = 0; round < 2000; ++round) {
      std::string text(1 + random.below(12), '\0');
      for (char& c : text) c = static_cast<char>(random.below(256));
      std::string out;
      const auto result = table.decode(text, out);
      INFO(expected.encoding << ' ' << hex_of(text));
      CHECK(valid_utf8(out) == out.size());
      if (!result) {
        const std::string state{result.error().state().code()};
        CHECK((state == "22021" || state == "22P05"));
      }
      CHECK(table.whole_characters(text) <= text.size());
      if (result) CHECK(table.whole_characters(text) == text.size());
      const auto counted = table.count(text);
      if (result) CHECK(counted);
      if (!counted) CHECK(counted.error().state().code() == "22021");
    }
  }
}

TEST_CASE("what cannot be converted is said with PostgreSQL's words", "[encodings]") {
  CHECK(decoded("EUC_JP", "a\xa1") == "22021 invalid byte sequence for encoding \"EUC_JP\": 0xa1");
  CHECK(decoded("EUC_CN", "\x8e\xa1\xa1") ==
        "22021 invalid byte sequence for encoding \"EUC_CN\": 0x8e 0xa1 0xa1");
  CHECK(decoded("SJIS", std::string_view{"\x81\0", 2}) ==
        "22021 invalid byte sequence for encoding \"SJIS\": 0x81 0x00");
  CHECK(decoded("LATIN1", std::string_view{"a\0", 2}) ==
        "22021 invalid byte sequence for encoding \"LATIN1\": 0x00");
  CHECK(decoded("WIN1252", "\x81") ==
        "22P05 character with byte sequence 0x81 in encoding \"WIN1252\" has no equivalent in "
        "encoding \"UTF8\"");
  std::string out;
  CHECK(failure(table_of("LATIN1").encode("a\u20ac", out)) ==
        "22P05 character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent "
        "in encoding \"LATIN1\"");
  CHECK(failure(table_of("KOI8R").transcode("\xb0", table_of("WIN1251"), out)) ==
        "22P05 character with byte sequence 0xb0 in encoding \"KOI8R\" has no equivalent in "
        "encoding \"WIN1251\"");
  out.clear();
  table_of("LATIN1").encode_with_substitutes("\u00e4\u20ac\u00f6", out);
  CHECK(out == "\xe4?\xf6");
  out.clear();
  table_of("EUC_JIS_2004").encode_with_substitutes("a\xe2\x82", out);
  CHECK(out == "a?");
}

TEST_CASE("encodings without a table of their own", "[encodings]") {
  CHECK(EncodingTable::of(Encoding::utf8).value() == nullptr);
  CHECK(EncodingTable::of(Encoding::sql_ascii).value() == nullptr);
  CHECK_FALSE(EncodingTable::is_convertible(Encoding::mule_internal));
}

TEST_CASE("encodings are found by their names", "[encodings]") {
  CHECK(find_encoding("iso-8859-15") == Encoding::latin9);
  CHECK(find_encoding("Shift_JIS") == Encoding::sjis);
  CHECK(find_encoding("Windows-1252") == Encoding::win1252);
  CHECK(find_encoding("unicode") == Encoding::utf8);
  CHECK_FALSE(find_encoding(""));
  CHECK_FALSE(find_encoding("latin11"));
  CHECK_FALSE(find_encoding(std::string(100, 'a')));
  CHECK_FALSE(find_encoding(std::int64_t{-1}));
  CHECK_FALSE(find_encoding(std::int64_t{42}));
}

}  // namespace swizzle
