#include <charconv>

#include "sql-lite-frontend/types/type_codec.h"

/// pg_lsn: a position in the log, written as two hexadecimal halves ("16/B374D848").
namespace swizzle::sql {
namespace {

constexpr std::size_t kMostDigits = 8;

/// Takes a half off the text's front; nothing without one to eight digits.
std::optional<std::uint32_t> take_half(std::string_view& text) {
  std::uint32_t half = 0;
  const char* const limit = text.data() + std::min(text.size(), kMostDigits);
  const auto [end, error] = std::from_chars(text.data(), limit, half, 16);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return half;
}

Value lsn_input(FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
  std::string_view rest = text;
  const auto high = take_half(rest);
  if (!high || !rest.starts_with('/')) throw_invalid_syntax(type, text);
  rest.remove_prefix(1);
  const auto low = take_half(rest);
  if (!low || !rest.empty()) throw_invalid_syntax(type, text);
  return Value::from_int(static_cast<std::int64_t>(std::uint64_t{*high} << 32U | *low));
}

void lsn_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const auto position = static_cast<std::uint64_t>(value.as_int8());
  out += fmt::format("{:X}/{:X}", position >> 32U, position & UINT32_MAX);
}

Value lsn_receive(FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto position = reader.take<std::int64_t>();
  reader.finish();
  return Value::from_int(position);
}

void lsn_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  append_big_endian(out, value.as_int8());
}

}  // namespace

const TypeCodec& lsn_codec() noexcept {
  static constexpr TypeCodec codec{lsn_input, lsn_output, lsn_receive, lsn_send};
  return codec;
}

}  // namespace swizzle::sql
