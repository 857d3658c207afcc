// pg_column_size(): the bytes that PostgreSQL needs for a value in memory, because programs compare
// the numbers with known ones. Rows here need less (row_codec.h).
#include <algorithm>
#include <cstdint>
#include <string>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kLengthWord = 4;

std::size_t padded(std::size_t size, char alignment) noexcept {
  const std::size_t to = alignment == 'd' ? 8 : alignment == 'i' ? 4 : alignment == 's' ? 2 : 1;
  return (size + to - 1) / to * to;
}
std::size_t bitmap_size(std::size_t values) noexcept {
  return (values + 7) / 8;
}

std::size_t size_of(FunctionContext& context, TypeId type, const Value& value);

std::size_t size_of_array(FunctionContext& context, const Value& value) {
  const ArrayView array{value};
  constexpr std::size_t kHead = 16;
  std::size_t size = kHead + array.dimension_count() * 8;
  if (array.has_nulls()) size = padded(size + bitmap_size(array.size()), 'd');
  const char alignment = value_type(array.element_type()).alignment;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const Value element = array.element(i);
    if (element.is_null()) continue;
    size = padded(size + size_of(context, array.element_type(), element), alignment);
  }
  return size;
}

std::size_t size_of_record(FunctionContext& context, const Value& value) {
  const RecordView record{value};
  constexpr std::size_t kHead = 23;
  bool has_nulls = false;
  std::size_t size = 0;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const Value field = record.field(i);
    has_nulls |= field.is_null();
    if (field.is_null()) continue;
    const Type& type = value_type(record.type(i));
    size = padded(size, type.alignment) + size_of(context, record.type(i), field);
  }
  return padded(kHead + (has_nulls ? bitmap_size(record.size()) : 0), 'd') + size;
}

std::size_t size_of(FunctionContext& context, TypeId type, const Value& value) {
  check_stack();
  const Type& known = value_type(type);
  if (known.length > 0) return static_cast<std::size_t>(known.length);
  switch (known.shape) {
    case Shape::text:
      return known.length == -2 ? value.as_bytes().size() + 1
                                : kLengthWord + value.as_bytes().size();
    case Shape::array:
      return size_of_array(context, value);
    case Shape::record:
      return size_of_record(context, value);
    default:
      break;
  }
  std::string sent;
  send_binary(context, type, value, sent);
  // The binary format has four 16-bit words before the digits; PostgreSQL's short header is one.
  constexpr std::size_t kShorter = 6;
  return kLengthWord + sent.size() - (known.shape == Shape::numeric ? kShorter : 0);
}

Value column_size(FunctionContext& context, std::span<const Value> a) {
  return Value::from_int(
      static_cast<std::int64_t>(size_of(context, context.call.arguments[0], a[0])));
}

constexpr ScalarEntry kValueSizesEntries[] = {{"pg_column_size(any)", &column_size}};

}  // namespace

std::span<const ScalarEntry> value_size_functions() {
  return kValueSizesEntries;
}

}  // namespace swizzle::sql
