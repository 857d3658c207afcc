// Fuzz target of compiled time zones (TZif) and the POSIX rules in their footers.

#include <array>

#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

constexpr std::array<std::int64_t, 5> kTimes{INT64_MIN, -1'000'000, 0, 500'000'000'000'000'000,
                                             INT64_MAX};

void read(Bytes bytes) {
  const auto zone = TimeZone::read("fuzzed", bytes);
  if (!zone) return;
  for (const std::int64_t at : kTimes) {
    static_cast<void>(zone->at_utc(at));
    static_cast<void>(zone->at_local(at));
  }
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::read(swizzle::fuzzing::as_bytes_of(data, size));
  return 0;
}
