#include "sql-lite-frontend/types/datetime/time_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "base/bytes.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kDatabase = "/usr/share/zoneinfo";

std::int64_t unix_from_timestamp(std::int64_t timestamp) noexcept {
  return floor_div(timestamp, kMicrosPerSecond) + kUnixEpochSeconds;
}

}  // namespace

/// Reads a POSIX TZ rule: "CET-1CEST,M3.5.0,M10.5.0/3".
class PosixRuleParser {
 public:
  explicit PosixRuleParser(std::string_view text) : rest_{text} {}

  std::optional<TimeZone::Rule> parse() {
    TimeZone::Rule rule;
    take_name(rule.standard.abbreviation);  // "+3" alone is a rule without a name
    const auto west = take_time();
    if (!west) return std::nullopt;
    rule.standard.seconds_east = -*west;
    if (rest_.empty()) return rule;
    TimeZone::Type daylight{rule.standard.seconds_east + 3600, true, {}};
    if (!take_name(daylight.abbreviation)) return std::nullopt;
    if (!rest_.empty() && rest_.front() != ',') {
      const auto daylight_west = take_time();
      if (!daylight_west) return std::nullopt;
      daylight.seconds_east = -*daylight_west;
    }
    // A POSIX zone without rules uses those of the United States.
    if (rest_.empty()) rest_ = ",M3.2.0,M11.1.0";
    const auto begin = take_change();
    const auto end = begin ? take_change() : std::nullopt;
    if (!end || !rest_.empty()) return std::nullopt;
    rule.daylight = std::move(daylight);
    rule.begin = *begin;
    rule.end = *end;
    return rule;
  }

