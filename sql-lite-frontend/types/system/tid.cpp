#include <charconv>
#include <utility>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

constexpr TypeCodec kTidCodec{
    [](FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
      const std::string_view body = trim_space(text);
      const std::size_t comma = body.find(',');
      if (!body.starts_with('(') || !body.ends_with(')') || comma == std::string_view::npos)
        throw_invalid_syntax(type, text);
      std::int64_t block = 0;
      std::uint16_t offset = 0;
      const char* end = body.data() + body.size() - 1;
      const char* middle = body.data() + comma;
      const auto first = std::from_chars(body.data() + 1, middle, block);
      const auto second = std::from_chars(middle + 1, end, offset);
      if (first.ptr != middle || second.ptr != end || first.ec != std::errc{} ||
          second.ec != std::errc{} ||
          !(std::in_range<std::uint32_t>(block) || std::in_range<std::int32_t>(block)))
        throw_invalid_syntax(type, text);
      return Value::from_int(std::int64_t{static_cast<std::uint32_t>(block)} << 16 | offset);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      out += fmt::format("({},{})", value.as_int8() >> 16, value.as_int8() & 0xffff);
    },
    [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
      BinaryReader reader{bytes};
      const std::int64_t block = reader.take<std::uint32_t>();
      const std::int64_t offset = reader.take<std::uint16_t>();
      reader.finish();
      return Value::from_int(block << 16 | offset);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_big_endian(out, static_cast<std::uint32_t>(value.as_int8() >> 16));
      append_big_endian(out, static_cast<std::uint16_t>(value.as_int8() & 0xffff));
    }};

constinit const Type builtin::tid{.id = TypeId::tid,
                                  .array = TypeId::tid_array,
                                  .name = "tid",
                                  .sql_name = "tid",
                                  .length = 6,
                                  .alignment = 's',
                                  .storage = 'p',
                                  .shape = Shape::int64,
                                  .io = kTidCodec,
                                  .order = kInt64Order};

}  // namespace swizzle::sql
