#include "sql-lite-frontend/types/text/bytea.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return -1;
}

namespace {

bool is_octal(char c, char highest) noexcept {
  return c >= '0' && c <= highest;
}

}  // namespace

std::string parse_hex(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 2);
  int high = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    yield_point(2);
    if (high < 0 && is_space(text[i])) continue;
    const int digit = hex_digit(text[i]);
    if (digit < 0)
      throw_error(sqlstate::invalid_parameter_value, "invalid hexadecimal digit: \"{}\"",
                  text.substr(i, utf8_length(text[i])));
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<char>(high * 16 + digit));
      high = -1;
    }
  }
  if (high >= 0)
    throw SqlError{sqlstate::invalid_parameter_value,
                   "invalid hexadecimal data: odd number of digits"};
  return out;
}

std::string parse_bytea(std::string_view text) {
  if (text.starts_with("\\x")) return parse_hex(text.substr(2));
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    yield_point(2);
    if (text[i] != '\\') {
      out.push_back(text[i++]);
    } else if (i + 3 < text.size() && is_octal(text[i + 1], '3') && is_octal(text[i + 2], '7') &&
               is_octal(text[i + 3], '7')) {
      out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                      (text[i + 3] - '0')));
      i += 4;
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      out.push_back('\\');
      i += 2;
    } else {
      throw SqlError{sqlstate::invalid_text_representation, "invalid input syntax for type bytea"};
    }
  }
  return out;
}

void append_hex(std::string& out, Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    yield_point(2);
    out.push_back(kDigits[std::to_integer<std::size_t>(byte >> 4)]);
    out.push_back(kDigits[std::to_integer<std::size_t>(byte & std::byte{15})]);
  }
}

void append_bytea_escaped(std::string& out, Bytes bytes) {
  for (const char c : as_text(bytes)) {
    yield_point(2);
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\')
      out += "\\\\";
    else if (byte < 0x20 || byte > 0x7e)
      out += fmt::format("\\{:03o}", byte);
    else
      out.push_back(c);
  }
}

constexpr TypeCodec kByteaCodec{
    [](FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
      return make_text(context.arena, parse_bytea(text));
    },
    [](FunctionContext& context, TypeId, const Value& value, std::string& out) {
      if (context.session.format.bytea_output == ByteaOutput::escape)
        return append_bytea_escaped(out, value.as_bytes());
      out += "\\x";
      append_hex(out, value.as_bytes());
    },
    [](FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
      return make_bytes(context.arena, bytes);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) { out += value.as_text(); }};

constinit const Type builtin::bytea{.id = TypeId::bytea,
                                    .array = TypeId::bytea_array,
                                    .name = "bytea",
                                    .sql_name = "bytea",
                                    .in_btree_gist = true,
                                    .shape = Shape::bytes,
                                    .io = kByteaCodec,
                                    .order = kBytesOrder};

}  // namespace swizzle::sql
