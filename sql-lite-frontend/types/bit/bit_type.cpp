#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/bit/bit_functions.h"
#include "sql-lite-frontend/types/bit/bits.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"

/// bit(n) and bit varying(n).
namespace swizzle::sql {

// Compares the bytes, then the lengths: '1' < '10' < '11'.
int compare_bits(const Value& a, const Value& b) {
  const BitView left{a};
  const BitView right{b};
  const std::size_t common = std::min(left.bytes().size(), right.bytes().size());
  const int by = compare(left.bytes().first(common), right.bytes().first(common));
  return by != 0 ? by : order_of(left.size(), right.size());
}

namespace {

/// Cuts, or fills up with zeros.
Value resized(Arena& arena, const BitView& view, std::size_t size) {
  BitBuilder bits{arena, size};
  bits.copy(0, view, 0, std::min(size, view.size()));
  return bits.finish();
}

Value fit_bit(FunctionContext& context, std::int32_t typmod, const Value& value,
              Coercion coercion) {
  const BitView view{value};
  const auto wanted = static_cast<std::size_t>(typmod);
  if (typmod <= 0 || view.size() == wanted) return value;
  if (coercion == Coercion::assignment)
    throw_error(sqlstate::string_data_length_mismatch,
                "bit string length {} does not match type bit({})", view.size(), typmod);
  return resized(context.arena, view, wanted);
}

Value fit_varbit(FunctionContext& context, std::int32_t typmod, const Value& value,
                 Coercion coercion) {
  const BitView view{value};
  const auto most = static_cast<std::size_t>(typmod);
  if (typmod <= 0 || view.size() <= most) return value;
  if (coercion == Coercion::assignment)
    throw_error(sqlstate::string_data_right_truncation,
                "bit string too long for type bit varying({})", typmod);
  return resized(context.arena, view, most);
}

template <TypeId type>
Value fitted(FunctionContext& context, std::int32_t typmod, const Value& value) {
  return (type == builtin_id::bit ? fit_bit : fit_varbit)(context, typmod, value,
                                                          Coercion::assignment);
}

void output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const BitView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    yield_point(1);
    out.push_back(view.at(i) ? '1' : '0');
  }
}

template <TypeId type>
Value receive(FunctionContext& context, TypeId, std::int32_t typmod, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto size = reader.take<std::int32_t>();
  if (size < 0 || static_cast<std::size_t>(size) > kMostBits)
    throw SqlError{sqlstate::invalid_binary_representation,
                   "invalid length in external bit string"};
  const auto count = static_cast<std::size_t>(size);
  const Bytes from = reader.take_bytes((count + 7) / 8);
  reader.finish();
  BitBuilder bits{context.arena, count};
  std::ranges::copy(from, bits.bytes().begin());
  return fitted<type>(context, typmod, bits.finish());
}

void send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const BitView view{value};
  append_big_endian(out, static_cast<std::int32_t>(view.size()));
  out += as_text(view.bytes());
}

template <TypeId type>
constexpr TypeCodec kCodec{
    [](FunctionContext& context, TypeId, std::int32_t typmod, std::string_view text) {
      return fitted<type>(context, typmod, bits_from_text(context.arena, text));
    },
    &output, &receive<type>, &send};

constexpr TypeOrder kBitOrder{.compare = &compare_bits,
                              .hash = &hash_whole,
                              .put_key =
                                  [](std::string& key, const Value& value) {
                                    const BitView view{value};
                                    keys::put_bytes(key, as_text(view.bytes()));
                                    keys::put(key, static_cast<std::uint32_t>(view.size()));
                                  },
                              .take_key =
                                  [](Bytes& key, TypeId type, Arena& arena) {
                                    const Value bytes = keys::take_bytes(key, type, arena);
                                    const auto size = keys::take<std::uint32_t>(key);
                                    if ((std::size_t{size} + 7) / 8 != bytes.as_bytes().size())
                                      keys::corrupt();
                                    BitBuilder bits{arena, size};
                                    std::ranges::copy(bytes.as_bytes(), bits.bytes().begin());
                                    return bits.finish();
                                  },
                              .key_keeps_value = true};

std::int32_t read_length(std::span<const std::int32_t> modifiers, std::string_view name) {
  if (modifiers.size() != 1)
    throw SqlError{sqlstate::invalid_parameter_value, "invalid type modifier"};
  if (modifiers[0] < 1)
    throw_error(sqlstate::invalid_parameter_value, "length for type {} must be at least 1", name);
  if (static_cast<std::size_t>(modifiers[0]) > kMostBits)
    throw_error(sqlstate::invalid_parameter_value, "length for type {} cannot exceed {}", name,
                kMostBits);
  return modifiers[0];
}
std::string show_length(std::string_view name, std::int32_t typmod) {
  return fmt::format("{}({})", name, typmod);
}
constexpr TypeModifier kBitModifier{
    .read = [](std::span<const std::int32_t> given) { return read_length(given, "bit"); },
    .show = &show_length,
    .fit = &fit_bit};
constexpr TypeModifier kVarbitModifier{
    .read = [](std::span<const std::int32_t> given) { return read_length(given, "varbit"); },
    .show = &show_length,
    .fit = &fit_varbit};

TypeMeasures measures(std::int32_t typmod) {
  TypeMeasures measures;
  if (typmod >= 0) measures.length = typmod;
  return measures;
}

}  // namespace

constinit const Type builtin::bit{.id = builtin_id::bit,
                                  .array = builtin_id::array_of_bit,
                                  .name = "bit",
                                  .sql_name = "bit",
                                  .category = 'V',
                                  .in_btree_gist = true,
                                  .shape = Shape::bytes,
                                  .io = kCodec<builtin_id::bit>,
                                  .order = kBitOrder,
                                  .modifier = &kBitModifier,
                                  .family = TypeId::none,
                                  .measures = &measures,
                                  .functions = &kBitFunctions};
constinit const Type builtin::varbit{.id = builtin_id::varbit,
                                     .array = builtin_id::array_of_varbit,
                                     .name = "varbit",
                                     .sql_name = "bit varying",
                                     .category = 'V',
                                     .preferred = true,
                                     .in_btree_gist = true,
                                     .shape = Shape::bytes,
                                     .io = kCodec<builtin_id::varbit>,
                                     .order = kBitOrder,
                                     .modifier = &kVarbitModifier,
                                     .measures = &measures,
                                     .functions = &kVarbitFunctions};

}  // namespace swizzle::sql
