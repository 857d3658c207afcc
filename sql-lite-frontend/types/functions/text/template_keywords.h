#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"

namespace swizzle::sql {

/// Convention by which a keyword counts days. A template has keywords of one convention.
enum class DateConvention : std::uint8_t { none, gregorian, iso_week };
enum class MomentPart : std::uint8_t { none, date, time, zone };

/// Properties of a template's keyword that a reader needs.
struct KeywordTraits {
  MomentPart part;
  bool is_number;  ///< so that a number before it must know where it ends
  DateConvention convention = DateConvention::none;
};

KeywordTraits traits_of(TemplateNode::Keyword keyword) noexcept;

}  // namespace swizzle::sql
