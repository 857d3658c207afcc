#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/zones.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/text/regexes.h"
#include "sql-lite-frontend/types/functions/text/text_lists.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/regex/regex_options.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Cursor = std::unique_ptr<SetCursor>;

[[noreturn]] void zero_step() {
  throw SqlError{sqlstate::invalid_parameter_value, "step size cannot equal zero"};
}

class IntegerSeries : public SetCursor {
 public:
  IntegerSeries(std::int64_t first, std::int64_t last, std::int64_t step)
      : next_{first}, last_{last}, step_{step} {
    if (step == 0) zero_step();
  }
  std::optional<Value> next(FunctionContext&) override {
    if (done_ || (step_ > 0 ? next_ > last_ : next_ < last_)) return std::nullopt;
    const Value out = Value::from_int(next_);
    done_ = __builtin_add_overflow(next_, step_, &next_);
    return out;
  }

 private:
  std::int64_t next_;
  std::int64_t last_;
  std::int64_t step_;
  bool done_ = false;
};
Cursor integer_series(FunctionContext&, Arguments a) {
  return std::make_unique<IntegerSeries>(a[0].as_int8(), a[1].as_int8(),
                                         a.size() > 2 ? a[2].as_int8() : 1);
}

class NumericSeries : public SetCursor {
 public:
  NumericSeries(const Value& first, const Value& last, const Value& step)
      : next_{first.copy_to(arena_)}, last_{last.copy_to(arena_)}, step_{step.copy_to(arena_)} {
    for (const auto& [value, name] :
         {std::pair{next_, "start"}, {last_, "stop"}, {step_, "step size"}}) {
      if (numeric_is_nan(value))
        throw_error(sqlstate::invalid_parameter_value, "{} value cannot be NaN", name);
      if (numeric_is_infinite(value))
        throw_error(sqlstate::invalid_parameter_value, "{} value cannot be infinity", name);
    }
    if (numeric_sign(step_) == 0) zero_step();
  }
  std::optional<Value> next(FunctionContext& context) override {
    const int order = numeric_compare(next_, last_);
    if (numeric_sign(step_) > 0 ? order > 0 : order < 0) return std::nullopt;
    const Value out = next_.copy_to(context.arena);
    next_ = numeric_add(arena_, next_, step_);
    return out;
  }

 private:
  Arena arena_{256};
  Value next_;
  Value last_;
  Value step_;
};
Cursor numeric_series(FunctionContext&, Arguments a) {
  return std::make_unique<NumericSeries>(a[0], a[1], a.size() > 2 ? a[2] : numeric_from_int(1));
}

enum class Zoned : std::uint8_t { no, yes };
/// Uses the session's zone if `zone` is null.
template <Zoned zoned>
class TimestampSeries : public SetCursor {
 public:
  TimestampSeries(std::int64_t first, std::int64_t last, const Interval& step,
                  std::shared_ptr<const TimeZone> zone)
      : next_{first},
        last_{last},
        step_{step},
        zone_{std::move(zone)},
        direction_{compare_intervals(step, {})} {
    if (direction_ == 0) zero_step();
    if (is_infinite_interval(step)) {
      throw SqlError{sqlstate::invalid_parameter_value, "step size cannot be infinite"};
    }
  }
  std::optional<Value> next(FunctionContext& context) override {
    if (direction_ > 0 ? next_ > last_ : next_ < last_) return std::nullopt;
    const Value out = Value::from_int(next_);
    next_ = zoned == Zoned::no
                ? add_interval(next_, step_)
                : add_interval_in_zone(next_, step_, zone_ ? *zone_ : session_zone(context));
    return out;
  }

 private:
  std::int64_t next_;
  std::int64_t last_;
  Interval step_;
  std::shared_ptr<const TimeZone> zone_;
  int direction_;
};
template <Zoned zoned>
Cursor timestamp_series(FunctionContext&, Arguments a) {
  return std::make_unique<TimestampSeries<zoned>>(
      a[0].as_int8(), a[1].as_int8(), a[2].as_interval(),
      a.size() > 3 ? find_zone(a[3].as_text(), {a[0].as_int8()}) : nullptr);
}

/// Cursor over the elements of an existing list.
class ListCursor : public SetCursor {
 public:
  explicit ListCursor(CountedVector<Value> values) : values_{std::move(values)} {}
  std::optional<Value> next(FunctionContext&) override {
    return next_ < values_.size() ? std::optional{values_[next_++]} : std::nullopt;
  }

 private:
  CountedVector<Value> values_;
  std::size_t next_ = 0;
};

class ElementCursor : public SetCursor {
 public:
  explicit ElementCursor(const Value& array) : view_{array} {}
  std::optional<Value> next(FunctionContext&) override {
    return next_ < view_.size() ? std::optional{view_.element(next_++)} : std::nullopt;
  }

 private:
  ArrayView view_;
  std::size_t next_ = 0;
};
Cursor unnest(FunctionContext&, Arguments a) {
  return std::make_unique<ElementCursor>(a[0]);
}

/// Cursor over rows (x, n): elements numbered from 1.
class NumberedCursor : public SetCursor {
 public:
  explicit NumberedCursor(const Value& array) : view_{array} {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == view_.size()) return std::nullopt;
    const TypeId types[] = {view_.element_type(), TypeId::int4};
    const Value fields[] = {view_.element(next_),
                            Value::from_int(static_cast<std::int64_t>(next_) + 1)};
    ++next_;
    return make_record(context.arena, types, fields);
  }

 private:
  ArrayView view_;
  std::size_t next_ = 0;
};
Cursor numbered_elements(FunctionContext&, Arguments a) {
  return std::make_unique<NumberedCursor>(a[0]);
}

