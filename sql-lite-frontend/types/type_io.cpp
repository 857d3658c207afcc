#include "sql-lite-frontend/types/type_io.h"

#include <array>
#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

namespace {

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

const TypeCodec* find_codec(TypeId type) noexcept {
  if (is_domain(type)) return &domain_codec();
  const TypeCodec& codec = value_type(type).io;
  return codec.input == nullptr ? nullptr : &codec;
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
  // A domain has no modifier of its own: its base type's was applied when the value became one of
  // it.
  if (typmod < 0 || is_domain(type)) return false;
  if (is_array(type)) return needs_length_coercion(element_type(type), typmod);
  return value_type(type).modifier != nullptr;
}

Value coerce_length(FunctionContext& context, TypeId type, std::int32_t typmod, const Value& value,
                    Coercion coercion) {
  if (value.is_null() || !needs_length_coercion(type, typmod)) return value;
  if (is_array(type)) return fit_array(context, element_type(type), typmod, value, coercion);
  return value_type(type).modifier->fit(context, typmod, value, coercion);
}

}  // namespace swizzle::sql
