#include <algorithm>
#include <filesystem>

#include "base/ascii.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"

/// pg_ls_waldir: the log's files; and pg_stat_get_progress_info, of which there is nothing to tell.
namespace swizzle::sql {
namespace {

struct LogFile {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t changed_at = 0;  ///< a timestamp
};

/// Names as the log's own door to the files has them; when a file was changed only the system
/// knows.
std::vector<LogFile> files_of_log(const Engine& engine) {
  const std::filesystem::path folder = engine.directory() / "log";
  std::vector<LogFile> files;
  for (const std::string& name : value_of(engine.files().list(folder))) {
    std::error_code failure;
    const auto changed = std::filesystem::last_write_time(folder / name, failure);
    const auto bytes = std::filesystem::file_size(folder / name, failure);
    // It has gone meanwhile, as files of the log do, or is no file.
    if (failure) continue;
    const auto since_unix = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::file_clock::to_sys(changed).time_since_epoch());
    files.push_back({name, static_cast<std::int64_t>(bytes),
                     since_unix.count() - kUnixEpochSeconds * kMicrosPerSecond});
  }
  return files;
}

class LogFileCursor final : public SetCursor {
 public:
  explicit LogFileCursor(std::vector<LogFile> files) : files_(std::move(files)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == files_.size()) return std::nullopt;
    const LogFile& file = files_[next_++];
    constexpr TypeId kTypes[] = {TypeId::text, TypeId::int8, TypeId::timestamptz};
    const Value row[] = {make_text(context.arena, file.name), Value::from_int(file.bytes),
                         Value::from_int(file.changed_at)};
    return make_record(context.arena, kTypes, row);
  }

 private:
  std::vector<LogFile> files_;
  std::size_t next_ = 0;
};

std::unique_ptr<SetCursor> list_log(FunctionContext& context, std::span<const Value>) {
  auto* session = SessionNames::session_of(context.session);
  std::vector<LogFile> files;
  if (session != nullptr) {
    if (!session->rights.owns(kMonitorRole)) {
      throw SqlError{sqlstate::insufficient_privilege,
                     "permission denied for function pg_ls_waldir"};
    }
    Runtime::current().run_aside([&] { files = files_of_log(session->shared.engine); });
  }
  return std::make_unique<LogFileCursor>(std::move(files));
}

/// Commands here say nothing of how far they are.
class NoProgress final : public SetCursor {
 public:
  std::optional<Value> next(FunctionContext&) override { return std::nullopt; }
};
std::unique_ptr<SetCursor> progress(FunctionContext&, std::span<const Value> arguments) {
  constexpr std::string_view kCommands[] = {"vacuum",       "analyze",    "cluster",
                                            "create index", "basebackup", "copy"};
  const std::string_view command = arguments[0].as_text();
  if (std::ranges::find(kCommands, lower_case(command)) == std::end(kCommands))
    throw_error(sqlstate::invalid_parameter_value, "invalid command name: \"{}\"", command);
  return std::make_unique<NoProgress>();
}

}  // namespace

void add_log_file_sets() {
  static constexpr SetEntry kSets[] = {{"pg_ls_waldir()", list_log},
                                       {"pg_stat_get_progress_info(text)", progress}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
