#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace swizzle::sql {

/// Parsed command of the replication protocol.
struct ReplicationCommand {
  enum class Kind : std::uint8_t {
    identify_system,
    timeline_history,
    create_slot,
    read_slot,
    drop_slot,
    start,
    base_copy,
    page_lsns,
  } kind;
  /// True for physical replication, for a standby; in create_slot and start.
  bool is_physical = false;
  std::string slot = {};
  std::string plugin = {};
  bool is_temporary = false;
  bool two_phase = false;           ///< create_slot
  std::string snapshot = "export";  ///< create_slot: "export", "use" or "nothing"
  bool waits = false;               ///< drop_slot
  Lsn from = Lsn::none;             ///< start
  std::uint32_t timeline = 0;       ///< timeline_history, start; 0: the current one
  std::uint64_t first_page = 0;     ///< page_lsns
  std::string page_lsns = {};       ///< 16 hexadecimal digits for each page
  bool reserves_log = false;        ///< create_slot of a physical slot: the log is kept from now on
  /// start: options of the output plugin.
  std::vector<std::pair<std::string, std::string>> options = {};

  [[nodiscard]] std::string_view tag() const noexcept;
};

/// Parses a command. Returns nothing if the text is SQL. Throws 42601 for a malformed command and
/// 0A000 for BASE_BACKUP.
std::optional<ReplicationCommand> parse_replication_command(std::string_view text);

/// Options of pgoutput in START_REPLICATION.
struct OutputOptions {
  std::vector<std::string> publications;
  bool messages = false;  ///< also sends the messages of pg_logical_emit_message
  /// Leaves out the transactions that subscriptions of this server have applied.
  bool only_own = false;
  bool binary = false;  ///< values in their binary form
  /// Large transactions come before they commit. Subscribers that apply them meanwhile are told
  /// more of those that roll back.
  enum class Streaming : std::uint8_t { off, on, parallel } streaming = Streaming::off;
  bool two_phase = false;  ///< prepared transactions come when they are prepared
};
/// Reads the options of the command. Throws SqlError 22023 or 0A000.
OutputOptions output_options(const ReplicationCommand& command);

}  // namespace swizzle::sql
