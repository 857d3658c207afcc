#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace swizzle {

/// Encodings of texts, numbered as in PostgreSQL.
enum class Encoding : std::uint8_t {
  sql_ascii,
  euc_jp,
  euc_cn,
  euc_kr,
  euc_tw,
  euc_jis_2004,
  utf8,
  mule_internal,
  latin1,
  latin2,
  latin3,
  latin4,
  latin5,
  latin6,
  latin7,
  latin8,
  latin9,
  latin10,
  win1256,
  win1258,
  win866,
  win874,
  koi8r,
  win1251,
  win1252,
  iso_8859_5,
  iso_8859_6,
  iso_8859_7,
  iso_8859_8,
  win1250,
  win1253,
  win1254,
  win1255,
  win1257,
  koi8u,
  sjis,
  big5,
  gbk,
  uhc,
  gb18030,
  johab,
  shift_jis_2004,
};
inline constexpr std::size_t kEncodings = 42;

/// Returns PostgreSQL's name: "EUC_JP".
[[nodiscard]] std::string_view encoding_name(Encoding encoding) noexcept;
/// Finds an encoding by its name or one of PostgreSQL's other names for it. Only letters, whose
/// case does not matter, and digits count.
[[nodiscard]] std::optional<Encoding> find_encoding(std::string_view name);
/// Returns the encoding with that number.
[[nodiscard]] std::optional<Encoding> find_encoding(std::int64_t number) noexcept;
/// Returns the size of the longest character.
[[nodiscard]] int max_character_bytes(Encoding encoding) noexcept;

/// Returns the name of the encoding's table in the system's iconv; empty if it is not converted
/// with one.
[[nodiscard]] std::string_view iconv_name(Encoding encoding) noexcept;

}  // namespace swizzle
