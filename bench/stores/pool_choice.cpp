#include "bench/stores/pool_choice.h"

#include <charconv>

namespace swizzle::bench {
namespace {

struct Named {
  std::string_view name;
  Replacement policy;
  /// Option set by a number after a colon.
  std::uint32_t ReplacementOptions::* parameter;
};
constexpr Named kPolicies[] = {
    {"clock_sweep", Replacement::clock_sweep, &ReplacementOptions::cooling_percent},
    {"random", Replacement::random, nullptr},
    {"gclock", Replacement::gclock, &ReplacementOptions::gclock_limit},
    {"car", Replacement::car, nullptr},
    {"lru", Replacement::lru, nullptr},
    {"cooling", Replacement::cooling_fifo, &ReplacementOptions::cooling_percent},
};

std::unexpected<Error> unknown(std::string_view what, std::string_view text) {
  return fail(sqlstate::invalid_parameter_value,
              "no such " + std::string{what} + ": " + std::string{text});
}

}  // namespace

Result<ReplacementOptions> parse_replacement(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const Named& named : kPolicies) {
    if (text.substr(0, colon) != named.name) continue;
    ReplacementOptions options{.policy = named.policy};
    if (colon == std::string_view::npos) return options;
    const std::string_view number = text.substr(colon + 1);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    const bool whole = error == std::errc{} && end == number.data() + number.size() && value > 0;
    if (named.parameter == nullptr || !whole) break;
    options.*named.parameter = value;
    return options;
  }
  return unknown("replacement policy", text);
}

Result<PoolChoice> parse_pool(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view mode = text.substr(0, slash);
  PoolChoice choice;
  if (mode == "swizzling")
    choice.mode = PoolMode::swizzling;
  else if (mode == "traditional")
    choice.mode = PoolMode::traditional;
  else if (mode == "main_memory" && slash == std::string_view::npos)
    choice.mode = PoolMode::main_memory;
  else
    return unknown("pool", text);
  if (slash == std::string_view::npos) return choice;
  ASSIGN_OR_RETURN(choice.replacement, parse_replacement(text.substr(slash + 1)));
  return choice;
}

}  // namespace swizzle::bench
