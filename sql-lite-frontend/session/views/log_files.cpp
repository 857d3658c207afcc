#include <algorithm>
#include <array>
#include <filesystem>

#include "base/ascii.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"

/// pg_ls_waldir, pg_ls_tmpdir, and pg_stat_get_progress_info.
namespace swizzle::sql {
namespace {

struct LogFile {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t changed_at = 0;  ///< a timestamp
};

/// Lists the files by the log's directory; only the operating system knows when a file was changed.
std::vector<LogFile> files_of_log(const Engine& engine) {
  const std::filesystem::path folder = engine.directory() / "log";
  std::vector<LogFile> files;
  for (const std::string& name : value_of(engine.files().list(folder))) {
    std::error_code failure;
    const auto changed = std::filesystem::last_write_time(folder / name, failure);
    const auto bytes = std::filesystem::file_size(folder / name, failure);
    // The file was removed meanwhile, or is no regular file.
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
  auto* session = session_of(context.session);
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

/// Lists no files: temporary files have no names, and end with their process.
std::unique_ptr<SetCursor> list_temporary(FunctionContext& context, std::span<const Value>) {
  auto* session = session_of(context.session);
  if (session != nullptr && !session->rights.owns(kMonitorRole)) {
    throw SqlError{sqlstate::insufficient_privilege, "permission denied for function pg_ls_tmpdir"};
  }
  return std::make_unique<LogFileCursor>(std::vector<LogFile>{});
}

/// One row for each running command: its session, database and relation, and its parameters.
class ProgressCursor final : public SetCursor {
 public:
  ProgressCursor(std::vector<CommandProgress::Seen> seen, const Session::State& session)
      : seen_(std::move(seen)), session_(session) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == seen_.size()) return std::nullopt;
    const CommandProgress::Seen& seen = seen_[next_++];
    // A session's progress is shown only to its role and to pg_read_all_stats.
    const RolePtr role = session_.catalog.role(seen.role);
    const bool shown =
        session_.rights.owns(kReadAllStatsRole) || (role && session_.rights.owns(role->oid));
    constexpr std::size_t kBefore = 3;
    std::array<TypeId, kBefore + CommandProgress::kParameters> types;
    types.fill(TypeId::int8);
    types[0] = TypeId::int4;
    types[1] = types[2] = TypeId::oid;
    std::array<Value, types.size()> row;
    row.fill(Value::null());
    row[0] = Value::from_int(seen.pid);
    row[1] = Value::from_oid(seen.database);
    if (shown) {
      row[2] = Value::from_oid(seen.relation);
      for (std::size_t i = 0; i < seen.parameters.size(); ++i)
        row[kBefore + i] = Value::from_int(seen.parameters[i]);
    }
    return make_record(context.arena, types, row);
  }

 private:
  std::vector<CommandProgress::Seen> seen_;
  const Session::State& session_;
  std::size_t next_ = 0;
};

/// Progress of VACUUM and CLUSTER: none.
class NoProgress final : public SetCursor {
 public:
  std::optional<Value> next(FunctionContext&) override { return std::nullopt; }
};
std::unique_ptr<SetCursor> progress(FunctionContext& context, std::span<const Value> arguments) {
  using enum CommandProgress::Command;
  static constexpr std::pair<std::string_view, std::optional<CommandProgress::Command>>
      kCommands[] = {{"vacuum", {}},         {"analyze", analyze},
                     {"cluster", {}},        {"create index", create_index},
                     {"basebackup", backup}, {"copy", copy}};
  const std::string_view name = arguments[0].as_text();
  const auto found = std::ranges::find(kCommands, lower_case(name),
                                       [](const auto& command) { return command.first; });
  if (found == std::end(kCommands))
    throw_error(sqlstate::invalid_parameter_value, "invalid command name: \"{}\"", name);
  auto* session = session_of(context.session);
  if (session == nullptr || !found->second) return std::make_unique<NoProgress>();
  return std::make_unique<ProgressCursor>(CommandProgress::of(session->shared, *found->second),
                                          *session);
}

}  // namespace

void add_log_file_sets() {
  static constexpr SetEntry kSets[] = {{"pg_ls_waldir()", list_log},
                                       {"pg_ls_tmpdir()", list_temporary},
                                       {"pg_ls_tmpdir(oid)", list_temporary},
                                       {"pg_stat_get_progress_info(text)", progress}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
