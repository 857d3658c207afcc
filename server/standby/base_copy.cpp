#include "server/standby/base_copy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/io/posix_file_system.h"
#include "server/main/text_file.h"
#include "server/standby/primary_link.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/space/volume.h"
#include "storage/standby/rewind.h"
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

Result<> receive_copy(PrimaryLink& link, FileSystem& files, const DataDirectory& directory,
                      std::optional<ReceivedFiles::Existing> existing = std::nullopt) {
  ProgressLine line;
  ReceivedFiles received{files, directory.path(), [&line](std::uint64_t done, std::uint64_t total) {
                           line.show(done, total);
                         }};
  if (existing) received.go_into(*std::move(existing));
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

/// Appended, since the last assignment counts.
Result<> write_primary(const DataDirectory& directory, const std::string& conninfo,
                       const std::string& slot) {
  std::string altered;
  if (std::filesystem::exists(directory.altered_file())) {
    ASSIGN_OR_RETURN(altered, read_text_file(directory.altered_file().string()));
  }
  altered += fmt::format("primary_conninfo = {}\nprimary_slot_name = {}\n",
                         quoted_setting(conninfo), quoted_setting(slot));
  return write_text_file(directory.altered_file().string(), altered);
}

Result<> tell_pages(PrimaryLink& link, std::span<const Lsn> kept) {
  constexpr std::size_t kAtOnce = 16'384;
  for (std::size_t first = 0; first < kept.size(); first += kAtOnce) {
    const std::span some = kept.subspan(first, std::min(kAtOnce, kept.size() - first));
    RETURN_IF_ERROR(link.tell_page_lsns(first, some));
  }
  return {};
}

}  // namespace

Result<> rewind_to(const DataDirectory& directory, const std::string& source) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto rewind, Rewind::open(files, directory.engine()));
  const LinkInterrupt interrupt;
  ASSIGN_OR_RETURN(const auto link, PrimaryLink::connect(source, interrupt));
  ASSIGN_OR_RETURN(const PrimaryLink::System primary, link->identify());
  if (primary.id != rewind->log_id()) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      "source and target are different databases"}
                    .with_detail(fmt::format("The source's identifier is {}, the target's is {}.",
                                             primary.id, rewind->log_id())));
  }
  ASSIGN_OR_RETURN(const std::string history, link->history(primary.timeline));
  RETURN_IF_ERROR(rewind->part_from(primary.timeline, history));
  fmt::print(stderr, "The servers parted at {:X}/{:X}, on timeline {}.\n",
             raw(rewind->fork()) >> 32U, raw(rewind->fork()) & UINT32_MAX, primary.timeline);
  ASSIGN_OR_RETURN(const std::vector<Lsn> kept, rewind->prepare({}));
  RETURN_IF_ERROR(tell_pages(*link, kept));
  const std::filesystem::path engine = directory.engine().filename();
  RETURN_IF_ERROR(receive_copy(*link, files, directory,
                               ReceivedFiles::Existing{.only_in = engine,
                                                       .data_file = engine / Volume::kFileName,
                                                       .kept = engine / kUnfinishedName}));
  RETURN_IF_ERROR(write_primary(directory, source, ""));
  RETURN_IF_ERROR(write_text_file(directory.standby_signal().string(), ""));
  RETURN_IF_ERROR(files.sync_directory(directory.path()));
  return rewind->finish();
}

Result<> copy_primary(const DataDirectory& directory, const StandbyInit& init) {
  const LinkInterrupt interrupt;
  ASSIGN_OR_RETURN(const auto link, PrimaryLink::connect(init.primary, interrupt));
  RETURN_IF_ERROR(link->identify());
  RETURN_IF_ERROR(make_private_directory(directory.path()));
  if (!init.slot.empty()) RETURN_IF_ERROR(link->create_slot(init.slot));
  PosixFileSystem files;
  RETURN_IF_ERROR(receive_copy(*link, files, directory));
  RETURN_IF_ERROR(write_primary(directory, init.primary, init.slot));
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
