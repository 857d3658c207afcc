#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/text/digests.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/writing_share.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Breaks lines after 76 characters, as MIME requires.
std::string encode_base64(Bytes bytes) {
  std::string out;
  std::size_t line = 0;
  out.reserve(bytes.size() / 57 * 77 + 80);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    yield_point(8);
    std::uint32_t word = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j)
      word = word << 8U | (j < have ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      out.push_back(j <= have ? kBase64[word >> (18U - 6U * j) & 63U] : '=');
    line += 4;
    if (line >= 76 && i + 3 < bytes.size()) {
      out.push_back('\n');
      line = 0;
    }
  }
  return out;
}

std::string decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t word = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    yield_point(4);
    if (is_space(c)) continue;
    if (c == '=') {
      if (digits < 2)
        throw SqlError{sqlstate::invalid_parameter_value,
                       "unexpected \"=\" while decoding base64 sequence"};
      ++padding;
      word <<= 6U;
    } else {
      const std::size_t digit = kBase64.find(c);
      if (digit == std::string_view::npos || padding > 0)
        throw_error(sqlstate::invalid_parameter_value,
                    "invalid symbol \"{}\" found while decoding base64 sequence",
                    std::string_view{&c, 1});
      word = word << 6U | static_cast<std::uint32_t>(digit);
    }
    if (++digits < 4) continue;
    for (int i = 0; i < 3 - padding; ++i)
      out.push_back(static_cast<char>(word >> (16U - 8U * static_cast<unsigned>(i)) & 0xffU));
    digits = 0;
    word = 0;
    if (padding > 0) break;
  }
  if (digits != 0)
    throw SqlError{sqlstate::invalid_parameter_value, "invalid base64 end sequence"}.with_hint(
        "Input data is missing padding, is truncated, or is otherwise corrupted.");
  return out;
}

/// Escapes only zero bytes, backslashes and bytes above ASCII.
std::string encode_escape(Bytes bytes) {
  std::string out;
  for (const char c : as_text(bytes)) {
    yield_point(4);
    if (c == '\0' || static_cast<unsigned char>(c) >= 0x80)
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else if (c == '\\')
      out += "\\\\";
    else
      out.push_back(c);
  }
  return out;
}

[[noreturn]] void unknown_encoding(std::string_view name) {
  throw_error(sqlstate::invalid_parameter_value, "unrecognized encoding: \"{}\"", name);
}

Value encode(FunctionContext& context, Arguments a) {
  const std::string_view name = a[1].as_text();
  std::string out;
  if (equals_ignoring_case(name, "hex"))
    append_hex(out, a[0].as_bytes());
  else if (equals_ignoring_case(name, "base64"))
    out = encode_base64(a[0].as_bytes());
  else if (equals_ignoring_case(name, "escape"))
    out = encode_escape(a[0].as_bytes());
  else
    unknown_encoding(name);
  return make_text(context.arena, out);
}

Value decode(FunctionContext& context, Arguments a) {
  const std::string_view name = a[1].as_text();
  std::string out;
  if (equals_ignoring_case(name, "hex"))
    out = parse_hex(a[0].as_text());
  else if (equals_ignoring_case(name, "base64"))
    out = decode_base64(a[0].as_text());
  else if (equals_ignoring_case(name, "escape"))
    out = parse_bytea(a[0].as_text());
  else
    unknown_encoding(name);
  return make_text(context.arena, out);
}

Value md5(FunctionContext& context, Arguments a) {
  std::string out;
  append_hex(out, as_bytes(digest_of(EVP_md5(), a[0].as_bytes())));
  return make_text(context.arena, out);
}
Value sha224(FunctionContext& context, Arguments a) {
  return make_text(context.arena, digest_of(EVP_sha224(), a[0].as_bytes()));
}
Value sha256(FunctionContext& context, Arguments a) {
  return make_text(context.arena, digest_of(EVP_sha256(), a[0].as_bytes()));
}
Value sha384(FunctionContext& context, Arguments a) {
  return make_text(context.arena, digest_of(EVP_sha384(), a[0].as_bytes()));
}
Value sha512(FunctionContext& context, Arguments a) {
  return make_text(context.arena, digest_of(EVP_sha512(), a[0].as_bytes()));
}

