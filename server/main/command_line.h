#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/settings/settings.h"
#include "server/main/ping.h"
#include "server/main/restore_request.h"

namespace swizzle::server {

enum class Command {
  serve,
  init,
  stop,
  status,
  reload,
  promote,
  rewind,
  control,
  recover,
  ping,
  show_setting,
  list_settings
};

/// The parsed command line of `swizzled`.
struct CommandLine {
  Command command = Command::serve;
  std::string directory;
  std::string config_file;    ///< of serve and recover; empty: the directory's own
  std::string shown_setting;  ///< of show_setting
  PingTarget ping;
  std::string user;
  std::string password_file;
  std::string service_user;
  int stop_signal = 0;
  bool peer_only = false;
  std::string primary;          ///< of init and rewind: primary server of the new standby
  std::string slot;             ///< of init with `primary`: replication slot
  bool waits = true;            ///< of promote
  std::string locale_provider;  ///< of init
  std::string icu_locale;
  std::vector<SettingAssignment> overrides;
  RestoreRequest restore;  ///< of serve, if it names backups
  std::optional<int>
      exit_code;  ///< set if the command line has been answered already (help) or is invalid
};

CommandLine read_command_line(int count, const char* const* words);

}  // namespace swizzle::server
