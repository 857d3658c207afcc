#pragma once

#include <string_view>

namespace swizzle::sql {

/// Fast validation with SIMD instructions: true if the text is a JSON value. False means undecided:
/// the full parser handles deep or long texts, large numbers and surrogates, and reports
/// PostgreSQL's errors.
bool is_plain_json(std::string_view text);

}  // namespace swizzle::sql
