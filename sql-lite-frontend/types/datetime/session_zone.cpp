#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/text/text_scan.h"

// The session's zone, and numeric offsets in the forms that zones are written in.
namespace swizzle::sql {

const TimeZone& session_zone(const FunctionContext& context) noexcept {
  static const std::shared_ptr<const TimeZone> utc = TimeZone::utc();
  const auto& zone = context.session.format.time_zone;
  return zone ? *zone : *utc;
}

std::int64_t local_transaction_time(const FunctionContext& context) noexcept {
  const std::int64_t now = context.session.transaction_timestamp;
  return now + session_zone(context).at_utc(now).seconds_east * kMicrosPerSecond;
}

std::optional<std::int32_t> parse_zone_offset(std::string_view text) noexcept {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const bool west = text[0] == '-';
  std::int32_t parts[3] = {0, 0, 0};
  std::size_t part = 0;
  std::size_t digits = 0;
  std::size_t first_digits = 0;
  for (const char c : text.substr(1)) {
    if (c == ':') {
      if (digits == 0 || ++part > 2) return std::nullopt;
      digits = 0;
    } else if (is_digit(c) && digits < 6) {
      parts[part] = parts[part] * 10 + (c - '0');
      if (part == 0) ++first_digits;
      ++digits;
    } else {
      return std::nullopt;
    }
  }
  // "+1:" lacks its minutes.
  if (digits == 0 && part == 0) return std::nullopt;
  if (part == 0 && first_digits > 2) {  // "+0530"
    if (first_digits > 4) return std::nullopt;
    parts[1] = parts[0] % 100;
    parts[0] /= 100;
  }
  if (parts[1] > 59 || parts[2] > 59) return std::nullopt;
  const std::int32_t seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
  return west ? -seconds : seconds;
}

}  // namespace swizzle::sql
