#include "storage/recovery/recovery.h"

namespace swizzle {

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
  for (const auto& [id, loser] : analysis.losers) recovered.losers.push_back(loser);
  // The log may speak of pages that a copied file does not reach to.
  RETURN_IF_ERROR(recovered.space->fit_file());
  ASSIGN_OR_RETURN(recovered.redo, redo(volume, analysis, reader, options, observer));
  return recovered;
}

}  // namespace swizzle
