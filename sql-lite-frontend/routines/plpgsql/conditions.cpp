#include "sql-lite-frontend/routines/plpgsql/conditions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace swizzle::sql::plpgsql {
namespace {

constexpr std::array kConditions = std::to_array<std::pair<std::string_view, std::string_view>>({
#include "sql-lite-frontend/routines/plpgsql/conditions.inc"
});

constexpr std::string_view kAssertFailure = "P0004";

}  // namespace

std::vector<std::string> codes_of_condition(std::string_view name) {
  std::vector<std::string> codes;
  for (const auto& [known, code] : kConditions) {
    if (known == name) codes.emplace_back(code);
  }
  return codes;
}

std::optional<SqlState> read_sqlstate(std::string_view code) {
  std::array<char, 5> letters{};
  if (code.size() != letters.size()) return std::nullopt;
  const bool fits = std::ranges::all_of(code, [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z');
  });
  if (!fits) return std::nullopt;
  std::ranges::copy(code, letters.begin());
  return std::bit_cast<SqlState>(letters);
}

bool Condition::matches(SqlState state) const noexcept {
  if (kind == Kind::others) {
    return state != sqlstate::query_canceled && state.code() != kAssertFailure;
  }
  if (code.ends_with("000")) return state.code().substr(0, 2) == code.substr(0, 2);
  return state.code() == code;
}

}  // namespace swizzle::sql::plpgsql