 private:
  bool take_name(std::string& name) {
    if (rest_.starts_with('<')) {
      const std::size_t end = rest_.find('>');
      if (end == std::string_view::npos) return false;
      name = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
      return true;
    }
    std::size_t size = 0;
    while (size < rest_.size() && is_alpha(rest_[size])) ++size;
    if (size == 0) return false;
    name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::optional<int> take_number() {
    std::size_t size = 0;
    int number = 0;
    while (size < rest_.size() && size < 4 && is_digit(rest_[size]))
      number = number * 10 + (rest_[size++] - '0');
    if (size == 0) return std::nullopt;
    rest_.remove_prefix(size);
    return number;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<std::int32_t> take_time() {
    const bool negative = take('-');
    if (!negative) take('+');
    const auto hours = take_number();
    if (!hours || *hours > 167) return std::nullopt;
    std::int32_t seconds = *hours * 3600;
    for (const int unit : {60, 1}) {
      if (!take(':')) break;
      const auto part = take_number();
      if (!part || *part > 59) return std::nullopt;
      seconds += *part * unit;
    }
    return negative ? -seconds : seconds;
  }

  std::optional<TimeZone::Change> take_change() {
    using Kind = TimeZone::Change::Kind;
    if (!take(',')) return std::nullopt;
    TimeZone::Change change;
    if (take('M')) {
      change.kind = Kind::month_week_day;
      const auto month = take_number();
      const auto week = month && take('.') ? take_number() : std::nullopt;
      const auto day = week && take('.') ? take_number() : std::nullopt;
      if (!day || *month < 1 || *month > 12 || *week < 1 || *week > 5 || *day > 6)
        return std::nullopt;
      change.month = *month;
      change.week = *week;
      change.day = *day;
    } else {
      change.kind = take('J') ? Kind::julian : Kind::zero_based;
      const auto day = take_number();
      if (!day) return std::nullopt;
      change.day = *day;
    }
    if (take('/')) {
      const auto time = take_time();
      if (!time) return std::nullopt;
      change.seconds = *time;
    }
    return change;
  }

  std::string_view rest_;
};

/// Reads the compiled form of a zone (RFC 8536).
class TimeZoneReader {
 public:
  static std::shared_ptr<TimeZone> read(const std::string& path, std::string name) {
    // "America" is a folder.
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return nullptr;
    std::ifstream file{path, std::ios::binary};
    const std::string data{std::istreambuf_iterator<char>{file}, {}};
    return file ? read(as_bytes(data), std::move(name)) : nullptr;
  }
  static std::shared_ptr<TimeZone> read(Bytes file, std::string name) {
    TimeZoneReader reader{file};
    auto zone = std::make_shared<TimeZone>();
    zone->name_ = std::move(name);
    if (!reader.fill(*zone)) return nullptr;
    return zone;
  }

 private:
  struct Header {
    std::size_t utc_flags, standard_flags, leaps, transitions, types, characters;
    [[nodiscard]] std::size_t body_bytes(std::size_t time_bytes) const {
      return transitions * (time_bytes + 1) + types * 6 + characters + leaps * (time_bytes + 4) +
             standard_flags + utc_flags;
    }
  };
  static constexpr std::size_t kHeaderBytes = 44;

  explicit TimeZoneReader(Bytes bytes) : rest_{bytes} {}

  std::uint32_t word(std::size_t offset) const {
    return load_big_endian<std::uint32_t>(rest_.data() + offset);
  }

  std::optional<Header> header() const {
    if (rest_.size() < kHeaderBytes || as_text(rest_.first(4)) != "TZif") return std::nullopt;
    return Header{word(20), word(24), word(28), word(32), word(36), word(40)};
  }

  bool fill(TimeZone& zone) {
    auto head = header();
    if (!head) return false;
    // The first block holds 32-bit times; every current file repeats it with 64-bit times.
    const std::size_t skipped = kHeaderBytes + head->body_bytes(4);
    if (rest_[4] == std::byte{0} || rest_.size() < skipped) return false;
    rest_ = rest_.subspan(skipped);
    head = header();
    if (!head || rest_.size() < kHeaderBytes + head->body_bytes(8) || head->types == 0)
      return false;
    rest_ = rest_.subspan(kHeaderBytes);
    const std::size_t indexes = head->transitions * 8;
    const std::size_t types = indexes + head->transitions;
    const std::size_t characters = types + head->types * 6;
    for (std::size_t i = 0; i < head->types; ++i) {
      const std::size_t at = types + i * 6;
      const auto name_at = std::to_integer<std::size_t>(rest_[at + 5]);
      if (name_at >= head->characters) return false;
      const std::string_view names = as_text(rest_.subspan(characters, head->characters));
      const std::string_view abbreviation =
          names.substr(name_at, names.find('\0', name_at) - name_at);
      zone.types_.push_back({static_cast<std::int32_t>(word(at)), rest_[at + 4] != std::byte{0},
                             std::string{abbreviation}});
    }
    for (std::size_t i = 0; i < head->transitions; ++i) {
      const auto type = std::to_integer<std::uint8_t>(rest_[indexes + i]);
      if (type >= zone.types_.size()) return false;
      zone.transitions_.push_back(
          static_cast<std::int64_t>(load_big_endian<std::uint64_t>(rest_.data() + i * 8)));
      zone.transition_types_.push_back(type);
    }
    std::string_view footer = as_text(rest_.subspan(head->body_bytes(8)));
    if (footer.starts_with('\n')) footer.remove_prefix(1);
    footer = footer.substr(0, footer.find('\n'));
    if (!footer.empty()) zone.rule_ = PosixRuleParser{footer}.parse();
    return true;
  }

  Bytes rest_;
};

std::shared_ptr<const TimeZone> TimeZone::read(std::string name, Bytes file) {
  return TimeZoneReader::read(file, std::move(name));
}

std::int64_t TimeZone::change_seconds(const Change& change, std::int64_t year) noexcept {
  std::int64_t day = 0;
  switch (change.kind) {
    case Change::Kind::julian:  // 29 February is never counted
      day = days_from_civil({year, 1, 1}) + change.day - 1 +
            (is_leap_year(year) && change.day > 59 ? 1 : 0);
      break;
    case Change::Kind::zero_based:
      day = days_from_civil({year, 1, 1}) + change.day;
      break;
    case Change::Kind::month_week_day: {
      const std::int64_t first = days_from_civil({year, change.month, 1});
      const int offset = (change.day - day_of_week(first) + 7) % 7 + (change.week - 1) * 7;
      day = first + (offset >= days_in_month(year, change.month) ? offset - 7 : offset);
      break;
    }
  }
  return (day + kUnixEpochDays) * kSecondsPerDay + change.seconds;
}

const TimeZone::Type& TimeZone::rule_type_at(std::int64_t unix_seconds) const noexcept {
  if (!rule_->daylight) return rule_->standard;
  const std::int64_t local = unix_seconds + rule_->standard.seconds_east;
  const std::int64_t year = civil_from_days(floor_div(local, kSecondsPerDay) - kUnixEpochDays).year;
  const std::int64_t begin = change_seconds(rule_->begin, year) - rule_->standard.seconds_east;
  const std::int64_t end = change_seconds(rule_->end, year) - rule_->daylight->seconds_east;
  const bool daylight = begin < end ? unix_seconds >= begin && unix_seconds < end
                                    : unix_seconds >= begin || unix_seconds < end;
  return daylight ? *rule_->daylight : rule_->standard;
}

const TimeZone::Type& TimeZone::type_at(std::int64_t unix_seconds) const noexcept {
  if (rule_ && (transitions_.empty() || unix_seconds >= transitions_.back()))
    return rule_type_at(unix_seconds);
  const auto next = std::ranges::upper_bound(transitions_, unix_seconds);
  if (next != transitions_.begin())
    return types_[transition_types_[static_cast<std::size_t>(next - transitions_.begin()) - 1]];
  return types_.front();
}

std::optional<std::int64_t> TimeZone::next_change(std::int64_t unix_seconds) const noexcept {
  const auto next = std::ranges::upper_bound(transitions_, unix_seconds);
  if (next != transitions_.end()) return *next;
  if (!rule_ || !rule_->daylight) return std::nullopt;
  const std::int64_t year =
      civil_from_days(floor_div(unix_seconds, kSecondsPerDay) - kUnixEpochDays).year;
  std::optional<std::int64_t> soonest;
  for (std::int64_t y = year - 1; y <= year + 1; ++y) {
    for (const std::int64_t at : {change_seconds(rule_->begin, y) - rule_->standard.seconds_east,
                                  change_seconds(rule_->end, y) - rule_->daylight->seconds_east})
      if (at > unix_seconds && (!soonest || at < *soonest)) soonest = at;
  }
  return soonest;
}

TimeZone::Offset TimeZone::at_utc(std::int64_t timestamp) const noexcept {
  const Type& type = type_at(unix_from_timestamp(timestamp));
  return {type.seconds_east, type.is_daylight, type.abbreviation};
}

std::optional<std::int32_t> TimeZone::meaning_of(std::string_view abbreviation,
                                                 std::int64_t timestamp) const noexcept {
  const auto behind = static_cast<std::size_t>(
      std::ranges::upper_bound(transitions_, unix_from_timestamp(timestamp)) -
      transitions_.begin());
  const auto offset_behind = [&](std::size_t transition) -> std::optional<std::int32_t> {
    const Type& type = types_[transition_types_[transition]];
    if (!equals_ignoring_case(type.abbreviation, abbreviation)) return std::nullopt;
    return type.seconds_east;
  };
  for (std::size_t i = behind; i-- > 0;) {
    if (const auto offset = offset_behind(i)) return offset;
  }
  for (std::size_t i = behind; i < transitions_.size(); ++i) {
    if (const auto offset = offset_behind(i)) return offset;
  }
  return std::nullopt;
}

std::optional<ZoneAbbreviation> TimeZone::abbreviation(std::string_view name) const noexcept {
  std::optional<ZoneAbbreviation> found;
  for (const Type& type : types_) {
    if (!equals_ignoring_case(type.abbreviation, name)) continue;
    if (!found) {
      found = {type.abbreviation, type.seconds_east, type.is_daylight};
    } else if (found->seconds_east != type.seconds_east || found->is_daylight != type.is_daylight) {
      found->zone = name_;
    }
  }
  return found;
}

std::vector<ZoneAbbreviation> TimeZone::abbreviations() const {
  std::vector<ZoneAbbreviation> all;
  for (const Type& type : types_) {
    if (std::ranges::find(all, type.abbreviation, &ZoneAbbreviation::name) != all.end()) continue;
    if (const auto found = abbreviation(type.abbreviation)) all.push_back(*found);
  }
  return all;
}

TimeZone::Offset TimeZone::at_local(std::int64_t local) const noexcept {
  const std::int64_t seconds = unix_from_timestamp(local);
  // One day earlier is before any change that could matter, regardless of the offset.
  const std::int64_t earlier = seconds - kSecondsPerDay;
  const Type& before = type_at(earlier);
  const auto boundary = next_change(earlier);
  const Type* chosen = &before;
  if (boundary) {
    const Type& after = type_at(*boundary);
    const std::int64_t by_before = seconds - before.seconds_east;
    const std::int64_t by_after = seconds - after.seconds_east;
    if (by_before < *boundary && by_after < *boundary)
      chosen = &before;
    else if (by_before > *boundary && by_after >= *boundary)
      chosen = &after;
    else
      chosen = by_before > by_after ? &before : &after;
  }
  return {chosen->seconds_east, chosen->is_daylight, chosen->abbreviation};
}

namespace {

/// The file name with the spelling of the database, found one directory after the other.
std::optional<std::string> real_name(std::string_view wanted) {
  std::string found;
  std::filesystem::path folder{kDatabase};
  while (true) {
    const std::size_t slash = wanted.find('/');
    const std::string_view part = wanted.substr(0, slash);
    std::error_code error;
    bool matched = false;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
      const std::string name = entry.path().filename();
      if (!equals_ignoring_case(name, part)) continue;
      folder = entry.path();
      found += found.empty() ? name : "/" + name;
      matched = true;
      break;
    }
    if (!matched) return std::nullopt;
    if (slash == std::string_view::npos) return found;
    wanted.remove_prefix(slash + 1);
  }
}

bool is_plausible_name(std::string_view name) {
  return !name.empty() && name.size() < 100 && is_alpha(name.front()) &&
         std::ranges::all_of(
             name,
             [](char c) {
               return is_alpha(c) || is_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
             });
}

/// Zones are read once per process; the database does not change under a running server.
struct Cache {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const TimeZone>, std::less<>> zones;
};

Cache& cache() {
  static Cache shared;
  return shared;
}

std::string lower_case(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), to_lower);
  return out;
}

}  // namespace

