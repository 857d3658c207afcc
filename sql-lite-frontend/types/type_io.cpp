#include "sql-lite-frontend/types/type_io.h"

#include <algorithm>
#include <array>

#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/datetime_ops.h"
#include "sql-lite-frontend/types/interval_fields.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/network.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/time_types.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/user_types.h"
#include "sql-lite-frontend/types/utf8.h"

namespace swizzle::sql {

namespace {

const TypeCodec* choose_codec(TypeId type) noexcept {
  if (type == kInet || type == kCidr) return &network_codec();
  if (is_enum(type)) return &enum_codec();
  if (is_domain(type)) return &domain_codec();
  switch (type) {
    case TypeId::date:
      return &date_codec();
    case TypeId::time:
      return &time_codec();
    case TypeId::timestamp:
    case TypeId::timestamptz:
      return &timestamp_codec();
    case TypeId::tid:
      return &tid_codec();
    case TypeId::void_:
      return &void_codec();
    case TypeId::pg_lsn:
      return &lsn_codec();
    case TypeId::json:
    case TypeId::jsonb:
      return &json_codec();
    case TypeId::int2vector:
    case TypeId::oidvector:
      return &vector_codec();
    default:
      break;
  }
  switch (shape_of(type)) {
    case Shape::none:
      return nullptr;
    case Shape::boolean:
      return &boolean_codec();
    case Shape::char8:
      return &char_codec();
    case Shape::int16:
    case Shape::int32:
    case Shape::int64:
      return &integer_codec();
    case Shape::uint32:
    case Shape::uint64:
      return &object_id_codec();
    case Shape::float32:
    case Shape::float64:
      return &float_codec();
    case Shape::timetz:
      return &timetz_codec();
    case Shape::interval:
      return &interval_codec();
    case Shape::uuid:
      return &uuid_codec();
    case Shape::text:
      return &text_codec();
    case Shape::bytes:
      return &bytea_codec();
    case Shape::numeric:
      return &numeric_codec();
    case Shape::array:
      return &array_codec();
    case Shape::record:
      return &record_codec();
  }
  return nullptr;
}

/// Each value of each row asks. The ids that rows usually have are small.
constexpr std::size_t kUsualIds = 2304;

std::array<const TypeCodec*, kUsualIds> usual_codecs() noexcept {
  std::array<const TypeCodec*, kUsualIds> codecs{};
  for (std::uint32_t id = 0; id < kUsualIds; ++id) codecs[id] = choose_codec(TypeId{id});
  return codecs;
}

}  // namespace

const TypeCodec* find_codec(TypeId type) noexcept {
  static const auto codecs = usual_codecs();
  return raw(type) < kUsualIds ? codecs[raw(type)] : choose_codec(type);
}

namespace {

const TypeCodec& codec_or_refuse(TypeId type, std::string_view verb) {
  const TypeCodec* codec = find_codec(type);
  if (codec == nullptr)
    throw_error(sqlstate::feature_not_supported, "cannot {} a value of type {}", verb,
                format_type(type));
  return *codec;
}

}  // namespace

bool has_io(TypeId type) noexcept {
  return find_codec(type) != nullptr;
}

Value input_text(FunctionContext& context, TypeId type, std::int32_t typmod,
                 std::string_view text) {
  const TypeCodec& codec = codec_or_refuse(type, "accept");
  return for_bytes(text.size(), [&] { return codec.input(context, type, typmod, text); });
}

void output_text(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  const TypeCodec& codec = codec_or_refuse(type, "display");
  for_bytes(bytes_of({&value, 1}), [&] { return codec.output(context, type, value, out), true; });
}

std::string to_text(FunctionContext& context, TypeId type, const Value& value) {
  std::string out;
  output_text(context, type, value, out);
  return out;
}

Value receive_binary(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  const TypeCodec& codec = codec_or_refuse(type, "accept");
  return for_bytes(bytes.size(), [&] { return codec.receive(context, type, typmod, bytes); });
}

void send_binary(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  const TypeCodec& codec = codec_or_refuse(type, "display");
  for_bytes(bytes_of({&value, 1}), [&] { return codec.send(context, type, value, out), true; });
}

bool needs_length_coercion(TypeId type, std::int32_t typmod) noexcept {
  // A domain has its base's modifier, and no other.
  if (typmod < 0 || is_domain(type)) return false;
  switch (type) {
    case TypeId::varchar:
    case TypeId::bpchar:
    case TypeId::numeric:
      return true;
    default:
      if (is_time(type)) return type != TypeId::date;
      return is_array(type) && needs_length_coercion(element_type(type), typmod);
  }
}

namespace {

/// At most `limit` characters. Blanks beyond it go silently, anything else only by a cast.
std::string_view cut(std::string_view text, std::size_t limit, Coercion coercion, TypeId type) {
  if (text.size() <= limit) return text;
  const std::size_t kept = bytes_of_characters(text, limit);
  const std::string_view rest = text.substr(kept);
  if (coercion == Coercion::assignment && rest.find_first_not_of(' ') != std::string_view::npos)
    throw_error(sqlstate::string_data_right_truncation, "value too long for type {}({})",
                format_type(type), limit);
  return text.substr(0, kept);
}

Value fit_blank_padded(FunctionContext& context, const Value& value, std::size_t length,
                       Coercion coercion) {
  const std::string_view text = value.as_text();
  const std::string_view kept = cut(text, length, coercion, TypeId::bpchar);
  const std::size_t characters = count_characters(kept);
  if (characters == length) return kept.size() == text.size() ? value : Value::from_text(kept);
  std::byte* out = context.arena.allocate(kept.size() + length - characters, 1);
  std::memcpy(out, kept.data(), kept.size());
  std::memset(out + kept.size(), ' ', length - characters);
  return Value::from_bytes({out, kept.size() + length - characters});
}

Value fit_array(FunctionContext& context, TypeId element, std::int32_t typmod, const Value& value,
                Coercion coercion) {
  const ArrayView view{value};
  std::vector<Value> elements(view.size());
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = coerce_length(context, element, typmod, view.element(i), coercion);
  std::array<ArrayDimension, kMaxArrayDimensions> dimensions;
  for (std::size_t i = 0; i < view.dimension_count(); ++i) dimensions[i] = view.dimension(i);
  return make_array(context.arena, element, std::span{dimensions}.first(view.dimension_count()),
                    elements);
}

}  // namespace

Value coerce_length(FunctionContext& context, TypeId type, std::int32_t typmod, const Value& value,
                    Coercion coercion) {
  if (value.is_null() || !needs_length_coercion(type, typmod)) return value;
  switch (type) {
    case TypeId::varchar: {
      const std::string_view text = value.as_text();
      const std::string_view kept =
          cut(text, static_cast<std::size_t>(std::max(typmod - 4, 0)), coercion, type);
      return kept.size() == text.size() ? value : Value::from_text(kept);
    }
    case TypeId::bpchar:
      return fit_blank_padded(context, value, static_cast<std::size_t>(std::max(typmod - 4, 0)),
                              coercion);
    case TypeId::numeric:
      return numeric_apply_typmod(context.arena, value, typmod);
    case TypeId::time:
      return Value::from_int(round_micros(value.as_int8(), typmod));
    case TypeId::timetz: {
      TimeTz time = value.as_timetz();
      time.microseconds = round_micros(time.microseconds, typmod);
      return Value::from_timetz(time);
    }
    case TypeId::timestamp:
    case TypeId::timestamptz:
      return Value::from_int(fit_timestamp(value.as_int8(), typmod));
    case TypeId::interval:
      return make_interval(context.arena, fit_interval(value.as_interval(), typmod));
    default:
      return fit_array(context, element_type(type), typmod, value, coercion);
  }
}

}  // namespace swizzle::sql
