#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_id.h"

/// Helpers for the input and output functions in the types' files.
namespace swizzle::sql {

/// Returns null for types without values.
const TypeCodec* find_codec(TypeId type) noexcept;

template <class T>
void append_big_endian(std::string& out, T value) {
  const auto bits = std::byteswap(value);
  char bytes[sizeof bits];
  std::memcpy(bytes, &bits, sizeof bits);
  out.append(bytes, sizeof bits);
}

/// Reads values from a binary message; throws 08P01 if it is too short, as PostgreSQL does.
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
  /// Throws 22P03 unless the whole message has been read.
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

/// Parses a decimal integer as PostgreSQL's input functions do, with surrounding blanks and a sign.
/// Throws 22P02 or 22003 with the name of `type`.
std::int64_t parse_integer(TypeId type, std::string_view text, std::int64_t min, std::int64_t max);
double parse_float8(std::string_view text, TypeId reported_as = TypeId::float8);
float parse_float4(std::string_view text);
void append_float8(std::string& out, double value, int extra_float_digits);
void append_float4(std::string& out, float value, int extra_float_digits);
bool parse_boolean(std::string_view text);

}  // namespace swizzle::sql
