#pragma once

#include <string>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

/// PostgreSQL's text formats, by the session's DateStyle and IntervalStyle. All functions append.
namespace swizzle::sql {

void append_date(std::string& out, std::int32_t date, const FormatSettings& format);
void append_time(std::string& out, std::int64_t micros);
void append_timetz(std::string& out, const TimeTz& time);
void append_timestamp(std::string& out, std::int64_t timestamp, const FormatSettings& format);
void append_timestamptz(std::string& out, std::int64_t timestamp, const FormatSettings& format);
void append_interval(std::string& out, const Interval& interval, IntervalStyle style);

/// Appends "+02", "-08:30", "+05:30:15".
void append_zone_offset(std::string& out, std::int32_t seconds_east);

}  // namespace swizzle::sql
