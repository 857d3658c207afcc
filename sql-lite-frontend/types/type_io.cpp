#include "sql-lite-frontend/types/type_io.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/encodings/encoding_table.h"
#include "base/result.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/user_types.h"
#include "sql-lite-frontend/types/writing_share.h"

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

namespace {

/// True if the binary form is text, perhaps behind a version byte.
bool is_text_in_binary(TypeId type) noexcept {
  return !is_domain(type) && (is_enum(type) || value_type(type).shape == Shape::text);
}

bool has_texts_among_numbers(TypeId type) noexcept {
  return type == kHstoreType || type == builtin::tsvector.id || type == builtin::tsquery.id;
}

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

[[noreturn]] void refuse_binary(TypeId type, const EncodingTable& client) {
  throw SqlError{sqlstate::feature_not_supported,
                 fmt::format("the binary form of type {} in encoding \"{}\" is not supported",
                             format_type(type), encoding_name(client.encoding()))}
      .with_hint("Use the text form, or set client_encoding to UTF8.");
}

void check(Result<>&& result) {
  if (!result) throw SqlError{std::move(result).error()};
}

/// Converts texts of a binary value, which is the end of `out` from `start` on, to the client's
/// encoding. Composed types have their parts converted one by one.
void encode_sent(FunctionContext& context, const EncodingTable& client, TypeId type,
                 const Value& value, std::string& out, std::size_t start) {
  if (is_text_in_binary(type)) {
    const WritingShare share{context, EncodingTable::kMostEncodedGrowth * (out.size() - start)};
    check(client.encode_tail(out, start));
  } else if (has_texts_among_numbers(type) && !is_ascii(to_text(context, type, value))) {
    refuse_binary(type, client);
  }
}

/// Returns a received value with its text in UTF-8: in `decoded` or unchanged.
Bytes decode_received(const EncodingTable& client, TypeId type, Bytes bytes, std::string& decoded) {
  const std::string_view text = as_text(bytes);
  if (is_text_in_binary(type)) {
    decoded.reserve(EncodingTable::kMostDecodedGrowth * text.size());
    check(client.decode(text, decoded));
    return as_bytes(decoded);
  }
  if (has_texts_among_numbers(type) && !is_ascii(text)) refuse_binary(type, client);
  return bytes;
}

}  // namespace

Value receive_binary(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  const TypeCodec& codec = codec_or_refuse(type, "accept");
  if (const EncodingTable* client = context.session.format.client_encoding) [[unlikely]] {
    const WritingShare share{context, EncodingTable::kMostDecodedGrowth * bytes.size()};
    std::string decoded;
    return for_bytes(bytes.size(), [&] {
      return codec.receive(context, type, typmod, decode_received(*client, type, bytes, decoded));
    });
  }
  return for_bytes(bytes.size(), [&] { return codec.receive(context, type, typmod, bytes); });
}

void send_binary(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  const TypeCodec& codec = codec_or_refuse(type, "display");
  const std::size_t start = out.size();
  for_bytes(bytes_of({&value, 1}), [&] { return codec.send(context, type, value, out), true; });
  if (const EncodingTable* client = context.session.format.client_encoding) [[unlikely]]
    encode_sent(context, *client, type, value, out, start);
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
