#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_id.h"

/// Functions with which the types' files read and write values.
namespace swizzle::sql {

/// Null for types without values.
const TypeCodec* find_codec(TypeId type) noexcept;

template <class T>
void append_big_endian(std::string& out, T value) {
  const auto bits = std::byteswap(value);
  char bytes[sizeof bits];
  std::memcpy(bytes, &bits, sizeof bits);
  out.append(bytes, sizeof bits);
}

/// Takes values off a binary message; too short is 08P01, as in PostgreSQL.
class BinaryReader {
 public:
  explicit BinaryReader(Bytes bytes) noexcept : rest_{bytes} {}

  template <class T>
  T take() {
    return std::byteswap(load<T>(take_bytes(sizeof(T)).data()));
  }
  Bytes take_bytes(std::size_t count) {
    if (rest_.size() < count) too_short();
    const Bytes out = rest_.first(count);
    rest_ = rest_.subspan(count);
    return out;
  }
  /// Everything must have been read (22P03).
  void finish() const {
    if (!rest_.empty()) too_long();
  }

 private:
  [[noreturn]] static void too_short();
  [[noreturn]] static void too_long();

  Bytes rest_;
};

[[noreturn]] void throw_invalid_syntax(TypeId type, std::string_view text);
[[noreturn]] void throw_out_of_range(TypeId type);

/// Parses a decimal integer as PostgreSQL's input functions: blanks around, a sign. Throws 22P02
/// or 22003 in the name of `type`.
std::int64_t parse_integer(TypeId type, std::string_view text, std::int64_t min, std::int64_t max);
double parse_float8(std::string_view text, TypeId reported_as = TypeId::float8);
float parse_float4(std::string_view text);
void append_float8(std::string& out, double value, int extra_float_digits);
void append_float4(std::string& out, float value, int extra_float_digits);
bool parse_boolean(std::string_view text);

}  // namespace swizzle::sql
