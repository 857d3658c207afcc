#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"

namespace swizzle::sql {

/// Calendar convention of a keyword. A template must not mix conventions.
enum class DateConvention : std::uint8_t { none, gregorian, iso_week };
enum class MomentPart : std::uint8_t { none, date, time, zone };

/// Properties of a template keyword that matter to the parser.
struct KeywordTraits {
  MomentPart part;
  bool is_number;  ///< a number right before it must have a known length
  DateConvention convention = DateConvention::none;
};

KeywordTraits traits_of(TemplateNode::Keyword keyword) noexcept;

}  // namespace swizzle::sql