[[noreturn]] void index_out_of_range(std::int64_t index, std::size_t size) {
  throw_error(sqlstate::array_subscript_error, "index {} out of valid range, 0..{}", index,
              static_cast<std::int64_t>(size) - 1);
}
Value get_byte(FunctionContext&, Arguments a) {
  const Bytes bytes = a[0].as_bytes();
  const std::int64_t index = a[1].as_int4();
  if (index < 0 || index >= static_cast<std::int64_t>(bytes.size()))
    index_out_of_range(index, bytes.size());
  return Value::from_int(std::to_integer<std::int64_t>(bytes[static_cast<std::size_t>(index)]));
}
Value set_byte(FunctionContext& context, Arguments a) {
  std::string out{a[0].as_text()};
  const std::int64_t index = a[1].as_int4();
  if (index < 0 || index >= static_cast<std::int64_t>(out.size()))
    index_out_of_range(index, out.size());
  out[static_cast<std::size_t>(index)] = static_cast<char>(a[2].as_int4());
  return make_text(context.arena, out);
}

/// Returns the index of the byte that holds a bit; bits count from the lowest of the first byte.
std::size_t byte_of_bit(std::int64_t bit, std::size_t size) {
  if (bit < 0 || bit >= static_cast<std::int64_t>(size) * 8) index_out_of_range(bit, size * 8);
  return static_cast<std::size_t>(bit / 8);
}
Value get_bit(FunctionContext&, Arguments a) {
  const Bytes bytes = a[0].as_bytes();
  const std::int64_t bit = a[1].as_int8();
  const auto byte = std::to_integer<std::int64_t>(bytes[byte_of_bit(bit, bytes.size())]);
  return Value::from_int(byte >> (bit % 8) & 1);
}
Value set_bit(FunctionContext& context, Arguments a) {
  std::string out{a[0].as_text()};
  const std::int64_t bit = a[1].as_int8();
  const std::size_t at = byte_of_bit(bit, out.size());
  if (a[2].as_int4() != 0 && a[2].as_int4() != 1)
    throw SqlError{sqlstate::invalid_parameter_value, "new bit must be 0 or 1"};
  const auto mask = static_cast<unsigned char>(1U << (bit % 8));
  const auto byte = static_cast<unsigned char>(out[at]);
  out[at] = static_cast<char>(a[2].as_int4() == 1 ? byte | mask : byte & ~mask);
  return make_text(context.arena, out);
}
Value bit_count(FunctionContext&, Arguments a) {
  std::int64_t count = 0;
  for (const std::byte byte : a[0].as_bytes())
    count += std::popcount(std::to_integer<unsigned>(byte));
  return Value::from_int(count);
}

/// Returns the value in the protocol's binary format.
Value binary_form(FunctionContext& context, Arguments a) {
  const WritingShare share{context, 2 * bytes_of(a)};
  std::string out;
  send_binary(context, context.call.arguments[0], a[0], out);
  return make_text(context.arena, out);
}

/// Reflected polynomials.
enum class Polynomial : std::uint32_t { ieee = 0xedb88320, castagnoli = 0x82f63b78 };

consteval std::array<std::uint32_t, 256> remainders(Polynomial polynomial) {
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t byte = 0; byte < out.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = rest >> 1U ^ ((rest & 1U) != 0 ? static_cast<std::uint32_t>(polynomial) : 0U);
    out[byte] = rest;
  }
  return out;
}

template <Polynomial polynomial>
Value cyclic_redundancy_check(FunctionContext&, Arguments a) {
  static constexpr auto kRemainders = remainders(polynomial);
  const Bytes bytes = a[0].as_bytes();
  std::uint32_t rest = 0xffffffff;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min<std::size_t>(bytes.size(), at + 4096);
    yield_point(end - at);
    for (; at < end; ++at)
      rest = kRemainders[(rest ^ std::to_integer<std::uint32_t>(bytes[at])) & 0xffU] ^ rest >> 8U;
  }
  return Value::from_int(~rest);
}

