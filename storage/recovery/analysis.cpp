#include "storage/recovery/analysis.h"

#include <algorithm>

#include "storage/recovery/progress.h"
#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

void note_page(Analysis& analysis, PageId page, PageEffect effect, Lsn lsn) {
  // A record that is there to be undone, no more (carry_over.h).
  if (page == PageId::none) return;
  switch (effect) {
    case PageEffect::none:
      break;
    case PageEffect::change:
      analysis.dirty.try_emplace(page, lsn);
      break;
    case PageEffect::image:
      // Nothing before it matters any more, not even whether the page can be read.
      analysis.dirty.insert_or_assign(page, lsn);
      break;
    case PageEffect::free:
      analysis.dirty.erase(page);
      break;
  }
}

void note_transaction(Analysis& analysis, const wal::Record& record) {
  const TxnId id = record.header.txn;
  if (id == TxnId::none) return;
  analysis.next_txn = std::max(analysis.next_txn, TxnId{raw(id) + 1});
  const RecordKind kind = kind_of(record.header);
  if (kind == RecordKind::transaction_committed || kind == RecordKind::transaction_ended) {
    analysis.losers.erase(id);
    return;
  }
  auto [loser, is_new] = analysis.losers.try_emplace(id, id, record.lsn, record.lsn);
  if (!is_new) loser->second.last = std::max(loser->second.last, record.lsn);
}

Result<> note(Analysis& analysis, const wal::Record& record, SpaceMap& map) {
  ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
  note_page(analysis, record.header.page, effects.page, record.lsn);
  note_page(analysis, record.header.page2, effects.page2, record.lsn);
  ASSIGN_OR_RETURN(const std::vector<PageId> pages, freed_pages(record));
  for (const PageId page : pages) analysis.dirty.erase(page);
  note_transaction(analysis, record);
  return redo_on_map(record, map);
}

}  // namespace

Result<Analysis> analyse(wal::Reader& reader, const Checkpoint& checkpoint, SpaceMap& map,
                         const RecoveryObserver& observer) {
  Analysis analysis;
  analysis.next_txn = checkpoint.next_txn;
  analysis.end = reader.end();
  for (const DirtyPage& page : checkpoint.dirty) analysis.dirty.emplace(page.page, page.since);
  for (const ActiveTransaction& active : checkpoint.active)
    analysis.losers.emplace(active.id, active);

  if (checkpoint.begin != Lsn::none) reader.seek(checkpoint.begin);
  const std::uint64_t begin = raw(checkpoint.begin);
  Progress progress("analysis", raw(reader.end()) - std::min(begin, raw(reader.end())), observer);
  while (true) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record) break;
    ++analysis.records;
    RETURN_IF_ERROR(note(analysis, *record, map));
    progress.set_pages(analysis.dirty.size());
    progress.set_transactions(analysis.losers.size());
    progress.reached(raw(record->end) - begin, record->end);
  }
  analysis.redo_from = reader.end();
  for (const auto& [page, since] : analysis.dirty)
    analysis.redo_from = std::min(analysis.redo_from, since);
  return analysis;
}

}  // namespace swizzle
