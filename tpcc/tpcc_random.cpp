#include "tpcc/tpcc_random.h"

#include <array>
#include <string_view>

#include "base/invariant.h"

namespace swizzle::tpcc {

std::string TpccRandom::letters(std::uint32_t least, std::uint32_t most) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  static_assert(kAlphabet.size() == 64);
  std::string text(between(least, most), '\0');
  std::uint64_t bits = 0;
  unsigned left = 0;
  for (char& letter : text) {
    if (left == 0) {
      bits = random_();
      left = 10;
    }
    letter = kAlphabet[bits & 63U];
    bits >>= 6U;
    --left;
  }
  return text;
}

std::string TpccRandom::digits(std::uint32_t count) {
  std::string text(count, '0');
  for (char& digit : text) digit = static_cast<char>('0' + between(0, 9));
  return text;
}

std::string TpccRandom::original_data() {
  static constexpr std::string_view kMark = "ORIGINAL";
  std::string text = letters(26, 50);
  if (percent(10)) {
    const auto room = static_cast<std::uint32_t>(text.size() - kMark.size());
    text.replace(between(0, room), kMark.size(), kMark);
  }
  return text;
}

Address TpccRandom::address() {
  return {.street_1 = letters(10, 20),
          .street_2 = letters(10, 20),
          .city = letters(10, 20),
          .state = letters(2, 2),
          .zip = digits(4) + "11111"};
}

std::string last_name(std::uint32_t number) {
  static constexpr std::array<std::string_view, 10> kSyllables{
      "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"};
  INVARIANT(number < 1000);
  std::string name{kSyllables[number / 100]};
  name += kSyllables[number / 10 % 10];
  name += kSyllables[number % 10];
  return name;
}

}  // namespace swizzle::tpcc
