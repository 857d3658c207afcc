#include "base/encodings/encoding_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encodings/character_form.h"
#include "base/encodings/code_keys.h"
#include "base/utf8.h"

namespace swizzle {
namespace {

constexpr SqlState kInvalidSequence{"22021"};
constexpr SqlState kUntranslatable{"22P05"};

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text += fmt::format("{}0x{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
  return text;
}

Error malformed(Encoding encoding, std::string_view rest) {
  return {kInvalidSequence,
          fmt::format("invalid byte sequence for encoding \"{}\": {}", encoding_name(encoding),
                      hex_of(rest.substr(0, announced_length(encoding, rest))))};
}

Error untranslatable(std::string_view character, Encoding from, Encoding to) {
  return {kUntranslatable,
          fmt::format("character with byte sequence {} in encoding \"{}\" has no equivalent in "
                      "encoding \"{}\"",
                      hex_of(character), encoding_name(from), encoding_name(to))};
}

/// Returns the number of ASCII's characters at the front; a zero byte is none.
std::size_t ascii_prefix(std::string_view text) noexcept {
  const auto is_other = [](char c) { return static_cast<signed char>(c) <= 0; };
  return static_cast<std::size_t>(std::ranges::find_if(text, is_other) - text.begin());
}

void append_code(std::uint32_t code, std::string& out) {
  for (unsigned shift = 24; shift > 0; shift -= 8) {
    if (code >> shift != 0) out += static_cast<char>(code >> shift & 0xffU);
  }
  out += static_cast<char>(code & 0xffU);
}

}  // namespace

void PageTable::set(std::uint32_t key, std::uint32_t value) {
  const std::size_t page = key >> 8U;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
  (*pages_[page])[key & 0xffU] = value;
}

std::uint32_t EncodingTable::code_point_of(std::string_view character) const noexcept {
  const std::uint32_t key = key_of(encoding_, code_of(character), character.size());
  const bool is_beyond_table = encoding_ == Encoding::gb18030 && key >= kFirstSupplementaryKey;
  return is_beyond_table ? supplementary_code_point(key) : code_points_.find(key);
}

void EncodingTable::append_code_points(std::uint32_t value, std::string& out) const {
  if ((value & kPair) == 0) return append_character(out, value);
  const Pair& pair = pairs_[value & ~kPair];
  append_character(out, pair.first);
  append_character(out, pair.second);
}

Result<> EncodingTable::decode(std::string_view text, std::string& out) const {
  for (;;) {
    const std::size_t plain = ascii_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return {};
    const std::size_t length = text.front() == '\0' ? 0 : character_length(encoding_, text);
    if (length == 0) return fail(malformed(encoding_, text));
    const std::string_view character = text.substr(0, length);
    const std::uint32_t code_point = code_point_of(character);
    if (code_point == 0) return fail(untranslatable(character, encoding_, Encoding::utf8));
    append_code_points(code_point, out);
    text.remove_prefix(length);
  }
}

Result<> EncodingTable::check(std::string_view text) const {
  const Result<std::size_t> counted = count(text);
  if (!counted) return fail(Error{counted.error().state(), counted.error().message()});
  return {};
}

Result<std::size_t> EncodingTable::count(std::string_view text) const {
  std::size_t characters = 0;
  for (;;) {
    const std::size_t plain = ascii_prefix(text);
    characters += plain;
    text.remove_prefix(plain);
    if (text.empty()) return characters;
    const std::size_t length = text.front() == '\0' ? 0 : character_length(encoding_, text);
    if (length == 0) return fail(malformed(encoding_, text));
    ++characters;
    text.remove_prefix(length);
  }
}

Result<> EncodingTable::transcode(std::string_view text, const EncodingTable& to,
                                  std::string& out) const {
  std::string decoded;
  while (!text.empty()) {
    const std::size_t plain = ascii_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = text.front() == '\0' ? 0 : character_length(encoding_, text);
    if (length == 0) return fail(malformed(encoding_, text));
    const std::string_view character = text.substr(0, length);
    decoded.clear();
    if (!decode(character, decoded) || !to.encode(decoded, out))
      return fail(untranslatable(character, encoding_, to.encoding()));
    text.remove_prefix(length);
  }
  return {};
}

EncodingTable::Encoded EncodingTable::encode_first(std::string_view text) const noexcept {
  // An error's message may quote bytes that are cut within a character.
  const std::size_t length = utf8_length(text.front());
  if (length > text.size()) return {0, text.size()};
  const char32_t first = decode_character(text);
  const std::string_view next = text.substr(length);
  if (!pairs_.empty() && !next.empty() && utf8_length(next.front()) <= next.size()) {
    const char32_t second = decode_character(next);
    const auto found = std::ranges::find_if(
        pairs_, [&](const Pair& pair) { return pair.first == first && pair.second == second; });
    if (found != pairs_.end()) return {found->code, length + utf8_length(next.front())};
  }
  if (encoding_ == Encoding::gb18030 && first >= kFirstSupplementary)
    return {code_of_supplementary(first), length};
  return {codes_.find(first), length};
}

Result<> EncodingTable::encode(std::string_view text, std::string& out) const {
  for (;;) {
    const std::size_t plain = ascii_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return {};
    const Encoded encoded = encode_first(text);
    if (encoded.code == 0) {
      return fail(
          untranslatable(text.substr(0, utf8_length(text.front())), Encoding::utf8, encoding_));
    }
    append_code(encoded.code, out);
    text.remove_prefix(encoded.consumed);
  }
}

void EncodingTable::encode_with_substitutes(std::string_view text, std::string& out) const {
  while (!text.empty()) {
    const std::size_t plain = ascii_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const Encoded encoded = encode_first(text);
    append_code(encoded.code == 0 ? '?' : encoded.code, out);
    text.remove_prefix(encoded.consumed);
  }
}

Result<> EncodingTable::encode_tail(std::string& buffer, std::size_t start) const {
  const std::string_view tail = std::string_view{buffer}.substr(start);
  const std::size_t plain = ascii_prefix(tail);
  if (plain == tail.size()) return {};
  std::string encoded;
  encoded.reserve(kMostEncodedGrowth * (tail.size() - plain));
  RETURN_IF_ERROR(encode(tail.substr(plain), encoded));
  buffer.resize(start + plain);
  buffer += encoded;
  return {};
}

std::size_t EncodingTable::whole_characters(std::string_view piece) const noexcept {
  std::size_t at = 0;
  while (at < piece.size()) {
    const std::size_t length = announced_length(encoding_, piece.substr(at));
    if (length > piece.size() - at) break;
    at += length;
  }
  return at;
}

}  // namespace swizzle
