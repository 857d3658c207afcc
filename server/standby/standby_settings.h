#pragma once

#include <optional>
#include <string>

#include "base/runtime/runtime.h"
#include "base/settings/settings.h"

namespace swizzle::server {

/// Settings that are read before there is a database.
struct StandbySettings {
  /// A connection string of libpq; empty: nobody is followed until it is set.
  std::string primary;
  /// Command that fetches a segment of the log from the archive; empty: there is none.
  std::string restore_command;
  std::string slot;    ///< of the primary; empty: none
  Duration timeout{};  ///< without a word of the primary the connection is given up; zero: never
  Duration status_interval{};
  Duration retry_interval{};
  bool serves_readers = false;  ///< hot_standby
  /// How long replay waits for readers; none: for as long as it takes.
  std::optional<Duration> readers_patience;

  bool operator==(const StandbySettings&) const = default;
};

/// `known` has the settings of sessions.
StandbySettings standby_settings(const Settings& known);

}  // namespace swizzle::server
