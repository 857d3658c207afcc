#include "storage/recovery/backup/background_restore.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime/long_work.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/digest_archive.h"
#include "wal/older_segments.h"

namespace swizzle {

void BackgroundRestore::start() {
  if (parts_.pages.is_complete()) return;
  task_.start("restore", [this] { run(); });
}

void BackgroundRestore::run() {
  constexpr Duration kBetweenTries = std::chrono::seconds{10};
  std::string told;
  while (!task_.is_stopping()) {
    make_runs();
    auto done = fetch();
    if (task_.is_stopping()) return;
    if (done) done = complete();
    if (done) return;
    // A backup may be out of reach for a while.
    if (done.error().message() != told)
      spdlog::warn("the restore is not complete: {}; {} pages are left", done.error().message(),
                   parts_.pages.lacking_count());
    told = done.error().message();
    task_.pause_until(Runtime::current().now() + kBetweenTries);
  }
}

/// Without the runs each page's records are found by its chain.
void BackgroundRestore::make_runs() {
  if (!records_.need_runs() || runs_ != nullptr) return;
  auto runs = RecordRuns::make(parts_.files, parts_.directory, parts_.log.reader(), records_.from,
                               records_.end, run_bytes, [this] { return !task_.is_stopping(); });
  if (!runs) {
    if (runs.error().message() != told_of_runs_)
      spdlog::warn("the records of the old log are not sorted by page: {}", runs.error().message());
    told_of_runs_ = runs.error().message();
    return;
  }
  if (*runs == nullptr) return;
  runs_ = *std::move(runs);
  parts_.page_redo.use_runs(*runs_);
  spdlog::info("the records of {} MB of log are sorted by page, in {} runs",
               (raw(records_.end) - raw(records_.from)) >> 20U, runs_->count());
}

/// With runs the pages follow in their order, in which the runs are read once.
Result<> BackgroundRestore::fetch() {
  if (records_.need_runs()) {
    RETURN_IF_ERROR(fetch(Which::all));
    return redo_others();
  }
  RETURN_IF_ERROR(fetch(Which::not_pending));
  RETURN_IF_ERROR(parts_.redo.finish([this] { return !task_.is_stopping(); }));
  return fetch(Which::all);
}

/// A page that cannot be read has been given up, or stays lacking.
Result<> BackgroundRestore::fetch(Which which) {
  std::optional<Error> first;
  PageId from{0};
  while (!task_.is_stopping()) {
    const auto page = parts_.pages.next_lacking(from);
    if (!page) break;
    from = PageId{raw(*page) + 1};
    if (which == Which::not_pending && parts_.pending.contains(*page)) continue;
    if (auto brought = parts_.pool.bring_in(*page); !brought && !first)
      if (brought.error().state() != sqlstate::data_corrupted) first = std::move(brought).error();
    unending_yield_point(kUnknownWork);
  }
  if (first) return fail(std::move(*first));
  return {};
}

/// Reads the pages that are pending although the data file has them: they were written once, and a
/// crash came before they were written again.
Result<> BackgroundRestore::redo_others() {
  std::vector<PageId> pages = parts_.pending.in_log_order();
  std::ranges::sort(pages);
  for (const PageId page : pages) {
    if (task_.is_stopping()) return {};
    if (auto brought = parts_.pool.bring_in(page);
        !brought && brought.error().state() != sqlstate::data_corrupted)
      return brought;
    unending_yield_point(kUnknownWork);
  }
  return {};
}

Result<> BackgroundRestore::remove_digests() {
  const auto digests = parts_.directory / kOlderDigestsName;
  ASSIGN_OR_RETURN(const bool is_there, parts_.files.exists(digests));
  return is_there ? remove_with_content(parts_.files, digests) : Result<>{};
}

/// Without transactions from before the restore nothing needs the older log, as soon as neither
/// copy of the control file names a page that lacks a change of it.
Result<> BackgroundRestore::keep_older_log() {
  const wal::LogLocation log = parts_.log.location();
  if (!log.older || !log.older->segments->has_places()) return {};
  ASSIGN_OR_RETURN(const Lsn first, parts_.checkpoint());
  ASSIGN_OR_RETURN(const Lsn second, parts_.checkpoint());
  return log.older->segments->keep_here(raw(std::min(first, second)) / log.segment_bytes);
}

Result<> BackgroundRestore::complete() {
  if (const std::uint64_t left = parts_.pages.lacking_count(); left != 0)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("{} pages of the backup cannot be read now", left));
  RETURN_IF_ERROR(parts_.cleaner.clean_all());
  RETURN_IF_ERROR(keep_older_log());
  RETURN_IF_ERROR(parts_.pages.complete());
  // Open files can still be read.
  if (auto removed = RecordRuns::remove(parts_.files, parts_.directory); !removed)
    spdlog::warn("{}", removed.error().message());
  if (auto removed = remove_digests(); !removed) spdlog::warn("{}", removed.error().message());
  const std::chrono::duration<double> took = Runtime::current().now() - began_;
  spdlog::info(
      "the restore is complete {:.2f} s after the start: all {} pages that were in the backups "
      "alone are in the database, and the backups are not needed any more",
      took.count(), parts_.pages.lacking_at_start());
  return {};
}

}  // namespace swizzle
