#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

bool parse_boolean(std::string_view text) {
  const std::string_view body = trim_space(text);
  if (is_prefix_ignoring_case(body, "true") || is_prefix_ignoring_case(body, "yes") ||
      equals_ignoring_case(body, "on") || body == "1")
    return true;
  if (is_prefix_ignoring_case(body, "false") || is_prefix_ignoring_case(body, "no") ||
      (body.size() >= 2 && is_prefix_ignoring_case(body, "off")) || body == "0")
    return false;
  throw_invalid_syntax(TypeId::bool_, text);
}

constexpr TypeCodec kBooleanCodec{
    [](FunctionContext&, TypeId, std::int32_t, std::string_view text) {
      return Value::from_bool(parse_boolean(text));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      out.push_back(value.as_bool() ? 't' : 'f');
    },
    [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
      BinaryReader reader{bytes};
      const bool value = reader.take_bytes(1)[0] != std::byte{0};
      reader.finish();
      return Value::from_bool(value);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      out.push_back(value.as_bool() ? '\1' : '\0');
    }};

constinit const Type builtin::bool_{.id = TypeId::bool_,
                                    .array = TypeId::bool_array,
                                    .name = "bool",
                                    .sql_name = "boolean",
                                    .length = 1,
                                    .by_value = true,
                                    .category = 'B',
                                    .preferred = true,
                                    .alignment = 'c',
                                    .storage = 'p',
                                    .in_btree_gist = true,
                                    .shape = Shape::boolean,
                                    .io = kBooleanCodec,
                                    .order = kByteOrder};

}  // namespace swizzle::sql
