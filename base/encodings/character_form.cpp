#include "base/encodings/character_form.h"

#include <algorithm>

namespace swizzle {
namespace {

constexpr unsigned kSingleShift2 = 0x8e;
constexpr unsigned kSingleShift3 = 0x8f;
/// Bytes that PostgreSQL keeps out of the encodings that would take them.
constexpr std::string_view kNeverValid = "\x8d ";

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}
bool is_ascii(unsigned byte) noexcept {
  return byte < 0x80;
}
/// True for a byte of an EUC character beyond ASCII.
bool is_euc(unsigned byte) noexcept {
  return byte >= 0xa1 && byte <= 0xfe;
}
bool is_digit_of_gb18030(unsigned byte) noexcept {
  return byte >= 0x30 && byte <= 0x39;
}
bool is_head_of_gb18030(unsigned byte) noexcept {
  return byte >= 0x81 && byte <= 0xfe;
}
bool is_half_width_kana(unsigned byte) noexcept {
  return byte >= 0xa1 && byte <= 0xdf;
}

/// True if bytes 1 … `length` - 1 are all EUC's.
bool has_euc_tail(std::string_view rest, std::size_t length) noexcept {
  return std::ranges::all_of(rest.substr(1, length - 1),
                             [](char c) { return is_euc(static_cast<unsigned char>(c)); });
}

bool is_valid_euc_jp(std::string_view rest, std::size_t length) noexcept {
  if (byte_at(rest, 0) == kSingleShift2) return is_half_width_kana(byte_at(rest, 1));
  if (byte_at(rest, 0) == kSingleShift3) return has_euc_tail(rest, length);
  return is_euc(byte_at(rest, 0)) && has_euc_tail(rest, length);
}

bool is_valid_euc_tw(std::string_view rest, std::size_t length) noexcept {
  constexpr unsigned kFirstPlane = 0xa1;
  constexpr unsigned kLastPlane = 0xa7;
  if (byte_at(rest, 0) == kSingleShift3) return false;
  if (byte_at(rest, 0) != kSingleShift2) return has_euc_tail(rest, length);
  return byte_at(rest, 1) >= kFirstPlane && byte_at(rest, 1) <= kLastPlane &&
         has_euc_tail(rest, length);
}

bool is_valid_sjis(std::string_view rest, std::size_t length) noexcept {
  if (length == 1) return true;
  const unsigned head = byte_at(rest, 0);
  const unsigned tail = byte_at(rest, 1);
  return ((head >= 0x81 && head <= 0x9f) || (head >= 0xe0 && head <= 0xfc)) &&
         ((tail >= 0x40 && tail <= 0x7e) || (tail >= 0x80 && tail <= 0xfc));
}

bool is_valid_gb18030(std::string_view rest, std::size_t length) noexcept {
  if (!is_head_of_gb18030(byte_at(rest, 0))) return false;
  if (length == 4)
    return is_head_of_gb18030(byte_at(rest, 2)) && is_digit_of_gb18030(byte_at(rest, 3));
  const unsigned tail = byte_at(rest, 1);
  return (tail >= 0x40 && tail <= 0x7e) || (tail >= 0x80 && tail <= 0xfe);
}

}  // namespace

std::size_t announced_length(Encoding encoding, std::string_view rest) noexcept {
  const unsigned head = byte_at(rest, 0);
  if (is_ascii(head)) return 1;
  switch (encoding) {
    case Encoding::euc_jp:
    case Encoding::euc_kr:
    case Encoding::euc_jis_2004:
    case Encoding::johab:
      return head == kSingleShift3 ? 3 : 2;
    case Encoding::euc_cn:
      return head == kSingleShift2 || head == kSingleShift3 ? 3 : 2;
    case Encoding::euc_tw:
      return head == kSingleShift2 ? 4 : head == kSingleShift3 ? 3 : 2;
    case Encoding::sjis:
    case Encoding::shift_jis_2004:
      return is_half_width_kana(head) ? 1 : 2;
    case Encoding::big5:
    case Encoding::gbk:
    case Encoding::uhc:
      return 2;
    case Encoding::gb18030:
      return rest.size() > 1 && is_digit_of_gb18030(byte_at(rest, 1)) ? 4 : 2;
    default:
      return 1;
  }
}

std::size_t character_length(Encoding encoding, std::string_view rest) noexcept {
  const std::size_t length = announced_length(encoding, rest);
  if (rest.size() < length) return 0;
  switch (encoding) {
    case Encoding::euc_jp:
    case Encoding::euc_jis_2004:
      return is_valid_euc_jp(rest, length) ? length : 0;
    case Encoding::euc_kr:
    case Encoding::euc_cn:
      return length == 2 && is_euc(byte_at(rest, 0)) && has_euc_tail(rest, length) ? length : 0;
    case Encoding::johab:
      return has_euc_tail(rest, length) ? length : 0;
    case Encoding::euc_tw:
      return is_valid_euc_tw(rest, length) ? length : 0;
    case Encoding::sjis:
    case Encoding::shift_jis_2004:
      return is_valid_sjis(rest, length) ? length : 0;
    case Encoding::big5:
    case Encoding::gbk:
    case Encoding::uhc:
      return rest[1] != '\0' && !rest.starts_with(kNeverValid) ? length : 0;
    case Encoding::gb18030:
      return is_valid_gb18030(rest, length) ? length : 0;
    default:
      return length;
  }
}

}  // namespace swizzle
