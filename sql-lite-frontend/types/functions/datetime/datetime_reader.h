#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"

namespace swizzle::sql {

/// Result of parsing a text by a template.
struct ReadMoment {
  std::int64_t days = 0;  ///< since 2000; the default year is 1 BC
  std::int64_t time = 0;  ///< microseconds of the day
  std::optional<std::int32_t> seconds_east{};
  /// Microseconds since 2000; nothing on overflow.
  [[nodiscard]] std::optional<std::int64_t> timestamp() const noexcept;

  int precision = -1;  ///< of FF1 … FF6; -1: not given

  // Parts that the template contains.
  bool has_date = false;
  bool has_time = false;
  bool has_zone = false;
};

/// Throws 22007 if the text does not match the template, 22008 and 22009 for invalid values.
/// `session` is the session's time zone.
ReadMoment read_by_template(std::string_view text, const TemplateNodes& nodes, TemplateRules rules,
                            const TimeZone& session);

}  // namespace swizzle::sql
