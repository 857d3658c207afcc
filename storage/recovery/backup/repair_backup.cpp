#include "storage/recovery/backup/repair_backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/page/page.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/written_lsns.h"

namespace swizzle {
namespace {

std::unexpected<Error> is_not_of_it(const BackupChain& chain, std::string_view why) {
  return fail(sqlstate::object_not_in_prerequisite_state,
              fmt::format("backup \"{}\" is of another {}", chain.newest().native(), why));
}

}  // namespace

Result<> require_backups_of(FileSystem& files, const std::filesystem::path& directory,
                            std::span<const std::filesystem::path> backups) {
  ASSIGN_OR_RETURN(const BackupChain chain, BackupChain::open(files, backups));
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, directory));
  if (chain.control().database_id != control->current().database_id)
    return is_not_of_it(chain, "database");
  return {};
}

Result<std::unique_ptr<RepairBackup>> RepairBackup::open(
    const Parts& parts, std::span<const std::filesystem::path> backups,
    const wal::RestoreSegment& fetch) {
  ASSIGN_OR_RETURN(BackupChain chain, BackupChain::open(parts.files, backups));
  const Control& control = chain.control();
  if (control.database_id != parts.database_id) return is_not_of_it(chain, "database");
  // The same LSN may be of another change there.
  if (control.log_id != parts.log.location().database_id ||
      control.timeline != parts.log.timeline() || chain.end() > parts.log.durable())
    return is_not_of_it(chain,
                        "history of the database, from before a restore or a promotion: take a new "
                        "one");
  std::unique_ptr<RepairBackup> backup(new RepairBackup(parts.log, std::move(chain)));
  RETURN_IF_ERROR(backup->find_old_pages(parts.files));
  RETURN_IF_ERROR(backup->open_segments(parts, fetch));
  return backup;
}

Result<> RepairBackup::find_old_pages(FileSystem& files) {
  for (const DirtyPage& page : chain_.control().checkpoint.dirty) {
    auto [entry, is_new] = lacks_since_.try_emplace(page.page, page.since);
    entry->second = std::min(entry->second, page.since);
  }
  WrittenLsns ignored;
  ASSIGN_OR_RETURN(const auto given_up, GivenUpPages::open(files, chain_.newest(),
                                                           chain_.control().database_id, ignored));
  for (const PageId page : given_up->list()) lacks_since_[page] = Lsn::none;
  return {};
}

Result<> RepairBackup::open_segments(const Parts& parts, const wal::RestoreSegment& fetch) {
  const auto fetched = parts.directory / kFetchedName;
  ASSIGN_OR_RETURN(const bool is_there, parts.files.exists(fetched));
  if (!is_there) RETURN_IF_ERROR(parts.files.create_directory(fetched));
  const wal::LogLocation log = log_.location();
  first_segment_ = raw(chain_.control().checkpoint.keep_from) / log.segment_bytes;
  ASSIGN_OR_RETURN(segments_, wal::OlderSegments::open(parts.files, fetched,
                                                       {.database_id = log.database_id,
                                                        .segment_bytes = log.segment_bytes,
                                                        .first = first_segment_,
                                                        .end = first_segment_ + 1},
                                                       {.fetch = fetch,
                                                        .backup = chain_.newest() / parts.log_name,
                                                        .backup_end = chain_.end()}));
  return {};
}

Result<OlderCopies::Copy> RepairBackup::read(PageId page, std::byte* into) {
  const Lsn begin = chain_.control().checkpoint.begin;
  const auto known = lacks_since_.find(page);
  const Lsn complete_to = known == lacks_since_.end() ? begin : known->second;
  auto read = complete_to == Lsn::none ? Result<>{fail(sqlstate::data_corrupted, "given up")}
                                       : chain_.read_page(page, into);
  if (read) return Copy{load<PageHeader>(into).lsn, complete_to};
  if (read.error().state() != sqlstate::data_corrupted) return fail(std::move(read).error());
  // The log may have all of the page, if it came into use later.
  std::memset(into, 0, kPageBytes);
  return Copy{Lsn::none, begin};
}

Result<wal::Reader> RepairBackup::reader(wal::ReadPattern pattern) {
  const Lsn oldest = log_.oldest();
  wal::LogLocation location = log_.location();
  const std::uint64_t own = raw(oldest) / location.segment_bytes;
  if (own <= first_segment_) return log_.reader(pattern);
  segments_->promise(own - 1);
  // Nothing lies between what the archive has and what the log still has.
  location.older = wal::OlderLog{.database_id = location.database_id,
                                 .end = oldest,
                                 .resumes_at = oldest,
                                 .segments = segments_};
  return wal::Reader{std::move(location), log_.durable(), pattern};
}

}  // namespace swizzle
