#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "tpcc/schema.h"

namespace swizzle::tpcc {

/// The specification's random values: clauses 2.1.6 (NURand), 4.3.2 (strings and names).
class TpccRandom {
 public:
  /// The run's constant for last names differs from the load's by an amount that clause 2.1.6.1
  /// allows (65 to 119, but not 96 or 112).
  enum class Phase : std::uint8_t { load, run };
  TpccRandom(Sizes sizes, std::uint64_t seed, Phase phase) noexcept
      : random_(seed), sizes_(sizes), last_name_constant_(phase == Phase::load ? 137 : 222) {}

  [[nodiscard]] std::uint32_t between(std::uint32_t low, std::uint32_t high) noexcept {
    return static_cast<std::uint32_t>(random_.between(low, high));
  }
  [[nodiscard]] bool percent(std::uint32_t share) noexcept { return random_.below(100) < share; }
  [[nodiscard]] double unit() noexcept { return random_.unit(); }

  [[nodiscard]] std::uint32_t customer() noexcept {
    return non_uniform(1023, 259, 1, sizes_.customers);
  }
  [[nodiscard]] std::uint32_t item() noexcept { return non_uniform(8191, 7911, 1, sizes_.items); }
  /// A number that last_name() turns into a name.
  [[nodiscard]] std::uint32_t last_name_number() noexcept {
    return non_uniform(255, last_name_constant_, 0, sizes_.last_names() - 1);
  }

  [[nodiscard]] std::string letters(std::uint32_t least, std::uint32_t most);
  [[nodiscard]] std::string digits(std::uint32_t count);
  /// Letters and digits, and once in ten times "ORIGINAL" somewhere among them.
  [[nodiscard]] std::string original_data();
  [[nodiscard]] Address address();

 private:
  [[nodiscard]] std::uint32_t non_uniform(std::uint32_t a, std::uint32_t constant,
                                          std::uint32_t low, std::uint32_t high) noexcept {
    return (((between(0, a) | between(low, high)) + constant) % (high - low + 1)) + low;
  }

  Random random_;
  Sizes sizes_;
  std::uint32_t last_name_constant_;
};

/// Clause 4.3.2.3: three syllables, one per decimal digit. Pre: number < 1000.
[[nodiscard]] std::string last_name(std::uint32_t number);

}  // namespace swizzle::tpcc
