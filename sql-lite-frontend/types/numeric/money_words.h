#pragma once

#include <cstdint>
#include <string>

namespace swizzle::sql {

/// cash_words(): "Twelve dollars and thirty four cents", identical to PostgreSQL's text.
std::string money_in_words(std::int64_t hundredths);

}  // namespace swizzle::sql
