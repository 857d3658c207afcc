#include "base/encodings/encoding.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace swizzle {
namespace {

struct Facts {
  std::string_view name;
  int max_bytes;
  std::string_view iconv;
};

constexpr std::array<Facts, kEncodings> kFacts{{
    {"SQL_ASCII", 1, ""},
    {"EUC_JP", 3, "EUC-JP-MS"},
    {"EUC_CN", 3, "EUC-CN"},
    {"EUC_KR", 3, "EUC-KR"},
    {"EUC_TW", 4, "EUC-TW"},
    {"EUC_JIS_2004", 3, "EUC-JISX0213"},
    {"UTF8", 4, ""},
    {"MULE_INTERNAL", 4, ""},
    {"LATIN1", 1, "ISO-8859-1"},
    {"LATIN2", 1, "ISO-8859-2"},
    {"LATIN3", 1, "ISO-8859-3"},
    {"LATIN4", 1, "ISO-8859-4"},
    {"LATIN5", 1, "ISO-8859-9"},
    {"LATIN6", 1, "ISO-8859-10"},
    {"LATIN7", 1, "ISO-8859-13"},
    {"LATIN8", 1, "ISO-8859-14"},
    {"LATIN9", 1, "ISO-8859-15"},
    {"LATIN10", 1, "ISO-8859-16"},
    {"WIN1256", 1, "CP1256"},
    {"WIN1258", 1, "CP1258"},
    {"WIN866", 1, "CP866"},
    {"WIN874", 1, "CP874"},
    {"KOI8R", 1, "KOI8-R"},
    {"WIN1251", 1, "CP1251"},
    {"WIN1252", 1, "CP1252"},
    {"ISO_8859_5", 1, "ISO-8859-5"},
    {"ISO_8859_6", 1, "ISO-8859-6"},
    {"ISO_8859_7", 1, "ISO-8859-7"},
    {"ISO_8859_8", 1, "ISO-8859-8"},
    {"WIN1250", 1, "CP1250"},
    {"WIN1253", 1, "CP1253"},
    {"WIN1254", 1, "CP1254"},
    {"WIN1255", 1, "CP1255"},
    {"WIN1257", 1, "CP1257"},
    {"KOI8U", 1, "KOI8-U"},
    {"SJIS", 2, "CP932"},
    {"BIG5", 2, "CP950"},
    {"GBK", 2, "CP936"},
    {"UHC", 2, "UHC"},
    {"GB18030", 4, "GB18030"},
    {"JOHAB", 3, "JOHAB"},
    {"SHIFT_JIS_2004", 2, "SHIFT_JISX0213"},
}};

/// Names that are not an encoding's own one. Sorted.
constexpr auto kOtherNames = std::to_array<std::pair<std::string_view, Encoding>>({
    {"abc", Encoding::win1258},         {"alt", Encoding::win866},
    {"iso88591", Encoding::latin1},     {"iso885910", Encoding::latin6},
    {"iso885913", Encoding::latin7},    {"iso885914", Encoding::latin8},
    {"iso885915", Encoding::latin9},    {"iso885916", Encoding::latin10},
    {"iso88592", Encoding::latin2},     {"iso88593", Encoding::latin3},
    {"iso88594", Encoding::latin4},     {"iso88599", Encoding::latin5},
    {"koi8", Encoding::koi8r},          {"mskanji", Encoding::sjis},
    {"shiftjis", Encoding::sjis},       {"tcvn", Encoding::win1258},
    {"tcvn5712", Encoding::win1258},    {"unicode", Encoding::utf8},
    {"vscii", Encoding::win1258},       {"win", Encoding::win1251},
    {"win932", Encoding::sjis},         {"win936", Encoding::gbk},
    {"win949", Encoding::uhc},          {"win950", Encoding::big5},
    {"windows1250", Encoding::win1250}, {"windows1251", Encoding::win1251},
    {"windows1252", Encoding::win1252}, {"windows1253", Encoding::win1253},
    {"windows1254", Encoding::win1254}, {"windows1255", Encoding::win1255},
    {"windows1256", Encoding::win1256}, {"windows1257", Encoding::win1257},
    {"windows1258", Encoding::win1258}, {"windows866", Encoding::win866},
    {"windows874", Encoding::win874},   {"windows932", Encoding::sjis},
    {"windows936", Encoding::gbk},      {"windows949", Encoding::uhc},
    {"windows950", Encoding::big5},
});

/// Returns the letters, in lower case, and the digits of a name.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
  }
  return letters;
}

const Facts& facts_of(Encoding encoding) noexcept {
  return kFacts[static_cast<std::size_t>(encoding)];
}

}  // namespace

std::string_view encoding_name(Encoding encoding) noexcept {
  return facts_of(encoding).name;
}

std::optional<Encoding> find_encoding(std::string_view name) {
  // The longest name has 14 bytes; a client's may have any number.
  constexpr std::size_t kLongest = 63;
  if (name.size() > kLongest) return std::nullopt;
  const std::string letters = letters_of(name);
  for (std::size_t i = 0; i < kEncodings; ++i) {
    if (letters_of(kFacts[i].name) == letters) return static_cast<Encoding>(i);
  }
  const auto found = std::ranges::lower_bound(kOtherNames, letters, {},
                                              &std::pair<std::string_view, Encoding>::first);
  if (found == kOtherNames.end() || found->first != letters) return std::nullopt;
  return found->second;
}

std::optional<Encoding> find_encoding(std::int64_t number) noexcept {
  if (number < 0 || number >= static_cast<std::int64_t>(kEncodings)) return std::nullopt;
  return static_cast<Encoding>(number);
}

int max_character_bytes(Encoding encoding) noexcept {
  return facts_of(encoding).max_bytes;
}

std::string_view iconv_name(Encoding encoding) noexcept {
  return facts_of(encoding).iconv;
}

}  // namespace swizzle
