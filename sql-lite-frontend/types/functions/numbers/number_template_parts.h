#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// A parsed template of to_char() or to_number().
struct NumberTemplate {
  using Ordinal = TemplateNode::Ordinal;
  struct Node {
    enum class Kind : std::uint8_t {
      literal,
      nine,
      zero,
      point,
      comma,
      sign,
      sign_here,
      minus,
      plus,
      brackets,
      currency,
      ordinal,
    } kind = Kind::literal;
    std::string text;
    Ordinal ordinal = Ordinal::none;
  };

  CountedVector<Node> nodes;
  int before = 0;  ///< digits before the point
  int after = 0;
  int shifted = 0;      ///< digits after V
  int first_zero = -1;  ///< the place of the first 0 among the digits before the point
  bool filled = true;
  bool scientific = false;
  bool roman = false;
  bool roman_lower = false;
  bool own_sign = false;  ///< S, SG, MI, PL or PR determines the sign's place
  bool blank = false;     ///< B, which changes nothing but is not for EEEE
};

/// Parses a template; its parts are charged to the account. Throws 42601 for an invalid
/// combination.
NumberTemplate parse_number_template(std::string_view text, MemoryAccount* account);

/// Returns the numeral; '#' for a number that has none.
std::string roman_numeral(std::int64_t number, const NumberTemplate& t);

}  // namespace swizzle::sql