/// Cursor over rows (option_name, option_value) of "name=value"; the value is NULL if absent.
class OptionCursor : public SetCursor {
 public:
  explicit OptionCursor(const Value& array) : view_{array} {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == view_.size()) return std::nullopt;
    const std::string_view option = view_.element(next_++).as_text();
    const std::size_t equals = option.find('=');
    const TypeId types[] = {TypeId::text, TypeId::text};
    const Value fields[] = {Value::from_text(option.substr(0, equals)),
                            equals == std::string_view::npos
                                ? Value::null()
                                : Value::from_text(option.substr(equals + 1))};
    return make_record(context.arena, types, fields);
  }

 private:
  ArrayView view_;
  std::size_t next_ = 0;
};
Cursor options(FunctionContext&, Arguments a) {
  return std::make_unique<OptionCursor>(a[0]);
}

Cursor subscripts(FunctionContext&, Arguments a) {
  const ArrayView view{a[0]};
  const std::int32_t n = a[1].as_int4();
  if (n < 1 || static_cast<std::size_t>(n) > view.dimension_count())
    return std::make_unique<ListCursor>(CountedVector<Value>{});
  const ArrayDimension d = view.dimension(static_cast<std::size_t>(n - 1));
  const std::int64_t upper = std::int64_t{d.lower} + d.length - 1;
  const bool backwards = a.size() > 2 && a[2].as_bool();
  return backwards ? std::make_unique<IntegerSeries>(upper, d.lower, -1)
                   : std::make_unique<IntegerSeries>(d.lower, upper, 1);
}

Cursor split_to_table(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return std::make_unique<ListCursor>(CountedVector<Value>{});
  return std::make_unique<ListCursor>(split_text(context.arena, a));
}

class MatchCursor : public SetCursor {
 public:
  MatchCursor(FunctionContext& context, Arguments a, const RegexFlags& flags)
      : text_{a[0].as_text()},
        matches_{context, text_, a[1].as_text(), flags.pattern},
        global_{flags.global} {}
  std::optional<Value> next(FunctionContext& context) override {
    if (done_) return std::nullopt;
    done_ = !global_;
    const auto match = matches_.next(context.session);
    if (!match) return std::nullopt;
    return match_as_array(context.arena, text_, *match);
  }

 private:
  std::string_view text_;
  RegexMatches matches_;
  bool global_;
  bool done_ = false;
};
/// Returns the flags of a call, with the letters of bytes.
RegexFlags flags_of_rows(Arguments a) {
  RegexFlags flags = split_flags(a.size() > 2 ? a[2].as_text() : "");
  flags.pattern += regex_flag_of(Letters::ascii);
  return flags;
}

Cursor regexp_matches(FunctionContext& context, Arguments a) {
  return std::make_unique<MatchCursor>(context, a, flags_of_rows(a));
}

class SplitCursor : public SetCursor {
 public:
  SplitCursor(FunctionContext& context, Arguments a, const RegexFlags& flags)
      : text_{a[0].as_text()}, matches_{context, text_, a[1].as_text(), flags.pattern} {}
  std::optional<Value> next(FunctionContext& context) override {
    if (done_) return std::nullopt;
    while (const auto match = matches_.next(context.session)) {
      const auto whole = match->front();
      if (whole.begin == whole.end && (whole.begin == copied_ || whole.end == text_.size()))
        continue;
      const Value out = Value::from_text(text_.substr(copied_, whole.begin - copied_));
      copied_ = whole.end;
      return out;
    }
    done_ = true;
    return Value::from_text(text_.substr(copied_));
  }

 private:
  std::string_view text_;
  RegexMatches matches_;
  std::size_t copied_ = 0;
  bool done_ = false;
};
Cursor split_into_rows(FunctionContext& context, Arguments a) {
  const RegexFlags flags = flags_of_rows(a);
  if (flags.global)
    throw SqlError{sqlstate::invalid_parameter_value,
                   "regexp_split_to_table() does not support the \"global\" option"};
  return std::make_unique<SplitCursor>(context, a, flags);
}

constexpr SetEntry kSetsEntries[] = {
    {"generate_series(int4,int4)", &integer_series},
    {"generate_series(int4,int4,int4)", &integer_series},
    {"generate_series(int8,int8)", &integer_series},
    {"generate_series(int8,int8,int8)", &integer_series},
    {"generate_series(numeric,numeric)", &numeric_series},
    {"generate_series(numeric,numeric,numeric)", &numeric_series},
    {"generate_series(timestamp,timestamp,interval)", &timestamp_series<Zoned::no>},
    {"generate_series(timestamptz,timestamptz,interval)", &timestamp_series<Zoned::yes>},
    {"generate_series(timestamptz,timestamptz,interval,text)", &timestamp_series<Zoned::yes>},
    {"generate_subscripts(anyarray,int4)", &subscripts},
    {"generate_subscripts(anyarray,int4,bool)", &subscripts},
    {"unnest(anyarray)", &unnest},
    {"_pg_expandarray(anyarray)", &numbered_elements},
    {"pg_options_to_table(_text)", &options},
    {"string_to_table(text,text)", &split_to_table},
    {"string_to_table(text,text,text)", &split_to_table},
    {"regexp_matches(text,text)", &regexp_matches},
    {"regexp_matches(text,text,text)", &regexp_matches},
    {"regexp_split_to_table(text,text)", &split_into_rows},
    {"regexp_split_to_table(text,text,text)", &split_into_rows},
};

}  // namespace

std::span<const SetEntry> set_functions() {
  return kSetsEntries;
}

}  // namespace swizzle::sql
