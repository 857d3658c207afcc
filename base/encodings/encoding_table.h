#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/encodings/encoding.h"
#include "base/result.h"

namespace swizzle {

/// Sparse map from numbers to numbers other than 0, in pages of 256.
class PageTable {
 public:
  /// Returns 0 for a number without an entry.
  [[nodiscard]] std::uint32_t find(std::uint32_t key) const noexcept {
    const std::size_t page = key >> 8U;
    if (page >= pages_.size() || pages_[page] == nullptr) return 0;
    return (*pages_[page])[key & 0xffU];
  }
  void set(std::uint32_t key, std::uint32_t value);

 private:
  using Page = std::array<std::uint32_t, 256>;
  std::vector<std::unique_ptr<Page>> pages_;
};

/// The characters of an encoding and their code points: converts texts from and to UTF-8 as
/// PostgreSQL does. Made of the system's iconv at the encoding's first use, with the code points
/// changed in which PostgreSQL's tables differ; stays until the process ends. Thread-safe.
class EncodingTable {
 public:
  /// Returns null for UTF8, and for SQL_ASCII, whose texts are passed on as they are. Fails with
  /// 0A000 if the system has no table of the encoding. Takes milliseconds the first time: the
  /// table is made on a helper thread.
  static Result<const EncodingTable*> of(Encoding encoding);
  /// True if texts can be converted between the encoding and UTF-8, as far as PostgreSQL does it.
  static bool is_convertible(Encoding encoding) noexcept;

  /// A text in UTF-8 has at most so many bytes for each of its bytes in the encoding, and the
  /// other way round.
  static constexpr std::size_t kMostDecodedGrowth = 3;
  static constexpr std::size_t kMostEncodedGrowth = 2;

  EncodingTable(const EncodingTable&) = delete;
  EncodingTable& operator=(const EncodingTable&) = delete;
  ~EncodingTable() = default;

  [[nodiscard]] Encoding encoding() const noexcept { return encoding_; }

  /// Appends the text in UTF-8. 22021 for bytes that are no character, 22P05 for a character
  /// without code point; `out` then has the text before it.
  Result<> decode(std::string_view text, std::string& out) const;
  /// Appends a text of UTF-8 in this encoding. 22P05 for a character that it lacks.
  Result<> encode(std::string_view text, std::string& out) const;
  /// The same with a question mark for a character that it lacks.
  void encode_with_substitutes(std::string_view text, std::string& out) const;
  /// 22021 for bytes that are no character of the encoding.
  [[nodiscard]] Result<> check(std::string_view text) const;
  /// Counts the characters. 22021 for bytes that are none.
  [[nodiscard]] Result<std::size_t> count(std::string_view text) const;
  /// Appends a text of this encoding in another one. 22021, or 22P05 for a character that the
  /// other one lacks.
  Result<> transcode(std::string_view text, const EncodingTable& to, std::string& out) const;
  /// Encodes the end of `buffer`, from `start` on, in place.
  Result<> encode_tail(std::string& buffer, std::size_t start) const;
  /// Returns the number of bytes of a stream's piece before a last character that is cut off.
  [[nodiscard]] std::size_t whole_characters(std::string_view piece) const noexcept;

 private:
  /// Two code points that are one character: a letter and a combining mark.
  struct Pair {
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t code;
  };
  struct Encoded {
    std::uint32_t code = 0;    ///< 0: the encoding lacks the character
    std::size_t consumed = 0;  ///< bytes of UTF-8
  };

  explicit EncodingTable(Encoding encoding) noexcept : encoding_(encoding) {}
  static Result<std::unique_ptr<EncodingTable>> make(Encoding encoding);
  void add(std::uint32_t code, std::size_t length, std::uint32_t first, std::uint32_t second);
  void apply_exceptions();

  [[nodiscard]] std::uint32_t code_point_of(std::string_view character) const noexcept;
  void append_code_points(std::uint32_t value, std::string& out) const;
  [[nodiscard]] Encoded encode_first(std::string_view text) const noexcept;

  Encoding encoding_;
  /// By key_of() a code. Values with kPair are indexes into `pairs_`.
  PageTable code_points_;
  PageTable codes_;
  std::vector<Pair> pairs_;
};

}  // namespace swizzle
