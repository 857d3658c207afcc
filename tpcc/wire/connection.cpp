#include "tpcc/wire/connection.h"

#include <charconv>
#include <optional>

namespace swizzle::tpcc {

// Our SqlState comes from literals only.
SqlState known_state(std::string_view code) noexcept {
  for (const SqlState known :
       {sqlstate::serialization_failure, sqlstate::deadlock_detected, sqlstate::lock_not_available,
        sqlstate::unique_violation, sqlstate::feature_not_supported, sqlstate::query_canceled,
        kUnusedItem}) {
    if (known.code() == code) return known;
  }
  return sqlstate::internal_error;
}

std::int64_t Rows::number(int row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::int64_t Rows::scaled(int row, int column, unsigned digits) const {
  std::string_view source = text(row, column);
  const bool negative = source.starts_with('-');
  if (negative) source.remove_prefix(1);
  std::int64_t value = 0;
  std::optional<unsigned> decimals;
  for (const char character : source) {
    if (character == '.') {
      decimals = 0;
    } else if (!decimals || *decimals < digits) {
      value = value * 10 + (character - '0');
      if (decimals) ++*decimals;
    }
  }
  for (unsigned i = decimals.value_or(0); i < digits; ++i) value *= 10;
  return negative ? -value : value;
}

std::int64_t Rows::affected() const {
  const std::string_view digits = source_->affected();
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace swizzle::tpcc
