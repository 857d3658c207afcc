#include <fmt/format.h>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/pseudo_types.h"
#include "sql-lite-frontend/types/range/range.h"
#include "sql-lite-frontend/types/range/range_functions.h"
#include "sql-lite-frontend/types/range/range_text.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

/// The built-in ranges and multiranges, and the properties that user-defined ones share.
namespace swizzle::sql {
namespace {

constexpr std::uint8_t kEmptyFlag = 0x01;
constexpr std::uint8_t kLowerInclusive = 0x02;
constexpr std::uint8_t kUpperInclusive = 0x04;
constexpr std::uint8_t kLowerInfinite = 0x08;
constexpr std::uint8_t kUpperInfinite = 0x10;

Value range_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  check_stack();
  const RangeText read = read_range_text(text);
  if (read.empty) return empty_range(context.arena, type);
  const TypeId subtype = range_subtype(type);
  const auto bound = [&](const std::optional<std::string>& from, bool inclusive) {
    return from ? RangeBound{input_text(context, subtype, kNoTypmod, *from), inclusive}
                : RangeBound{};
  };
  const RangeBound lower = bound(read.lower, read.lower_inclusive);
  const RangeBound upper = bound(read.upper, read.upper_inclusive);
  return make_range(context.arena, type, {lower, upper});
}

void append_span(FunctionContext& context, TypeId subtype, const Span& span, std::string& out) {
  out.push_back(span.lower.inclusive ? '[' : '(');
  if (!span.lower.infinite()) append_bound(out, to_text(context, subtype, span.lower.value));
  out.push_back(',');
  if (!span.upper.infinite()) append_bound(out, to_text(context, subtype, span.upper.value));
  out.push_back(span.upper.inclusive ? ']' : ')');
}

void range_output(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const RangeView view{value};
  if (view.empty())
    out += "empty";
  else
    append_span(context, range_subtype(view.type()), view.span(), out);
}

Value receive_range(FunctionContext& context, TypeId type, BinaryReader& reader) {
  const auto flags = reader.take<std::uint8_t>();
  const TypeId subtype = range_subtype(type);
  const auto bound = [&](std::uint8_t infinite, std::uint8_t inclusive) {
    if ((flags & (infinite | kEmptyFlag)) != 0) return RangeBound{};
    const auto size = reader.take<std::uint32_t>();
    const Value value = receive_binary(context, subtype, kNoTypmod, reader.take_bytes(size));
    return RangeBound{value, (flags & inclusive) != 0};
  };
  const RangeBound lower = bound(kLowerInfinite, kLowerInclusive);
  const RangeBound upper = bound(kUpperInfinite, kUpperInclusive);
  return (flags & kEmptyFlag) != 0 ? empty_range(context.arena, type)
                                   : make_range(context.arena, type, {lower, upper});
}

Value range_receive(FunctionContext& context, TypeId type, std::int32_t, Bytes bytes) {
  check_stack();
  BinaryReader reader{bytes};
  const Value range = receive_range(context, type, reader);
  reader.finish();
  return range;
}

void send_sized(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  const std::size_t at = out.size();
  append_big_endian(out, std::uint32_t{0});
  send_binary(context, type, value, out);
  const auto size =
      std::byteswap(static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t)));
  std::memcpy(out.data() + at, &size, sizeof size);
}

void send_span(FunctionContext& context, TypeId subtype, const Span& span, std::string& out) {
  out.push_back(static_cast<char>(
      (span.lower.infinite() ? kLowerInfinite : 0) | (span.upper.infinite() ? kUpperInfinite : 0) |
      (span.lower.inclusive ? kLowerInclusive : 0) | (span.upper.inclusive ? kUpperInclusive : 0)));
  if (!span.lower.infinite()) send_sized(context, subtype, span.lower.value, out);
  if (!span.upper.infinite()) send_sized(context, subtype, span.upper.value, out);
}

void range_send(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const RangeView view{value};
  if (view.empty())
    out.push_back(static_cast<char>(kEmptyFlag));
  else
    send_span(context, range_subtype(view.type()), view.span(), out);
}

constexpr TypeCodec kRangeCodec{&range_input, &range_output, &range_receive, &range_send};

Value multirange_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  check_stack();
  const TypeId range = range_of_multirange(type);
  std::vector<Span> spans;
  MultirangeText read{text};
  while (const auto part = read.next()) {
    const RangeView view{range_input(context, range, kNoTypmod, *part)};
    if (!view.empty()) spans.push_back(view.span());
  }
  return make_multirange(context.arena, type, std::move(spans));
}

