#include "base/utf8.h"

#include <catch2/catch.hpp>

#include "base/random.h"

using namespace std::string_literals;

namespace swizzle {

TEST_CASE("text is valid UTF-8 without NUL, nothing else", "[base]") {
  for (const char* good : {"", "a", "plain ascii of more than eight bytes", "\x7F", "\xC2\x80",
                           "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "12345678\xE2\x82\xAC"}) {
    CAPTURE(good);
    CHECK(valid_utf8(good) == std::string_view{good}.size());
  }
  for (const char* bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xE2\x82",
        "\xE2\x82\x41", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
    CAPTURE(bad);
    for (const std::size_t before : {0U, 1U, 7U, 8U, 9U, 16U}) {
      const std::string text = std::string(before, 'x') + bad + "12345678";
      CHECK(valid_utf8(text) == before);
    }
  }
  for (const std::size_t before : {0U, 1U, 7U, 8U, 9U})
    CHECK(valid_utf8(std::string(before, 'x') + "\0abcdefgh"s) == before);
}

/// The bytes are valid if and only if decoding and encoding them gives the same bytes.
TEST_CASE("random bytes are valid as far as they can be decoded and encoded again", "[base]") {
  const auto encoded = [](char32_t c) {
    std::string out;
    const auto add = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (c < 0x80) {
      add(c);
    } else if (c < 0x800) {
      add(0xc0U | c >> 6U), add(0x80U | (c & 0x3fU));
    } else if (c < 0x10000) {
      add(0xe0U | c >> 12U), add(0x80U | (c >> 6U & 0x3fU)), add(0x80U | (c & 0x3fU));
    } else {
      add(0xf0U | c >> 18U), add(0x80U | (c >> 12U & 0x3fU));
      add(0x80U | (c >> 6U & 0x3fU)), add(0x80U | (c & 0x3fU));
    }
    return out;
  };
  Random random{25};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    while (text.size() < 20) {
      const auto code =
          static_cast<char32_t>(1 + random.below(random.below(3) == 0 ? 0x110000 - 1 : 0x7f));
      if (code < 0xd800 || code > 0xdfff) text += encoded(code);
    }
    REQUIRE(valid_utf8(text) == text.size());
    // After a change of one byte, text that is still valid must consist of whole characters.
    text[random.below(text.size())] = static_cast<char>(random.below(256));
    const std::size_t valid = valid_utf8(text);
    std::size_t at = 0;
    while (at < valid) {
      const std::size_t length = utf8_length(text[at]);
      REQUIRE(at + length <= valid);
      auto c = static_cast<char32_t>(static_cast<unsigned char>(text[at]));
      if (length > 1) c &= 0x7fU >> length;
      for (std::size_t k = 1; k < length; ++k)
        c = c << 6U | (static_cast<unsigned char>(text[at + k]) & 0x3fU);
      REQUIRE((c > 0 && c < 0x110000 && (c < 0xd800 || c > 0xdfff)));
      REQUIRE(encoded(c) == text.substr(at, length));
      at += length;
    }
  }
}

TEST_CASE("an error names the bytes that PostgreSQL names", "[base]") {
  const auto says = [](std::string_view rest) {
    return invalid_utf8_message(rest).substr(sizeof "invalid byte sequence for encoding \"UTF8\":");
  };
  CHECK(says("\x80"
             "abc") == "0x80");
  CHECK(says("\xff"
             "abc") == "0xff");
  CHECK(says("\xf8"
             "abc") == "0xf8");
  CHECK(says("\xc2"
             "abc") == "0xc2 0x61");
  CHECK(says("\xe2\x82") == "0xe2 0x82");
  CHECK(says("\xe2\x28\xa1z") == "0xe2 0x28 0xa1");
  CHECK(says("\xf4\x90\x80\x80z") == "0xf4 0x90 0x80 0x80");
  CHECK(says("\0abc"s) == "0x00");
}

}  // namespace swizzle
