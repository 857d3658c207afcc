#include <cmath>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {

constexpr TypeCodec kNumericCodec{
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

namespace {

std::int32_t read_modifier(std::span<const std::int32_t> modifiers) {
  if (modifiers.empty() || modifiers.size() > 2)
    throw SqlError{sqlstate::invalid_parameter_value, "invalid NUMERIC type modifier"};
  const int precision = modifiers[0];
  const int scale = modifiers.size() == 2 ? modifiers[1] : 0;
  if (precision < 1 || precision > kMaxNumericPrecision)
    throw_error(sqlstate::invalid_parameter_value, "NUMERIC precision {} must be between 1 and {}",
                precision, kMaxNumericPrecision);
  if (scale < -kMaxNumericPrecision || scale > kMaxNumericPrecision)
    throw_error(sqlstate::invalid_parameter_value, "NUMERIC scale {} must be between {} and {}",
                scale, -kMaxNumericPrecision, kMaxNumericPrecision);
  return ((precision << 16) | (scale & 0x7ff)) + 4;
}

std::int32_t precision_of(std::int32_t typmod) noexcept {
  return (typmod - 4) >> 16 & 0xffff;
}
std::int32_t scale_of(std::int32_t typmod) noexcept {
  return (((typmod - 4) & 0x7ff) ^ 1024) - 1024;
}

constexpr TypeModifier kNumericModifier{
    .read = &read_modifier,
    .show =
        [](std::string_view name, std::int32_t typmod) {
          return fmt::format("{}({},{})", name, precision_of(typmod), scale_of(typmod));
        },
    .fit = [](FunctionContext& context, std::int32_t typmod, const Value& value,
              Coercion) { return numeric_apply_typmod(context.arena, value, typmod); }};

std::optional<double> position(const Value& value) {
  if (value.kind() != Value::Kind::extended) return std::nullopt;
  return static_cast<double>(value.decimal_unscaled()) /
         std::pow(10.0, static_cast<double>(value.decimal_scale()));
}

}  // namespace

constinit const Type builtin::numeric{
    .id = TypeId::numeric,
    .array = TypeId::numeric_array,
    .name = "numeric",
    .sql_name = "numeric",
    .category = 'N',
    .storage = 'm',
    .in_btree_gist = true,
    .shape = Shape::numeric,
    .io = kNumericCodec,
    .order = {.compare = &numeric_compare,
              .hash = &numeric_hash,
              .put_key = &append_numeric_key,
              .take_key = [](Bytes& key, TypeId,
                             Arena& arena) { return take_numeric_key(key, arena); },
              .position = &position},
    .modifier = &kNumericModifier,
    .measures = [](std::int32_t typmod) {
      TypeMeasures measures{.radix = 10};
      if (typmod >= 4) {
        measures.precision = precision_of(typmod);
        measures.scale = (typmod - 4) & 0xffff;  // unsigned, as PostgreSQL's views show it
      }
      return measures;
    }};

}  // namespace swizzle::sql
