#pragma once

#include <cstdint>
#include <string>

namespace swizzle::sql {

/// cash_words(): "Twelve dollars and thirty four cents", word for word as PostgreSQL says it.
std::string money_in_words(std::int64_t hundredths);

}  // namespace swizzle::sql