std::shared_ptr<const TimeZone> TimeZone::find(std::string_view name) {
  // PostgreSQL's limit. Longer names would fill the cache with what a client makes up.
  constexpr std::size_t kLongestName = 255;
  if (name.size() > kLongestName) return nullptr;
  const std::string key = lower_case(name);
  Cache& shared = cache();
  {
    const std::lock_guard guard{shared.mutex};
    if (const auto found = shared.zones.find(key); found != shared.zones.end())
      return found->second;
  }
  std::shared_ptr<const TimeZone> zone;
  if (is_plausible_name(name)) {
    if (const auto file = real_name(name))
      zone = TimeZoneReader::read(fmt::format("{}/{}", kDatabase, *file), *file);
  }
  if (!zone) {
    // A rule is kept in capitals, as drivers that read "GMT-3" expect it.
    std::string capitals{name};
    std::ranges::transform(capitals, capitals.begin(), to_upper);
    auto rule = PosixRuleParser{capitals}.parse();
    if (!rule) return nullptr;
    auto made = std::make_shared<TimeZone>();
    made->name_ = std::move(capitals);
    made->types_.push_back(rule->standard);
    made->rule_ = std::move(rule);
    zone = std::move(made);
  }
  const std::lock_guard guard{shared.mutex};
  // A peer chooses names; a bound keeps made-up rules from filling memory.
  if (shared.zones.size() < 2000) shared.zones.emplace(key, zone);
  return zone;
}

