#include "sql-lite-frontend/types/bit/bits.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {

BitView::BitView(const Value& value) {
  const Bytes all = value.as_bytes();
  const std::size_t unused = all.empty() ? 8 : std::to_integer<std::size_t>(all.back());
  if (unused > 7 || (all.size() == 1 && unused != 0))
    throw SqlError{sqlstate::data_corrupted, "a stored bit string is malformed"};
  bytes_ = all.first(all.size() - 1);
  size_ = bytes_.size() * 8 - unused;
}

BitBuilder::BitBuilder(Arena& arena, std::size_t size) : size_{size} {
  if (size > kMostBits)
    throw_error(sqlstate::program_limit_exceeded,
                "bit string length exceeds the maximum allowed ({})", kMostBits);
  const std::size_t bytes = (size + 7) / 8;
  data_ = arena.allocate(bytes + 1, 1);
  std::fill_n(data_, bytes, std::byte{0});
  data_[bytes] = static_cast<std::byte>(bytes * 8 - size);
}

void BitBuilder::set(std::size_t bit, bool value) noexcept {
  const auto mask = static_cast<std::byte>(0x80U >> bit % 8);
  std::byte& byte = data_[bit / 8];
  byte = value ? byte | mask : byte & ~mask;
}

void BitBuilder::copy(std::size_t to, const BitView& view, std::size_t from,
                      std::size_t count) noexcept {
  // Copy whole bytes if both begin at a byte's edge, which is the common case.
  if (to % 8 == 0 && from % 8 == 0) {
    std::copy_n(view.bytes().data() + from / 8, count / 8, data_ + to / 8);
    const std::size_t whole = count / 8 * 8;
    to += whole, from += whole, count -= whole;
  }
  for (std::size_t i = 0; i < count; ++i) set(to + i, view.at(from + i));
}

Value BitBuilder::finish() noexcept {
  const std::size_t bytes = (size_ + 7) / 8;
  if (size_ % 8 != 0) data_[bytes - 1] &= static_cast<std::byte>(0xff00U >> size_ % 8);
  return Value::from_bytes({data_, bytes + 1});
}

namespace {

[[noreturn]] void refuse_digit(std::string_view text, std::size_t at, std::string_view kind) {
  throw_error(sqlstate::invalid_text_representation, "\"{}\" is not a valid {} digit",
              text.substr(at, utf8_length(text[at])), kind);
}

}  // namespace

Value bits_from_text(Arena& arena, std::string_view text) {
  const bool is_binary = text.starts_with('b') || text.starts_with('B');
  const bool is_hexadecimal = text.starts_with('x') || text.starts_with('X');
  if (is_binary || is_hexadecimal) text.remove_prefix(1);
  if (!is_hexadecimal) {
    BitBuilder bits{arena, text.size()};
    for (std::size_t i = 0; i < text.size(); ++i) {
      yield_point(1);
      if (text[i] != '0' && text[i] != '1') refuse_digit(text, i, "binary");
      bits.set(i, text[i] == '1');
    }
    return bits.finish();
  }
  if (text.size() > kMostBits / 4)
    throw_error(sqlstate::program_limit_exceeded,
                "bit string length exceeds the maximum allowed ({})", kMostBits);
  BitBuilder bits{arena, text.size() * 4};
  for (std::size_t i = 0; i < text.size(); ++i) {
    yield_point(4);
    const int digit = hex_digit(text[i]);
    if (digit < 0) refuse_digit(text, i, "hexadecimal");
    for (std::size_t bit = 0; bit < 4; ++bit)
      bits.set(i * 4 + bit, (static_cast<unsigned>(digit) >> (3 - bit) & 1U) != 0);
  }
  return bits.finish();
}

}  // namespace swizzle::sql
