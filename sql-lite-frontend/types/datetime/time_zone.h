#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace swizzle::sql {

/// Abbreviation accepted in input ("PST", "CEST", "Z"), in any case.
struct ZoneAbbreviation {
  std::string_view name;
  std::int32_t seconds_east;
  bool is_daylight;
  std::string_view zone = {};  ///< zone that determines the meaning at a time; empty: fixed

  /// Returns the offset at a local time.
  [[nodiscard]] std::int32_t at_local(std::int64_t local) const;
  [[nodiscard]] std::int32_t at_utc(std::int64_t timestamp) const;
};

/// A zone of the system's time zone database, or a fixed offset. Immutable, shared by sessions.
class TimeZone {
 public:
  struct Offset {
    std::int32_t seconds_east = 0;
    bool is_daylight = false;
    std::string_view abbreviation;  ///< lives as long as the zone
  };

  /// Finds a zone by its name in any case, or a POSIX rule ("EST5EDT,M3.2.0,M11.1.0"); cached.
  /// Returns null if there is none. Thread-safe.
  static std::shared_ptr<const TimeZone> find(std::string_view name);
  static std::shared_ptr<const TimeZone> utc();
  /// Parses a compiled zone file (RFC 8536). Null if it is invalid.
  static std::shared_ptr<const TimeZone> read(std::string name, Bytes file);
  /// Returns the zone of SET TIME ZONE with a number of hours, named e.g. "<-03>+03".
  static std::shared_ptr<const TimeZone> fixed(std::int32_t seconds_east);
  /// Returns the names of all zones, for pg_timezone_names.
  static std::vector<std::string> names();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// `timestamp` counts microseconds from 2000-01-01 UTC.
  [[nodiscard]] Offset at_utc(std::int64_t timestamp) const noexcept;
  /// Returns the offset at a local time. In a gap, that before the gap; in a repeated hour, that of
  /// the second (standard time) one.
  [[nodiscard]] Offset at_local(std::int64_t local) const noexcept;
  /// Returns the offset that the abbreviation had in this zone: at its last use before that time,
  /// or else its first use after it. Nothing if it was never used.
  [[nodiscard]] std::optional<std::int32_t> meaning_of(std::string_view abbreviation,
                                                       std::int64_t timestamp) const noexcept;
  /// Finds an abbreviation that the zone has ever had, in any case. Valid as long as the zone.
  [[nodiscard]] std::optional<ZoneAbbreviation> abbreviation(std::string_view name) const noexcept;
  /// Returns each of them once.
  [[nodiscard]] std::vector<ZoneAbbreviation> abbreviations() const;

 private:
  struct Type {
    std::int32_t seconds_east = 0;
    bool is_daylight = false;
    std::string abbreviation;
  };
  /// Date and time of a yearly change, as in "M3.2.0/2".
  struct Change {
    enum class Kind : std::uint8_t { julian, zero_based, month_week_day } kind = Kind::julian;
    int day = 0;
    int week = 0;
    int month = 0;
    std::int32_t seconds = 7200;
  };
  struct Rule {
    Type standard;
    std::optional<Type> daylight;
    Change begin;
    Change end;
  };

  friend class TimeZoneReader;
  friend class PosixRuleParser;

  [[nodiscard]] const Type& type_at(std::int64_t unix_seconds) const noexcept;
  /// Returns the first change after the time, or nothing.
  [[nodiscard]] std::optional<std::int64_t> next_change(std::int64_t unix_seconds) const noexcept;
  static std::int64_t change_seconds(const Change& change, std::int64_t year) noexcept;
  [[nodiscard]] const Type& rule_type_at(std::int64_t unix_seconds) const noexcept;

  std::string name_;
  std::vector<std::int64_t> transitions_;  ///< unix seconds, ascending
  std::vector<std::uint8_t> transition_types_;
  std::vector<Type> types_;
  std::optional<Rule> rule_;  ///< for times after the last transition
};

/// Returns all abbreviations, in lower case.
std::span<const ZoneAbbreviation> zone_abbreviations() noexcept;
const ZoneAbbreviation* find_zone_abbreviation(std::string_view name) noexcept;
/// The same for a session: the abbreviations of its zone come first.
std::optional<ZoneAbbreviation> find_zone_abbreviation(const TimeZone& session,
                                                       std::string_view name) noexcept;

}  // namespace swizzle::sql