std::shared_ptr<const TimeZone> TimeZone::utc() {
  static const std::shared_ptr<const TimeZone> zone = [] {
    auto made = std::make_shared<TimeZone>();
    made->name_ = "UTC";
    made->types_.push_back({0, false, "UTC"});
    return made;
  }();
  return zone;
}

std::shared_ptr<const TimeZone> TimeZone::fixed(std::int32_t seconds_east) {
  const auto spell = [](std::int32_t seconds) {
    const std::int32_t size = seconds < 0 ? -seconds : seconds;
    std::string out = fmt::format("{}{:02}", seconds < 0 ? '-' : '+', size / 3600);
    if (size % 3600 != 0) out += fmt::format(":{:02}", size / 60 % 60);
    if (size % 60 != 0) out += fmt::format(":{:02}", size % 60);
    return out;
  };
  auto made = std::make_shared<TimeZone>();
  const std::string east = spell(seconds_east);
  made->name_ = fmt::format("<{}>{}", east, spell(-seconds_east));
  made->types_.push_back({seconds_east, false, east});
  return made;
}

std::vector<std::string> TimeZone::names() {
  std::vector<std::string> out;
  std::error_code error;
  using Iterator = std::filesystem::recursive_directory_iterator;
  for (Iterator it{kDatabase, error}; it != Iterator{}; it.increment(error)) {
    if (error) break;
    const std::string name = it->path().lexically_relative(kDatabase);
    if (it->is_directory() && (name == "posix" || name == "right")) it.disable_recursion_pending();
    if (it->is_regular_file() && is_plausible_name(name) && is_upper(name.front()))
      out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace swizzle::sql
