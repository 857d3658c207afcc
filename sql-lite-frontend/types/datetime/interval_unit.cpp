#include <algorithm>

#include "sql-lite-frontend/types/datetime/datetime_unit.h"

namespace swizzle::sql {

DateTimeUnit find_interval_unit(std::string_view word) noexcept {
  struct Name {
    std::string_view text;
    DateTimeUnit unit;
  };
  using enum DateTimeUnit;
  static constexpr Name kNames[] = {{"c", century},
                                    {"cent", century},
                                    {"centuries", century},
                                    {"century", century},
                                    {"d", day},
                                    {"day", day},
                                    {"days", day},
                                    {"dec", decade},
                                    {"decade", decade},
                                    {"decades", decade},
                                    {"decs", decade},
                                    {"h", hour},
                                    {"hour", hour},
                                    {"hours", hour},
                                    {"hr", hour},
                                    {"hrs", hour},
                                    {"m", minute},
                                    {"microsecon", microsecond},
                                    {"microsecond", microsecond},
                                    {"microseconds", microsecond},
                                    {"mil", millennium},
                                    {"millennia", millennium},
                                    {"millennium", millennium},
                                    {"millenniums", millennium},
                                    {"millisecond", millisecond},
                                    {"milliseconds", millisecond},
                                    {"mils", millennium},
                                    {"min", minute},
                                    {"mins", minute},
                                    {"minute", minute},
                                    {"minutes", minute},
                                    {"mon", month},
                                    {"mons", month},
                                    {"month", month},
                                    {"months", month},
                                    {"ms", millisecond},
                                    {"msec", millisecond},
                                    {"mseconds", millisecond},
                                    {"msecs", millisecond},
                                    {"qtr", quarter},
                                    {"quarter", quarter},
                                    {"s", second},
                                    {"sec", second},
                                    {"second", second},
                                    {"seconds", second},
                                    {"secs", second},
                                    {"us", microsecond},
                                    {"usec", microsecond},
                                    {"useconds", microsecond},
                                    {"usecs", microsecond},
                                    {"w", week},
                                    {"week", week},
                                    {"weeks", week},
                                    {"y", year},
                                    {"year", year},
                                    {"years", year},
                                    {"yr", year},
                                    {"yrs", year}};
  static_assert(std::ranges::is_sorted(kNames, {}, &Name::text));
  const auto* const found = std::ranges::lower_bound(kNames, word, {}, &Name::text);
  return found != std::end(kNames) && found->text == word ? found->unit : unknown;
}

}  // namespace swizzle::sql
