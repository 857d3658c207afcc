#include "storage/recovery/recovery.h"

#include <algorithm>

#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

/// A rollback of what was prepared has records behind that one: then it is a loser like others.
Result<> sort_out(const Analysis& analysis, wal::Reader& reader, Recovered& recovered) {
  for (const auto& [id, open] : analysis.losers) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(open.last));
    const bool is_prepared = kind_of(record.header) == RecordKind::transaction_prepared;
    (is_prepared ? recovered.prepared : recovered.losers).push_back(open);
  }
  return {};
}

/// Checkpoints of an older format do not say which record of a page was its newest.
Result<> find_newest(Analysis& analysis, wal::Reader& reader, Lsn checkpoint) {
  const auto is_known = [](const auto& entry) { return entry.second.newest != Lsn::none; };
  if (std::ranges::all_of(analysis.dirty, is_known)) return {};
  PendingPageMap incomplete;
  for (const auto& [page, pending] : analysis.dirty)
    if (!pending.is_complete) incomplete.emplace(page, pending);
  RETURN_IF_ERROR(complete_records(reader, checkpoint, incomplete));
  for (auto& [page, pending] : incomplete)
    analysis.dirty.insert_or_assign(page, std::move(pending));
  std::erase_if(analysis.dirty, [&](const auto& entry) { return !is_known(entry); });
  return {};
}

}  // namespace

Result<Recovered> recover(FileSystem& files, const std::filesystem::path& directory, Volume& volume,
                          const Control& control, const wal::Log& log, LogAnalysis& seen) {
  const Checkpoint& checkpoint = control.checkpoint;
  const Lsn end = log.begin();
  Recovered recovered;
  ASSIGN_OR_RETURN(recovered.space,
                   SpaceMap::load(files, directory, volume, checkpoint.begin, end));
  if (!log.enabled()) {
    recovered.next_txn = checkpoint.next_txn;
    return recovered;
  }
  ASSIGN_OR_RETURN(Analysis analysis, seen.finish(end));
  bring_up_to_date(*recovered.space, analysis.map_changes);
  recovered.records_analysed = analysis.records;
  recovered.next_txn = analysis.next_txn;
  recovered.map_changes = std::move(analysis.map_changes);
  recovered.trees = std::move(analysis.trees);
  recovered.ended_at_us = analysis.ended_at_us;
  wal::Reader by_transaction = log.reader(wal::ReadPattern::random);
  RETURN_IF_ERROR(sort_out(analysis, by_transaction, recovered));
  // The log may speak of pages that a copied file does not reach to.
  RETURN_IF_ERROR(recovered.space->fit_file());
  wal::Reader reader = log.reader();
  RETURN_IF_ERROR(find_newest(analysis, reader, checkpoint.begin));
  recovered.pending = std::move(analysis.dirty);
  return recovered;
}

}  // namespace swizzle