void multirange_output(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const TypeId subtype = range_subtype(range_of_multirange(type_of_range(value)));
  out.push_back('{');
  bool first = true;
  for (const Span& span : spans_of(value)) {
    if (!std::exchange(first, false)) out.push_back(',');
    append_span(context, subtype, span, out);
  }
  out.push_back('}');
}

Value multirange_receive(FunctionContext& context, TypeId type, std::int32_t, Bytes bytes) {
  check_stack();
  BinaryReader reader{bytes};
  const auto count = reader.take<std::uint32_t>();
  std::vector<Span> spans;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto size = reader.take<std::uint32_t>();
    const RangeView view{
        range_receive(context, range_of_multirange(type), kNoTypmod, reader.take_bytes(size))};
    if (!view.empty()) spans.push_back(view.span());
  }
  reader.finish();
  return make_multirange(context.arena, type, std::move(spans));
}

void multirange_send(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const TypeId subtype = range_subtype(range_of_multirange(type_of_range(value)));
  const std::vector<Span> spans = spans_of(value);
  append_big_endian(out, static_cast<std::uint32_t>(spans.size()));
  for (const Span& span : spans) {
    std::string part;
    send_span(context, subtype, span, part);
    append_big_endian(out, static_cast<std::uint32_t>(part.size()));
    out += part;
  }
}

constexpr TypeCodec kMultirangeCodec{&multirange_input, &multirange_output, &multirange_receive,
                                     &multirange_send};

std::uint64_t hash_bound(HashFunction hash, const RangeBound& bound, std::uint64_t seed) {
  seed = hash_integer((bound.inclusive ? 1U : 0U) | (bound.infinite() ? 2U : 0U), seed);
  return bound.infinite() ? seed : hash(bound.value, seed);
}
std::uint64_t hash_span(HashFunction hash, const Span& span, std::uint64_t seed) {
  return hash_bound(hash, span.upper, hash_bound(hash, span.lower, seed));
}
std::uint64_t hash_range(const Value& value, std::uint64_t seed) {
  check_stack();
  const RangeView view{value};
  return view.empty() ? hash_integer(0, seed)
                      : hash_span(hashed(range_bound_type(view.type())), view.span(), seed);
}
std::uint64_t hash_multirange(const Value& value, std::uint64_t seed) {
  check_stack();
  const std::vector<Span> spans = spans_of(value);
  if (spans.empty()) return hash_integer(0, seed);
  const HashFunction hash = hashed(range_bound_type(range_of_multirange(type_of_range(value))));
  for (const Span& span : spans) seed = hash_span(hash, span, seed);
  return seed;
}

// Marker before a bound: infinite, or a value. After the value, an inclusive lower bound sorts
// before an exclusive one, an inclusive upper bound after.
constexpr std::uint8_t kBelowAll = 0;
constexpr std::uint8_t kFinite = 1;
constexpr std::uint8_t kAboveAll = 2;

void put_bound(std::string& key, TypeId subtype, const RangeBound& bound, bool is_lower) {
  if (bound.infinite()) return keys::put(key, is_lower ? kBelowAll : kAboveAll);
  keys::put(key, kFinite);
  keys::put_value(key, subtype, bound.value);
  keys::put(key, static_cast<std::uint8_t>(bound.inclusive == is_lower ? 0 : 1));
}
void put_span(std::string& key, TypeId subtype, const Span& span) {
  put_bound(key, subtype, span.lower, true);
  put_bound(key, subtype, span.upper, false);
}
RangeBound take_bound(Bytes& key, TypeId subtype, Arena& arena, bool is_lower) {
  const auto marker = keys::take<std::uint8_t>(key);
  if (marker == (is_lower ? kBelowAll : kAboveAll)) return {};
  if (marker != kFinite) keys::corrupt();
  const Value value = keys::take_value(key, subtype, arena);
  return {value, (keys::take<std::uint8_t>(key) == 0) == is_lower};
}
Span take_span(Bytes& key, TypeId subtype, Arena& arena) {
  const RangeBound lower = take_bound(key, subtype, arena, true);
  return {lower, take_bound(key, subtype, arena, false)};
}

// Marker before a non-empty range, and before each range of a multirange; kNoRange ends the list.
constexpr std::uint8_t kNoRange = 0;
constexpr std::uint8_t kSomeRange = 1;

