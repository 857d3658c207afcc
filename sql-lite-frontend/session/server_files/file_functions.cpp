// pg_read_file() and the other functions about files of the server, for superusers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "sql-lite-frontend/definitions/system_catalog/rows_cursor.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/server_files/file_errors.h"
#include "sql-lite-frontend/session/server_files/server_stream.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr std::int64_t kMostBytes = 0x3FFFFFFF - 4;  ///< of a value

void require_file_right(const Session::State& session, std::string_view function) {
  if (session.rights.is_superuser(session.user)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for function {}", function);
}

/// Returns a name without doubled slashes, "." and "..", as PostgreSQL reports it.
std::string plain_name(const Value& argument) {
  std::string name = std::filesystem::path{argument.as_text()}.lexically_normal().string();
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

/// Arguments of a function that reads a file.
struct WantedPart {
  std::string name;
  std::int64_t from = 0;
  std::int64_t length = -1;  ///< negative: to the end
  bool may_be_missing = false;
};

/// The functions take a name, perhaps a place and a length, and perhaps a flag.
WantedPart part_in(Arguments arguments) {
  WantedPart part{.name = plain_name(arguments[0])};
  if (arguments.size() % 2 == 0) part.may_be_missing = arguments.back().as_bool();
  if (arguments.size() < 3) return part;
  part.from = arguments[1].as_int8();
  part.length = arguments[2].as_int8();
  if (part.length < 0) {
    throw SqlError{sqlstate::invalid_parameter_value, "requested length cannot be negative"};
  }
  if (part.length > kMostBytes) {
    throw SqlError{sqlstate::invalid_parameter_value, "requested length too large"};
  }
  return part;
}

/// Returns the bytes; NULL for a missing file that may be missing.
Value read_part(Execution& execution, const WantedPart& part) {
  Session::State& session = session_of(execution);
  auto file = ServerStream::open_to_read(session, server_path(session, part.name));
  if (!file) {
    if (part.may_be_missing && file.error() == ENOENT) return Value::null();
    throw file_error(file.error(),
                     fmt::format("could not open file \"{}\" for reading", part.name));
  }
  if (part.from != 0) {
    if (const auto moved = file->seek(part.from); !moved) {
      throw file_error(moved.error(), fmt::format("could not seek in file \"{}\"", part.name));
    }
  }
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  std::vector<std::byte> piece(kPiece);
  TextBuilder text{execution.row_arena};
  const std::size_t most = part.length < 0 ? SIZE_MAX : static_cast<std::size_t>(part.length);
  while (text.size() < most) {
    const auto size = file->read(std::span{piece}.first(std::min(kPiece, most - text.size())));
    if (!size) {
      throw file_error(size.error(), fmt::format("could not read file \"{}\"", part.name));
    }
    if (*size == 0) break;
    if (text.size() + *size > static_cast<std::size_t>(kMostBytes)) {
      throw SqlError{sqlstate::program_limit_exceeded, "file length too large"};
    }
    text += as_text(std::span{piece}.first(*size));
  }
  return text.finish();
}

Value read_file(Execution& execution, Arguments arguments) {
  require_file_right(session_of(execution), "pg_read_file");
  const Value text = read_part(execution, part_in(arguments));
  if (!text.is_null()) verify_utf8(text.as_text());
  return text;
}

Value read_binary_file(Execution& execution, Arguments arguments) {
  require_file_right(session_of(execution), "pg_read_binary_file");
  const Value bytes = read_part(execution, part_in(arguments));
  return bytes.is_null() ? bytes : Value::from_bytes(as_bytes(bytes.as_text()));
}

/// Names of a folder's files, which have been read before the first is asked for.
class NameCursor final : public SetCursor {
 public:
  explicit NameCursor(std::vector<std::string> names) : names_(std::move(names)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == names_.size()) return std::nullopt;
    return make_text(context.arena, names_[next_++]);
  }

 private:
  std::vector<std::string> names_;
  std::size_t next_ = 0;
};

std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& failure) {
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry{folder, failure};
  while (!failure && entry != std::filesystem::directory_iterator{}) {
    names.push_back(entry->path().filename().string());
    entry.increment(failure);
  }
  return names;
}

std::unique_ptr<SetCursor> list_directory(FunctionContext& context, Arguments arguments) {
  auto* session = session_of(context.session);
  if (session == nullptr) return std::make_unique<NameCursor>(std::vector<std::string>{});
  require_file_right(*session, "pg_ls_dir");
  const std::string name = plain_name(arguments[0]);
  const bool may_be_missing = arguments.size() > 1 && arguments[1].as_bool();
  const bool has_dots = arguments.size() > 2 && arguments[2].as_bool();
  std::vector<std::string> names;
  std::error_code failure;
  Runtime::current().run_aside([&] { names = names_in(server_path(*session, name), failure); });
  if (failure) {
    if (may_be_missing && failure.value() == ENOENT)
      return std::make_unique<NameCursor>(std::vector<std::string>{});
    throw file_error(failure.value(), fmt::format("could not open directory \"{}\"", name));
  }
  for (const std::string& one : names) verify_utf8(one);
  if (has_dots) names.insert(names.end(), {".", ".."});
  return std::make_unique<NameCursor>(std::move(names));
}

Value time_value(const timespec& time) {
  return Value::from_int((time.tv_sec - kUnixEpochSeconds) * kMicrosPerSecond);
}

/// Returns a file's row; all values are NULL for a missing one.
std::unique_ptr<SetCursor> status_row(Arena& arena, const std::optional<struct stat>& status) {
  constexpr std::array kTypes{TypeId::int8,        TypeId::timestamptz, TypeId::timestamptz,
                              TypeId::timestamptz, TypeId::timestamptz, TypeId::bool_};
  std::array<Value, kTypes.size()> row;
  row.fill(Value::null());
  if (status) {
    row[0] = Value::from_int(status->st_size);
    row[1] = time_value(status->st_atim);
    row[2] = time_value(status->st_mtim);
    row[3] = time_value(status->st_ctim);
    row[5] = Value::from_bool(S_ISDIR(status->st_mode));
  }
  return rows_cursor({make_record(arena, kTypes, row)});
}

std::unique_ptr<SetCursor> file_status(FunctionContext& context, Arguments arguments) {
  auto* session = session_of(context.session);
  if (session == nullptr) return status_row(context.arena, std::nullopt);
  require_file_right(*session, "pg_stat_file");
  const std::string name = plain_name(arguments[0]);
  const std::filesystem::path path = server_path(*session, name);
  struct stat status{};
  int error = 0;
  Runtime::current().run_aside([&] { error = ::stat(path.c_str(), &status) == 0 ? 0 : errno; });
  if (error == 0) return status_row(context.arena, status);
  const bool may_be_missing = arguments.size() > 1 && arguments[1].as_bool();
  if (may_be_missing && error == ENOENT) return status_row(context.arena, std::nullopt);
  throw file_error(error, fmt::format("could not stat file \"{}\"", name));
}

}  // namespace

std::span<const SessionEntry> file_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_read_file", read_file},
      {"pg_read_binary_file", read_binary_file},
  };
  return kFunctions;
}

std::span<const SetEntry> file_sets() {
  static constexpr SetEntry kSets[] = {{"pg_ls_dir(text)", list_directory},
                                       {"pg_ls_dir(text,bool,bool)", list_directory},
                                       {"pg_stat_file(text)", file_status},
                                       {"pg_stat_file(text,bool)", file_status}};
  return kSets;
}

}  // namespace swizzle::sql
