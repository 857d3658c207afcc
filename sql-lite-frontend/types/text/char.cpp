#include "sql-lite-frontend/types/text/char.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

unsigned char char_of_text(std::string_view text) noexcept {
  const auto is_octal = [](char letter) { return letter >= '0' && letter <= '7'; };
  if (text.size() == 4 && text[0] == '\\' && std::ranges::all_of(text.substr(1), is_octal)) {
    const int byte = (text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0');
    return static_cast<unsigned char>(byte);
  }
  return text.empty() ? '\0' : static_cast<unsigned char>(text.front());
}

void append_char(unsigned char byte, std::string& out) {
  if (byte >= 0x80) {
    out += fmt::format("\\{:03o}", byte);
  } else if (byte != 0) {
    out.push_back(static_cast<char>(byte));
  }
}

constexpr TypeCodec kCharCodec{[](FunctionContext&, TypeId, std::int32_t, std::string_view text) {
                                 return Value::from_int(char_of_text(text));
                               },
                               [](FunctionContext&, TypeId, const Value& value, std::string& out) {
                                 append_char(static_cast<unsigned char>(value.as_int4()), out);
                               },
                               [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
                                 BinaryReader reader{bytes};
                                 const auto value =
                                     std::to_integer<unsigned char>(reader.take_bytes(1)[0]);
                                 reader.finish();
                                 return Value::from_int(value);
                               },
                               [](FunctionContext&, TypeId, const Value& value, std::string& out) {
                                 out.push_back(static_cast<char>(value.as_int4()));
                               }};

/// The type "char": one byte.
constinit const Type builtin::char_{.id = TypeId::char_,
                                    .array = TypeId::char_array,
                                    .name = "char",
                                    .sql_name = "\"char\"",
                                    .length = 1,
                                    .by_value = true,
                                    .category = 'Z',
                                    .alignment = 'c',
                                    .storage = 'p',
                                    .shape = Shape::char8,
                                    .io = kCharCodec,
                                    .order = kByteOrder};

}  // namespace swizzle::sql
