#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace swizzle::sql {

/// A command of the replication protocol that is not SQL.
struct ReplicationCommand {
  enum class Kind : std::uint8_t {
    identify_system,
    timeline_history,
    create_slot,
    read_slot,
    drop_slot,
    start,
    base_copy,
  } kind;
  /// create_slot, start: of the log as it is, for a server that follows.
  bool is_physical = false;
  std::string slot = {};
  std::string plugin = {};
  bool is_temporary = false;
  std::string snapshot = "export";  ///< create_slot: or "use", "nothing"
  bool waits = false;               ///< drop_slot
  Lsn from = Lsn::none;             ///< start
  std::uint32_t timeline = 0;       ///< timeline_history, start; 0: the present one
  bool reserves_log = false;        ///< create_slot, physical: keeps the log from now on
  /// start: the options for the plugin.
  std::vector<std::pair<std::string, std::string>> options = {};

  [[nodiscard]] std::string_view tag() const noexcept;
};

/// Returns nothing if the text is SQL. Throws 42601 for a text that begins like a command and is
/// none, 0A000 for BASE_BACKUP.
std::optional<ReplicationCommand> parse_replication_command(std::string_view text);

/// Options of START_REPLICATION for pgoutput.
struct OutputOptions {
  std::vector<std::string> publications;
  bool messages = false;  ///< of pg_logical_emit_message, too
};
/// 22023, 0A000.
OutputOptions output_options(const ReplicationCommand& command);

}  // namespace swizzle::sql
