#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstring>
#include <string_view>

namespace swizzle::sql {

/// Returns the end of the string that begins at `at`. Pre: valid JSON.
inline const char* behind_json_string(const char* at, const char* end) noexcept {
  constexpr std::ptrdiff_t kBlock = 16;
  const __m128i quotes = _mm_set1_epi8('"');
  for (++at; at < end;) {
    if (end - at >= kBlock) {
      __m128i block;
      std::memcpy(&block, at, sizeof block);
      const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, quotes)));
      if (found == 0) {
        at += kBlock;
        continue;
      }
      at += std::countr_zero(found);
    } else if (*at != '"') {
      ++at;
      continue;
    }
    int backslashes = 0;
    for (const char* before = at - 1; *before == '\\'; --before) ++backslashes;
    ++at;
    if (backslashes % 2 == 0) return at;
  }
  return end;
}

/// Returns the end of the value that begins at `at`. Pre: valid JSON without blanks before commas
/// and brackets.
inline const char* behind_json_value(const char* at, const char* end) noexcept {
  if (*at == '"') return behind_json_string(at, end);
  if (*at != '{' && *at != '[') {
    while (at < end && *at != ',' && *at != ']' && *at != '}') ++at;
    return at;
  }
  int depth = 0;
  while (at < end) {
    const char c = *at;
    if (c == '"') {
      at = behind_json_string(at, end);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  return at;
}

/// Iterates over the members or elements of an object or array in jsonb's spelling, which has
/// blanks only after commas and colons.
class JsonbParts {
 public:
  /// Starts at the part that begins at `from`.
  explicit JsonbParts(std::string_view json, std::size_t from = 1) noexcept
      : at_(json.data() + from), end_(json.data() + json.size() - 1), is_object_(json[0] == '{') {}

  // Inlined so that the positions stay in registers.
  [[gnu::always_inline]] bool next() noexcept {
    if (at_ >= end_) return false;
    if (is_object_) {
      const char* const begin = at_;
      at_ = behind_json_string(at_, end_);
      key_ = {begin, static_cast<std::size_t>(at_ - begin)};
      constexpr std::ptrdiff_t kBetween = 2;
      // In a corrupt value, the string may not be a key.
      if (end_ - at_ <= kBetween) return false;
      at_ += kBetween;
    }
    const char* const begin = at_;
    at_ = behind_json_value(at_, end_);
    value_ = {begin, static_cast<std::size_t>(at_ - begin)};
    at_ += 2;
    return true;
  }
  /// Returns the key in quotes.
  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  [[nodiscard]] std::string_view value() const noexcept { return value_; }

 private:
  const char* at_;
  const char* end_;
  bool is_object_;
  std::string_view key_;
  std::string_view value_;
};

}  // namespace swizzle::sql
