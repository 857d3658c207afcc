#include "server/standby/standby_settings.h"

namespace swizzle::server {

StandbySettings standby_settings(const Settings& known) {
  StandbySettings settings;
  settings.primary = known.text("primary_conninfo");
  settings.restore_command = known.text("restore_command");
  settings.slot = known.text("primary_slot_name");
  settings.timeout = std::chrono::milliseconds{known.integer("wal_receiver_timeout")};
  settings.status_interval = std::chrono::seconds{known.integer("wal_receiver_status_interval")};
  settings.retry_interval = std::chrono::milliseconds{known.integer("wal_retrieve_retry_interval")};
  settings.serves_readers = known.boolean("hot_standby");
  const std::int64_t delay = known.integer("max_standby_streaming_delay");
  if (delay >= 0) settings.readers_patience = std::chrono::milliseconds{delay};
  return settings;
}

}  // namespace swizzle::server
