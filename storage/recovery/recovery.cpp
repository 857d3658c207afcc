#include "storage/recovery/recovery.h"

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

}  // namespace

Result<Recovered> recover(FileSystem& files, const std::filesystem::path& directory, Volume& volume,
                          const Control& control, const wal::Log& log, const RedoOptions& options,
                          const RecoveryObserver& observer) {
  const Checkpoint& checkpoint = control.checkpoint;
  const Lsn end = log.begin();
  Recovered recovered;
  ASSIGN_OR_RETURN(recovered.space,
                   SpaceMap::load(files, directory, volume, checkpoint.begin, end));
  if (!log.enabled()) {
    recovered.next_txn = checkpoint.next_txn;
    return recovered;
  }
  wal::Reader reader = log.reader();
  ASSIGN_OR_RETURN(const Analysis analysis,
                   analyse(reader, checkpoint, *recovered.space, observer));
  recovered.records_analysed = analysis.records;
  recovered.next_txn = analysis.next_txn;
  wal::Reader by_transaction = log.reader(wal::ReadPattern::random);
  RETURN_IF_ERROR(sort_out(analysis, by_transaction, recovered));
  // The log may speak of pages that a copied file does not reach to.
  RETURN_IF_ERROR(recovered.space->fit_file());
  ASSIGN_OR_RETURN(recovered.redo, redo(volume, analysis, reader, options, observer));
  return recovered;
}

}  // namespace swizzle
