#include <algorithm>

#include "base/long_work.h"
#include "sql-lite-frontend/types/bytea.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/utf8.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kMaxNameBytes = 63;

Value text_input(FunctionContext& context, TypeId type, std::int32_t typmod,
                 std::string_view text) {
  verify_utf8(text);
  if (type == TypeId::name) return make_text(context.arena, clip_bytes(text, kMaxNameBytes));
  const Value whole = Value::from_text(text);
  if (needs_length_coercion(type, typmod)) {
    const Value fitted = coerce_length(context, type, typmod, whole, Coercion::assignment);
    return fitted.as_text().data() == text.data() ? fitted.copy_to(context.arena) : fitted;
  }
  return whole.copy_to(context.arena);
}

}  // namespace

const TypeCodec& text_codec() noexcept {
  static constexpr TypeCodec codec{
      text_input,
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out += value.as_text();
      },
      [](FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
        return text_input(context, type, typmod, as_text(bytes));
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out += value.as_text();
      }};
  return codec;
}

namespace {

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return -1;
}

bool is_octal(char c, char highest) noexcept {
  return c >= '0' && c <= highest;
}

}  // namespace

std::string parse_hex(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 2);
  int high = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    count_work(2);
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
    count_work(2);
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
    count_work(2);
    out.push_back(kDigits[std::to_integer<std::size_t>(byte >> 4)]);
    out.push_back(kDigits[std::to_integer<std::size_t>(byte & std::byte{15})]);
  }
}

void append_bytea_escaped(std::string& out, Bytes bytes) {
  for (const char c : as_text(bytes)) {
    count_work(2);
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\')
      out += "\\\\";
    else if (byte < 0x20 || byte > 0x7e)
      out += fmt::format("\\{:03o}", byte);
    else
      out.push_back(c);
  }
}

const TypeCodec& bytea_codec() noexcept {
  static constexpr TypeCodec codec{
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
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out += value.as_text();
      }};
  return codec;
}

namespace {

Value input_uuid(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  std::string_view rest = text;
  const bool braces = rest.starts_with('{');
  if (braces) rest.remove_prefix(1);
  std::byte* out = context.arena.allocate(16, 1);
  for (std::size_t i = 0; i < 16; ++i) {
    if (rest.size() < 2) throw_invalid_syntax(type, text);
    const int high = hex_digit(rest[0]);
    const int low = hex_digit(rest[1]);
    if (high < 0 || low < 0) throw_invalid_syntax(type, text);
    out[i] = static_cast<std::byte>(high * 16 + low);
    rest.remove_prefix(2);
    // A hyphen may stand behind every fourth digit.
    if (rest.starts_with('-') && i % 2 == 1 && i < 15) rest.remove_prefix(1);
  }
  if (braces) {
    if (!rest.starts_with('}')) throw_invalid_syntax(type, text);
    rest.remove_prefix(1);
  }
  if (!rest.empty()) throw_invalid_syntax(type, text);
  return Value::from_bytes({out, 16});
}

}  // namespace

const TypeCodec& uuid_codec() noexcept {
  static constexpr TypeCodec codec{
      input_uuid,
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        const Bytes bytes = value.as_bytes();
        std::size_t at = 0;
        for (const std::size_t group : {4U, 2U, 2U, 2U, 6U}) {
          if (at > 0) out.push_back('-');
          append_hex(out, bytes.subspan(at, group));
          at += group;
        }
      },
      [](FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
        BinaryReader reader{bytes};
        const Bytes uuid = reader.take_bytes(16);
        reader.finish();
        return make_bytes(context.arena, uuid);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out += value.as_text();
      }};
  return codec;
}

const TypeCodec& numeric_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext& context, TypeId, std::int32_t typmod, std::string_view text) {
        return numeric_apply_typmod(context.arena, numeric_from_text(context.arena, text), typmod);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        append_numeric(out, value);
      },
      [](FunctionContext& context, TypeId, std::int32_t typmod, Bytes bytes) {
        return numeric_apply_typmod(context.arena, numeric_receive(context.arena, bytes), typmod);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        numeric_send(value, out);
      }};
  return codec;
}

const TypeCodec& void_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId, std::int32_t, std::string_view) { return Value::from_int(0); },
      [](FunctionContext&, TypeId, const Value&, std::string&) {},
      [](FunctionContext&, TypeId, std::int32_t, Bytes) { return Value::from_int(0); },
      [](FunctionContext&, TypeId, const Value&, std::string&) {}};
  return codec;
}

}  // namespace swizzle::sql