Value reverse_bytes(FunctionContext& context, Arguments a) {
  const Bytes bytes = a[0].as_bytes();
  count_bytes(bytes.size());
  std::byte* const out = context.arena.allocate(bytes.size(), 1);
  std::ranges::reverse_copy(bytes, out);
  return Value::from_bytes({out, bytes.size()});
}

constexpr ScalarEntry kEncodingsEntries[] = {
    {"crc32(bytea)", &cyclic_redundancy_check<Polynomial::ieee>},
    {"crc32c(bytea)", &cyclic_redundancy_check<Polynomial::castagnoli>},
    {"reverse(bytea)", &reverse_bytes},
    {"get_bit(bytea,int8)", &get_bit},
    {"set_bit(bytea,int8,int4)", &set_bit},
    {"bit_count(bytea)", &bit_count},
    {"encode(bytea,text)", &encode},
    {"decode(text,text)", &decode},
    {"md5(text)", &md5},
    {"md5(bytea)", &md5},
    {"sha224(bytea)", &sha224},
    {"sha256(bytea)", &sha256},
    {"sha384(bytea)", &sha384},
    {"sha512(bytea)", &sha512},
    {"get_byte(bytea,int4)", &get_byte},
    {"set_byte(bytea,int4,int4)", &set_byte},
    {"json_send(json)", &binary_form},
    {"array_send(anyarray)", &binary_form},
    {"int2send(int2)", &binary_form},
    {"int4send(int4)", &binary_form},
    {"int8send(int8)", &binary_form},
    {"byteasend(bytea)", &binary_form},
    {"textsend(text)", &binary_form},
    {"oidsend(oid)", &binary_form},
    {"namesend(name)", &binary_form},
    {"float4send(float4)", &binary_form},
    {"float8send(float8)", &binary_form},
    {"point_send(point)", &binary_form},
    {"bpcharsend(bpchar)", &binary_form},
    {"varcharsend(varchar)", &binary_form},
    {"charsend(char)", &binary_form},
    {"boolsend(bool)", &binary_form},
    {"tidsend(tid)", &binary_form},
    {"xidsend(xid)", &binary_form},
    {"cidsend(cid)", &binary_form},
    {"xid8send(xid8)", &binary_form},
    {"bit_send(bit)", &binary_form},
    {"varbit_send(varbit)", &binary_form},
    {"numeric_send(numeric)", &binary_form},
    {"date_send(date)", &binary_form},
    {"time_send(time)", &binary_form},
    {"timetz_send(timetz)", &binary_form},
    {"timestamp_send(timestamp)", &binary_form},
    {"timestamptz_send(timestamptz)", &binary_form},
    {"interval_send(interval)", &binary_form},
    {"lseg_send(lseg)", &binary_form},
    {"path_send(path)", &binary_form},
    {"box_send(box)", &binary_form},
    {"poly_send(polygon)", &binary_form},
    {"line_send(line)", &binary_form},
    {"circle_send(circle)", &binary_form},
    {"cash_send(money)", &binary_form},
    {"macaddr_send(macaddr)", &binary_form},
    {"macaddr8_send(macaddr8)", &binary_form},
    {"inet_send(inet)", &binary_form},
    {"cidr_send(cidr)", &binary_form},
    {"xml_send(xml)", &binary_form},
    {"uuid_send(uuid)", &binary_form},
    {"pg_lsn_send(pg_lsn)", &binary_form},
    {"tsvectorsend(tsvector)", &binary_form},
    {"tsquerysend(tsquery)", &binary_form},
    {"jsonb_send(jsonb)", &binary_form},
    {"range_send(anyrange)", &binary_form},
    {"multirange_send(anymultirange)", &binary_form},
};

}  // namespace

std::span<const ScalarEntry> encoding_functions() {
  return kEncodingsEntries;
}

}  // namespace swizzle::sql
