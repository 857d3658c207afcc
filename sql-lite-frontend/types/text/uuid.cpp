#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

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
    // A hyphen may follow each group of four digits.
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

constexpr TypeCodec kUuidCodec{
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
    [](FunctionContext&, TypeId, const Value& value, std::string& out) { out += value.as_text(); }};

namespace {

constexpr std::size_t kUuidBytes = 16;

constexpr TypeOrder uuid_order() {
  TypeOrder order = kBytesOrder;
  order.put_key = [](std::string& key, const Value& value) { key.append(value.as_text()); };
  order.take_key = [](Bytes& key, TypeId, Arena&) {
    if (key.size() < kUuidBytes) keys::corrupt();
    const Value out = Value::from_bytes(key.first(kUuidBytes));
    key = key.subspan(kUuidBytes);
    return out;
  };
  order.key_width = kUuidBytes;
  return order;
}

}  // namespace

constinit const Type builtin::uuid{.id = TypeId::uuid,
                                   .array = TypeId::uuid_array,
                                   .name = "uuid",
                                   .sql_name = "uuid",
                                   .length = kUuidBytes,
                                   .alignment = 'c',
                                   .storage = 'p',
                                   .in_btree_gist = true,
                                   .shape = Shape::uuid,
                                   .io = kUuidCodec,
                                   .order = uuid_order()};

}  // namespace swizzle::sql
