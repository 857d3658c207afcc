#include "server/main/settings_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "server/main/text_file.h"

namespace swizzle::server {
namespace {

/// Files that include each other in a circle end here, as in PostgreSQL.
constexpr int kDeepestInclude = 10;

class FileReader {
 public:
  /// Appends the assignments of `file`, which errors call `name`.
  Result<> read(const std::filesystem::path& file, const std::string& name, int depth = 0) {
    if (depth > kDeepestInclude) {
      return fail(sqlstate::config_file_error,
                  fmt::format("could not open configuration file \"{}\": maximum nesting depth "
                              "exceeded",
                              name));
    }
    ASSIGN_OR_RETURN(const std::string text, read_text_file(file.string()));
    ASSIGN_OR_RETURN(std::vector<SettingAssignment> lines, parse_settings_file(text, name));
    for (SettingAssignment& line : lines) {
      if (line.name == "include" || line.name == "include_if_exists") {
        RETURN_IF_ERROR(include(file, line, depth));
      } else if (line.name == "include_dir") {
        return fail(
            Error{sqlstate::feature_not_supported, "include_dir is not supported"}.with_detail(
                fmt::format("It stands in {}.", line.origin)));
      } else {
        all_.push_back(std::move(line));
      }
    }
    return {};
  }
  std::vector<SettingAssignment> take() { return std::move(all_); }

 private:
  /// Relative names are relative to the folder of the file that includes them.
  Result<> include(const std::filesystem::path& from, const SettingAssignment& line, int depth) {
    const std::filesystem::path file = from.parent_path() / line.value;
    if (line.name == "include_if_exists" && !std::filesystem::exists(file)) return {};
    auto done = read(file, file.string(), depth + 1);
    if (done || !done.error().detail().empty()) return done;
    return fail(Error{sqlstate::config_file_error, done.error().message()}.with_detail(
        fmt::format("Included by {}.", line.origin)));
  }

  std::vector<SettingAssignment> all_;
};

}  // namespace

Result<std::vector<SettingAssignment>> read_settings_files(const DataDirectory& directory) {
  FileReader reader;
  const std::filesystem::path main = directory.config_file();
  const bool is_own = main == directory.settings_file();
  RETURN_IF_ERROR(reader.read(main, is_own ? main.filename().string() : main.string()));
  const std::filesystem::path altered = directory.altered_file();
  if (std::filesystem::exists(altered))
    RETURN_IF_ERROR(reader.read(altered, altered.filename().string()));
  return reader.take();
}

Result<> apply_settings(Settings& settings, const SettingSources& sources) {
  for (const SettingAssignment& assignment : sources.file) {
    RETURN_IF_ERROR(settings.set_at_start(assignment, SettingSource::file));
  }
  for (const SettingAssignment& assignment : sources.command_line) {
    RETURN_IF_ERROR(settings.set_at_start(assignment, SettingSource::command_line));
  }
  return {};
}

Result<ServerSettings> early_settings(const SettingSources& sources) {
  Settings known;
  define_server_settings(known);
  SettingSources early;
  const auto is_known = [&known](const SettingAssignment& assignment) {
    return known.find(assignment.name) != nullptr;
  };
  std::ranges::copy_if(sources.file, std::back_inserter(early.file), is_known);
  std::ranges::copy_if(sources.command_line, std::back_inserter(early.command_line), is_known);
  RETURN_IF_ERROR(apply_settings(known, early));
  return server_settings(known);
}

}  // namespace swizzle::server
