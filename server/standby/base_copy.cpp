#include "server/standby/base_copy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/io/posix_file_system.h"
#include "server/main/text_file.h"
#include "server/standby/primary_link.h"
#include "storage/standby/sent_files.h"

namespace swizzle::server {
namespace {

std::string quoted_setting(std::string_view value) {
  std::string text = "'";
  for (const char letter : value) {
    if (letter == '\'' || letter == '\\') text += letter == '\'' ? '\'' : '\\';
    text += letter;
  }
  return text + "'";
}

/// Prints the progress of the copy: on a terminal in one line, else a line for every tenth.
class ProgressLine {
 public:
  void show(std::uint64_t done, std::uint64_t total) {
    const std::uint64_t percent = total == 0 ? 100 : done * 100 / total;
    const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
    if (percent == shown_ || (!is_terminal && percent / 10 == shown_ / 10 && shown_ <= 100)) return;
    shown_ = percent;
    fmt::print(stderr, "{}{:3} % of {} MB of pages{}", is_terminal ? "\r" : "", percent,
               total >> 20U, is_terminal ? "" : "\n");
  }
  void end() const {
    if (shown_ <= 100 && ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  }

 private:
  std::uint64_t shown_ = UINT64_MAX;
};

Result<> receive_copy(PrimaryLink& link, FileSystem& files, const DataDirectory& directory) {
  ProgressLine line;
  ReceivedFiles received{files, directory.path(), [&line](std::uint64_t done, std::uint64_t total) {
                           line.show(done, total);
                         }};
  RETURN_IF_ERROR(link.start_base_copy());
  constexpr Duration kLongestSilence = std::chrono::minutes{10};
  for (;;) {
    ASSIGN_OR_RETURN(const PrimaryLink::Received next, link.receive(kLongestSilence));
    if (next.arrival == PrimaryLink::Arrival::none)
      return fail(SqlState{"08006"}, "the primary has sent nothing for ten minutes");
    if (next.arrival == PrimaryLink::Arrival::end) break;
    RETURN_IF_ERROR(received.apply(next.bytes));
  }
  line.end();
  return {};
}

}  // namespace

Result<> copy_primary(const DataDirectory& directory, const StandbyInit& init) {
  const LinkInterrupt interrupt;
  ASSIGN_OR_RETURN(const auto link, PrimaryLink::connect(init.primary, interrupt));
  RETURN_IF_ERROR(link->identify());
  RETURN_IF_ERROR(make_private_directory(directory.path()));
  if (!init.slot.empty()) RETURN_IF_ERROR(link->create_slot(init.slot));
  PosixFileSystem files;
  RETURN_IF_ERROR(receive_copy(*link, files, directory));
  std::string altered;
  if (std::filesystem::exists(directory.altered_file())) {
    ASSIGN_OR_RETURN(altered, read_text_file(directory.altered_file().string()));
  }
  // Appended, since the last assignment counts.
  altered += fmt::format("primary_conninfo = {}\nprimary_slot_name = {}\n",
                         quoted_setting(init.primary), quoted_setting(init.slot));
  RETURN_IF_ERROR(write_text_file(directory.altered_file().string(), altered));
  RETURN_IF_ERROR(write_text_file(directory.standby_signal().string(), ""));
  RETURN_IF_ERROR(files.sync_directory(directory.path()));
  // Done last, because it shows that everything else is there.
  std::error_code failure;
  std::filesystem::rename(directory.copied_settings_file(), directory.settings_file(), failure);
  if (failure) {
    return fail(sqlstate::io_error,
                fmt::format("could not rename \"{}\": {}",
                            directory.copied_settings_file().string(), failure.message()));
  }
  return files.sync_directory(directory.path());
}

}  // namespace swizzle::server
