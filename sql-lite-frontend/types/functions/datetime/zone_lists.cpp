#include <cctype>
#include <string>
#include <vector>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/record/record.h"

/// pg_timezone_names(), pg_timezone_abbrevs_zone() and pg_timezone_abbrevs_abbrevs(): the names
/// known to SET TIME ZONE and inputs of times.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value offset_value(FunctionContext& context, std::int32_t seconds_east) {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  return make_interval(context.arena, {seconds_east * kMicroseconds, 0, 0});
}

/// Returns every zone with its offset at the start of the transaction.
class Zones final : public SetCursor {
 public:
  std::optional<Value> next(FunctionContext& context) override {
    while (at_ < names_.size()) {
      const auto zone = TimeZone::find(names_[at_++]);
      if (!zone) continue;
      const TimeZone::Offset offset = zone->at_utc(context.session.transaction_timestamp);
      constexpr TypeId kTypes[] = {TypeId::text, TypeId::text, TypeId::interval, TypeId::bool_};
      const Value fields[] = {
          make_text(context.arena, zone->name()), make_text(context.arena, offset.abbreviation),
          offset_value(context, offset.seconds_east), Value::from_bool(offset.is_daylight)};
      return make_record(context.arena, kTypes, fields);
    }
    return std::nullopt;
  }

 private:
  std::vector<std::string> names_ = TimeZone::names();
  std::size_t at_ = 0;
};

/// Returns abbreviations: those of the session's zone, or those that all sessions know.
template <bool of_zone>
class Abbreviations final : public SetCursor {
 public:
  std::optional<Value> next(FunctionContext& context) override {
    if (of_zone && at_ == 0) own_ = session_zone(context).abbreviations();
    const std::span<const ZoneAbbreviation> all = of_zone ? own_ : zone_abbreviations();
    if (at_ == all.size()) return std::nullopt;
    const ZoneAbbreviation& abbreviation = all[at_++];
    std::string upper{abbreviation.name};
    for (char& letter : upper) {
      letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
    constexpr TypeId kTypes[] = {TypeId::text, TypeId::interval, TypeId::bool_};
    const Value fields[] = {make_text(context.arena, upper),
                            offset_value(context, abbreviation.seconds_east),
                            Value::from_bool(abbreviation.is_daylight)};
    return make_record(context.arena, kTypes, fields);
  }

 private:
  std::vector<ZoneAbbreviation> own_;
  std::size_t at_ = 0;
};

template <class Cursor>
std::unique_ptr<SetCursor> list(FunctionContext&, Arguments) {
  return std::make_unique<Cursor>();
}

constexpr SetEntry kZoneSets[] = {
    {"pg_timezone_names()", &list<Zones>},
    {"pg_timezone_abbrevs_abbrevs()", &list<Abbreviations<false>>},
    {"pg_timezone_abbrevs_zone()", &list<Abbreviations<true>>},
};

}  // namespace

std::span<const SetEntry> zone_functions() {
  return kZoneSets;
}

}  // namespace swizzle::sql
