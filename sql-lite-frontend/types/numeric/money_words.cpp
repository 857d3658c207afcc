#include "sql-lite-frontend/types/numeric/money_words.h"

#include <array>
#include <string_view>

namespace swizzle::sql {
namespace {

constexpr std::array<std::string_view, 21> kSmall{
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};

/// Spells a number below a hundred: "twenty one".
std::string below_hundred(std::uint64_t number) {
  if (number < kSmall.size()) return std::string{kSmall[number]};
  std::string words{kTens[number / 10]};
  if (number % 10 != 0) words.append(" ").append(kSmall[number % 10]);
  return words;
}

/// Spells a number below a thousand, with "and" before a rest below twenty.
std::string below_thousand(std::uint64_t number) {
  const std::uint64_t rest = number % 100;
  if (number < 100) return below_hundred(number);
  std::string words{kSmall[number / 100]};
  words += " hundred";
  if (rest == 0) return words;
  const bool is_ten = rest % 10 == 0 && rest > 10;
  return words + (rest < 20 && !is_ten ? " and " : " ") + below_hundred(rest);
}

}  // namespace

std::string money_in_words(std::int64_t hundredths) {
  struct Scale {
    std::uint64_t unit;
    std::string_view name;
  };
  // Exactly one blank on either side: the spelling is PostgreSQL's, character by character.
  static constexpr std::array<Scale, 5> kScales{{{1'000'000'000'000'000, " quadrillion "},
                                                 {1'000'000'000'000, " trillion "},
                                                 {1'000'000'000, " billion "},
                                                 {1'000'000, " million "},
                                                 {1'000, " thousand "}}};
  const bool negative = hundredths < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(hundredths)
                                      : static_cast<std::uint64_t>(hundredths);
  const std::uint64_t dollars = size / 100;
  std::string words = negative ? "minus " : "";
  for (const Scale& scale : kScales)
    if (const std::uint64_t part = dollars / scale.unit % 1000; part != 0)
      words.append(below_thousand(part)).append(scale.name);
  if (dollars % 1000 != 0) words += below_thousand(dollars % 1000);
  if (dollars == 0) words += "zero";
  words += dollars == 1 ? " dollar and " : " dollars and ";
  words += below_thousand(size % 100);
  words += size % 100 == 1 ? " cent" : " cents";
  if (words.front() >= 'a' && words.front() <= 'z')
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return words;
}

}  // namespace swizzle::sql
