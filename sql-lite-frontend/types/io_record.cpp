#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record.h"
#include "sql-lite-frontend/types/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

void append_field(std::string& out, std::string_view text) {
  const bool quoted =
      text.empty() || std::ranges::any_of(text, [](char c) {
        return c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || is_space(c);
      });
  if (!quoted) {
    out += text;
    return;
  }
  // Rows in rows double their quotes at each level.
  const auto doubled = std::ranges::count_if(text, [](char c) { return c == '"' || c == '\\'; });
  const std::size_t more = text.size() + static_cast<std::size_t>(doubled) + 2;
  if (out.size() + more > kMaxFieldBytes) {
    throw SqlError{sqlstate::program_limit_exceeded, "out of memory"}.with_detail(fmt::format(
        "Cannot enlarge string buffer containing {} bytes by {} more bytes.", out.size(), more));
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back(c);
    out.push_back(c);
  }
  out.push_back('"');
}

void record_output(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const RecordView view{value};
  out.push_back('(');
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) out.push_back(',');
    const Value field = view.field(i);
    if (!field.is_null()) append_field(out, to_text(context, view.type(i), field));
  }
  out.push_back(')');
}

void record_send(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const RecordView view{value};
  append_big_endian(out, static_cast<std::int32_t>(view.size()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    append_big_endian(out, raw(view.told_type(i)));
    const std::size_t length_at = out.size();
    append_big_endian(out, std::int32_t{-1});
    const Value field = view.field(i);
    if (field.is_null()) continue;
    send_binary(context, view.type(i), field, out);
    const auto length = std::byteswap(static_cast<std::uint32_t>(out.size() - length_at - 4));
    std::memcpy(out.data() + length_at, &length, 4);
  }
}

[[noreturn]] void refuse() {
  throw SqlError{sqlstate::feature_not_supported,
                 "input of anonymous composite types is not implemented"};
}

}  // namespace

const TypeCodec& record_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId, std::int32_t, std::string_view) -> Value { refuse(); },
      record_output, [](FunctionContext&, TypeId, std::int32_t, Bytes) -> Value { refuse(); },
      record_send};
  return codec;
}

}  // namespace swizzle::sql