void put_range_key(std::string& key, const Value& value) {
  check_stack();
  const RangeView view{value};
  keys::put(key, view.empty() ? kNoRange : kSomeRange);
  if (!view.empty()) put_span(key, range_bound_type(view.type()), view.span());
}
Value take_range_key(Bytes& key, TypeId type, Arena& arena) {
  check_stack();
  type = base_type(type);
  if (keys::take<std::uint8_t>(key) == kNoRange) return empty_range(arena, type);
  return make_range(arena, type, take_span(key, range_bound_type(type), arena));
}
void put_multirange_key(std::string& key, const Value& value) {
  check_stack();
  const TypeId subtype = range_bound_type(range_of_multirange(type_of_range(value)));
  for (const Span& span : spans_of(value)) {
    keys::put(key, kSomeRange);
    put_span(key, subtype, span);
  }
  keys::put(key, kNoRange);
}
Value take_multirange_key(Bytes& key, TypeId type, Arena& arena) {
  check_stack();
  type = base_type(type);
  const TypeId subtype = range_bound_type(range_of_multirange(type));
  std::vector<Span> spans;
  while (keys::take<std::uint8_t>(key) == kSomeRange)
    spans.push_back(take_span(key, subtype, arena));
  return multirange_from_canonical(arena, type, std::move(spans));
}

// Keys do not keep the scale of a numeric bound.
constexpr TypeOrder kRangeOrder{.compare = &compare_ranges,
                                .hash = &hash_range,
                                .put_key = &put_range_key,
                                .take_key = &take_range_key};
constexpr TypeOrder kMultirangeOrder{.compare = &compare_multiranges,
                                     .hash = &hash_multirange,
                                     .put_key = &put_multirange_key,
                                     .take_key = &take_multirange_key};

constexpr Type range_type(TypeId id, TypeId array, std::string_view name, TypeId subtype,
                          TypeId multirange, char alignment, const FunctionsOfType* functions) {
  return {.id = id,
          .array = array,
          .subtype = subtype,
          .multirange = multirange,
          .name = name,
          .sql_name = name,
          .category = 'R',
          .alignment = alignment,
          .kind = 'r',
          .shape = Shape::bytes,
          .io = kRangeCodec,
          .order = kRangeOrder,
          .operators_of = TypeId::anyrange,
          .functions = functions};
}
constexpr Type multirange_type(TypeId id, TypeId array, std::string_view name, TypeId range,
                               char alignment) {
  return {.id = id,
          .array = array,
          .subtype = range,
          .name = name,
          .sql_name = name,
          .category = 'R',
          .alignment = alignment,
          .kind = 'm',
          .shape = Shape::bytes,
          .io = kMultirangeCodec,
          .order = kMultirangeOrder,
          .operators_of = TypeId::anymultirange};
}

constexpr Type any_range_type() {
  Type type = long_pseudo_type(TypeId::anyrange, "anyrange");
  type.functions = &kRangeFunctions;
  return type;
}
constexpr Type any_multirange_type() {
  Type type = long_pseudo_type(TypeId::anymultirange, "anymultirange");
  type.functions = &kMultirangeFunctions;
  return type;
}

constinit const Type kUserRange =
    range_type(TypeId::none, TypeId::none, "", TypeId::none, TypeId::none, 'd', nullptr);
constinit const Type kUserMultirange =
    multirange_type(TypeId::none, TypeId::none, "", TypeId::none, 'd');

}  // namespace

constinit const Type builtin::anyrange = any_range_type();
constinit const Type builtin::anymultirange = any_multirange_type();

const Type& range_prototype() noexcept {
  return kUserRange;
}
const Type& multirange_prototype() noexcept {
  return kUserMultirange;
}

#define SWIZZLE_RANGE(name, multi, subtype, alignment)                                  \
  constinit const Type builtin::name =                                                  \
      range_type(builtin_id::name, builtin_id::array_of_##name, #name, TypeId::subtype, \
                 builtin_id::multi, alignment, &k_##name##_functions);                  \
  constinit const Type builtin::multi = multirange_type(                                \
      builtin_id::multi, builtin_id::array_of_##multi, #multi, builtin_id::name, alignment);

SWIZZLE_RANGE(int4range, int4multirange, int4, 'i')
SWIZZLE_RANGE(int8range, int8multirange, int8, 'd')
SWIZZLE_RANGE(numrange, nummultirange, numeric, 'i')
SWIZZLE_RANGE(daterange, datemultirange, date, 'i')
SWIZZLE_RANGE(tsrange, tsmultirange, timestamp, 'd')
SWIZZLE_RANGE(tstzrange, tstzmultirange, timestamptz, 'd')

}  // namespace swizzle::sql
