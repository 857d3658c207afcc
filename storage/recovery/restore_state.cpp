#include "storage/recovery/restore_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "base/checksum.h"

namespace swizzle {
namespace {

constexpr std::string_view kFirstLine = "restored on demand, version 3";
constexpr std::array<std::string_view, 3> kFirstLines{"restored on demand, version 1",
                                                      "restored on demand, version 2", kFirstLine};
constexpr std::array<std::string_view, 3> kPhases{"begun", "pages left", "complete"};
constexpr std::string_view kFolder = "archive folder ";
constexpr std::string_view kCommand = "restore command ";
constexpr std::uint64_t kLongest = std::uint64_t{1} << 20U;

std::uint64_t sum_of(std::string_view text) {
  return checksum(as_bytes(text), 0);
}

std::optional<std::uint64_t> parse_hexadecimal(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Removes the next line from the text, and returns it without its line break.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// The same for a line that begins with `word`; returns what follows.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view word) {
  const auto line = take_line(text);
  if (!line || !line->starts_with(word)) return std::nullopt;
  return line->substr(word.size());
}

/// Parses the identifier of an older log, its end, where the log goes on, and, since version 3, the
/// first record that may be needed.
std::optional<wal::OlderLog> parse_older_log(std::string_view text) {
  std::array<std::uint64_t, 4> numbers{};
  std::size_t count = 0;
  for (; count < numbers.size() && !text.empty(); ++count) {
    const std::size_t length = std::min(text.find(' '), text.size());
    const auto parsed = parse_hexadecimal(text.substr(0, length));
    if (!parsed) return std::nullopt;
    numbers.at(count) = *parsed;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  const auto& [id, end, resumes_at, from] = numbers;
  if (count < 3 || !text.empty() || end == 0 || end >= resumes_at || from >= end)
    return std::nullopt;
  return wal::OlderLog{
      .database_id = id, .end = Lsn{end}, .resumes_at = Lsn{resumes_at}, .from = Lsn{from}};
}

std::optional<RestoreState> parse_state(std::string_view text) {
  constexpr std::string_view kSum = "sum ";
  const std::size_t last = text.rfind("\nsum ");
  if (last == std::string_view::npos) return std::nullopt;
  std::string_view lines = text.substr(0, last + 1);
  std::string_view rest = text.substr(last + 1);
  const auto sum = take_line(rest, kSum);
  if (!sum || !rest.empty() || parse_hexadecimal(*sum) != std::optional{sum_of(lines)})
    return std::nullopt;
  const auto first = take_line(lines);
  if (!first || std::ranges::find(kFirstLines, *first) == kFirstLines.end()) return std::nullopt;
  RestoreState state;
  const auto phase = take_line(lines, "phase ");
  const auto known = phase ? std::ranges::find(kPhases, *phase) : kPhases.end();
  if (known == kPhases.end()) return std::nullopt;
  state.phase = static_cast<RestoreState::Phase>(known - kPhases.begin());
  const auto id = take_line(lines, "backup ");
  const auto number = id ? parse_hexadecimal(*id) : std::nullopt;
  if (!number) return std::nullopt;
  state.backup_id = *number;
  if (lines.starts_with("older log ")) {
    state.older_log = parse_older_log(*take_line(lines, "older log "));
    if (!state.older_log) return std::nullopt;
  }
  if (lines.starts_with(kFolder)) state.archive_folder = *take_line(lines, kFolder);
  if (lines.starts_with(kCommand)) state.restore_command = *take_line(lines, kCommand);
  while (!lines.empty()) {
    const auto path = take_line(lines, "from ");
    if (!path) return std::nullopt;
    state.backups.emplace_back(*path);
  }
  if (state.backups.empty()) return std::nullopt;
  return state;
}

}  // namespace

Result<std::optional<RestoreState>> read_restore_state(FileSystem& files,
                                                       const std::filesystem::path& directory) {
  const auto path = directory / kRestoredFromName;
  ASSIGN_OR_RETURN(const bool is_there, files.exists(path));
  if (!is_there) return std::optional<RestoreState>{};
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  std::optional<RestoreState> state;
  if (size <= kLongest) {
    std::string text(static_cast<std::size_t>(size), '\0');
    RETURN_IF_ERROR(file->read_at(0, std::as_writable_bytes(std::span{text})));
    state = parse_state(text);
  }
  if (state) return state;
  return fail(Error{sqlstate::data_corrupted,
                    fmt::format("file \"{}\" is damaged: it says which backups have pages that the "
                                "database does not have yet",
                                path.native())}
                  .with_hint("Put the file back as it was, or restore again."));
}

Result<> write_restore_state(FileSystem& files, const std::filesystem::path& directory,
                             const RestoreState& state) {
  std::string text =
      fmt::format("{}\nphase {}\nbackup {:016x}\n", kFirstLine,
                  kPhases.at(static_cast<std::size_t>(state.phase)), state.backup_id);
  if (state.older_log)
    text += fmt::format("older log {:016x} {:016x} {:016x} {:016x}\n", state.older_log->database_id,
                        raw(state.older_log->end), raw(state.older_log->resumes_at),
                        raw(state.older_log->from));
  const auto add = [&text](std::string_view word, std::string_view value) -> Result<> {
    if (value.find('\n') != std::string_view::npos)
      return fail(
          sqlstate::invalid_parameter_value,
          "the path of a backup or an archive, and the command of a restore on demand, must "
          "not have a line break");
    text += fmt::format("{}{}\n", word, value);
    return {};
  };
  if (!state.archive_folder.empty()) RETURN_IF_ERROR(add(kFolder, state.archive_folder.native()));
  if (!state.restore_command.empty()) RETURN_IF_ERROR(add(kCommand, state.restore_command));
  for (const auto& backup : state.backups) RETURN_IF_ERROR(add("from ", backup.native()));
  text += fmt::format("sum {:016x}\n", sum_of(text));
  const auto unfinished = directory / (std::string{kRestoredFromName} + ".tmp");
  {
    ASSIGN_OR_RETURN(const auto file, files.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, as_bytes(text)));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files.rename(unfinished, directory / kRestoredFromName));
  return files.sync_directory(directory);
}

Result<> require_restored(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto state, read_restore_state(files, directory));
  if (!state || state->phase == RestoreState::Phase::complete) return {};
  return fail(
      Error{sqlstate::object_not_in_prerequisite_state,
            fmt::format("directory \"{}\" is being restored on demand: it does not have all "
                        "pages yet",
                        directory.native())}
          .with_hint("Start the server, and wait until its log says that the restore is "
                     "complete."));
}

}  // namespace swizzle
