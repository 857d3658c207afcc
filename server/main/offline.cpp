#include "server/main/offline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/io/posix_file_system.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "storage/engine.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/standby/standby.h"

namespace swizzle::server {
namespace {

std::string lsn_words(Lsn lsn) {
  return fmt::format("{:X}/{:X}", raw(lsn) >> 32U, raw(lsn) & UINT32_MAX);
}

/// The name of the segment that holds `lsn`, as pg_walfile_name() has it.
std::string segment_words(const Control& control, Lsn lsn) {
  const std::uint64_t number = raw(lsn) / control.log_segment_bytes;
  const std::uint64_t in_one = (std::uint64_t{1} << 32U) / control.log_segment_bytes;
  return fmt::format("{:08X}{:08X}{:08X}", control.timeline, number / in_one, number % in_one);
}

std::string time_words(std::int64_t us) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  const std::time_t seconds = us / kMicrosPerSecond;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[64];
  return std::string{text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts)};
}

/// State words of pg_controldata.
std::string_view state_words(const Control& control, bool is_standby, bool is_running) {
  if (is_standby) return is_running ? "in archive recovery" : "shut down in recovery";
  const bool is_closed = !is_running && control.shutdown == Control::Shutdown::clean;
  // A server that was killed leaves its state behind.
  return is_closed ? "shut down" : "in production";
}

struct ControlFacts {
  Control control;
  bool is_standby = false;
  bool is_running = false;
  Lsn log_end = Lsn::none;  ///< of a standby
};

Result<ControlFacts> control_facts(const DataDirectory& directory) {
  PosixFileSystem files;
  ControlFacts facts;
  ASSIGN_OR_RETURN(const auto server, find_running(directory));
  facts.is_running = server.has_value();
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, directory.engine()));
  facts.control = control->current();
  ASSIGN_OR_RETURN(facts.is_standby, Standby::is_in(files, directory.engine()));
  facts.is_standby = facts.is_standby || (facts.control.shutdown == Control::Shutdown::backup &&
                                          std::filesystem::exists(directory.standby_signal()));
  if (facts.is_standby) {
    ASSIGN_OR_RETURN(facts.log_end, Standby::log_end(files, directory.engine()));
  }
  return facts;
}

class Report {
 public:
  void add(std::string_view name, std::string_view value) {
    constexpr std::size_t kWidth = 38;
    text_ += fmt::format("{:<{}}{}\n", fmt::format("{}:", name), kWidth, value);
  }
  void add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

Result<> define_all_settings(Settings& settings, const DataDirectory& directory,
                             const SettingSources& sources) {
  sql::define_session_settings(settings);
  define_server_settings(settings);
  define_file_locations(settings, directory.path(), directory.config_file());
  return apply_settings(settings, sources);
}

Result<std::string> control_report(const DataDirectory& directory) {
  ASSIGN_OR_RETURN(const ControlFacts facts, control_facts(directory));
  const Control& control = facts.control;
  const Checkpoint& last = control.checkpoint;
  Report report;
  report.add("Database system identifier", control.log_id);
  report.add("Database cluster state", state_words(control, facts.is_standby, facts.is_running));
  report.add("Latest checkpoint location", lsn_words(last.begin));
  report.add("Latest checkpoint's REDO location", lsn_words(last.redo_from));
  report.add("Latest checkpoint's REDO WAL file", segment_words(control, last.redo_from));
  report.add("Latest checkpoint's TimeLineID", control.timeline);
  report.add("Latest checkpoint's PrevTimeLineID", control.timeline);
  report.add("Time of latest checkpoint", time_words(last.taken_at_us));
  report.add("Minimum recovery ending location", lsn_words(facts.log_end));
  report.add("Min recovery ending loc's timeline", facts.is_standby ? control.timeline : 0);
  report.add("wal_level setting", "logical");
  // Every page tells its position in the log, which is all that a rewind asks for.
  report.add("wal_log_hints setting", "on");
  // A standby needs no more of these than it wants for itself.
  for (const char* name : {"max_connections", "max_worker_processes", "max_wal_senders",
                           "max_prepared_xacts", "max_locks_per_xact"})
    report.add(fmt::format("{} setting", name), 0);
  report.add("Bytes per WAL segment", control.log_segment_bytes);
  report.add("Data page checksum version", 1);
  return report.take();
}

Result<> recover_directory(const DataDirectory& directory,
                           const std::vector<SettingAssignment>& command_line) {
  RETURN_IF_ERROR(directory.check_usable());
  ASSIGN_OR_RETURN(
      const auto held,
      PidFile::take(directory, {.process = ::getpid(), .port = {}, .socket_directory = {}}));
  ASSIGN_OR_RETURN(const auto file, read_settings_files(directory));
  ASSIGN_OR_RETURN(const ServerSettings settings, early_settings({file, command_line}));
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const bool is_standby, Standby::is_in(files, directory.engine()));
  if (is_standby) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("\"{}\" is a standby's directory", directory.path().string())}
                    .with_hint("It recovers when its server starts."));
  }
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory.engine(), settings.engine));
  return engine->close();
}

Result<std::string> start_value(const DataDirectory& directory,
                                const std::vector<SettingAssignment>& command_line,
                                std::string_view name) {
  ASSIGN_OR_RETURN(const auto file, read_settings_files(directory));
  Settings known;
  RETURN_IF_ERROR(define_all_settings(known, directory, {file, command_line}));
  const SettingDefinition* const found = known.find(name);
  if (found == nullptr) {
    return fail(sqlstate::undefined_object,
                fmt::format("unrecognized configuration parameter \"{}\"", name));
  }
  if (found->name == "archive_mode")
    return std::string{known.text("archive_command").empty() ? "off" : "on"};
  return bare_setting(known.view(*found).value);
}

std::string setting_list() {
  Settings known;
  sql::define_session_settings(known);
  define_server_settings(known);
  define_file_locations(known, "/", "/");
  std::string text;
  for (const SettingView& view : known.all()) {
    const SettingDefinition& setting = *view.definition;
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", setting.name, name_of(setting.context),
                        setting.category, setting.type_name(), bare_setting(view.value),
                        setting.description);
  }
  return text;
}

}  // namespace swizzle::server
