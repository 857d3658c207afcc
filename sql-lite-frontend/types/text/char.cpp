#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

constexpr TypeCodec kCharCodec{
    [](FunctionContext&, TypeId, std::int32_t, std::string_view text) {
      return Value::from_int(text.empty() ? 0 : static_cast<unsigned char>(text.front()));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      if (value.as_int4() != 0) out.push_back(static_cast<char>(value.as_int4()));
    },
    [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
      BinaryReader reader{bytes};
      const auto value = std::to_integer<unsigned char>(reader.take_bytes(1)[0]);
      reader.finish();
      return Value::from_int(value);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      out.push_back(static_cast<char>(value.as_int4()));
    }};

/// "char": one byte.
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
