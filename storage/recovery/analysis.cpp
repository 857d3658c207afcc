#include "storage/recovery/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

using Lists = LogAnalysis::Lists;

void note_page(PendingPageMap& dirty, PageId page, PageEffect effect, Lsn lsn, Lists lists) {
  // A record that is there to be undone, no more (carry_over.h).
  if (page == PageId::none) return;
  const bool is_listed = lists == Lists::of_records;
  switch (effect) {
    case PageEffect::none:
      break;
    case PageEffect::change: {
      auto [entry, is_new] = dirty.try_emplace(page);
      PendingPage& pending = entry->second;
      if (is_new) {
        pending.since = lsn;
        pending.is_complete = is_listed;
      }
      // The page was written between the checkpoint's begin and its look at the page.
      if (lsn < pending.since) break;
      pending.newest = std::max(pending.newest, lsn);
      if (is_listed) pending.records.push_back(lsn);
      break;
    }
    case PageEffect::image: {
      // Nothing before it matters any more, not even whether the page can be read.
      PendingPage pending{.since = lsn, .newest = lsn, .is_complete = is_listed};
      if (is_listed) pending.records.push_back(lsn);
      dirty.insert_or_assign(page, std::move(pending));
      break;
    }
    case PageEffect::free:
      dirty.erase(page);
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
    if (record.payload.size() >= sizeof analysis.ended_at_us)
      analysis.ended_at_us = load<std::int64_t>(record.payload.data());
    return;
  }
  auto [loser, is_new] = analysis.losers.try_emplace(id, id, record.lsn, record.lsn);
  ActiveTransaction& transaction = loser->second;
  // All records of a transaction that the checkpoint does not have are behind it.
  transaction.changes.is_known = is_new || transaction.changes.is_known;
  if (!is_new) transaction.last = std::max(transaction.last, record.lsn);
  const bool compensates = (record.header.flags & record_flags::kCompensation) != 0;
  if (!compensates) note_change(transaction.changes, kind, record.header.tree, record.payload);
}

void note_on_map(Analysis& analysis, PageId page, PageEffect effect) {
  using To = Analysis::MapChange::To;
  if (effect == PageEffect::image) analysis.map_changes.push_back({page, To::allocated});
  if (effect == PageEffect::free) analysis.map_changes.push_back({page, To::free});
}

Result<> note(Analysis& analysis, const wal::Record& record, Lists lists) {
  ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
  note_page(analysis.dirty, record.header.page, effects.page, record.lsn, lists);
  note_page(analysis.dirty, record.header.page2, effects.page2, record.lsn, lists);
  ASSIGN_OR_RETURN(const std::vector<PageId> pages, freed_pages(record));
  for (const PageId page : pages) {
    analysis.dirty.erase(page);
    note_on_map(analysis, page, PageEffect::free);
  }
  if (analysis.trees.empty() || record.header.tree != analysis.newest_tree) {
    analysis.newest_tree = record.header.tree;
    analysis.trees.insert(record.header.tree);
  }
  note_on_map(analysis, record.header.page, effects.page);
  note_on_map(analysis, record.header.page2, effects.page2);
  note_transaction(analysis, record);
  return {};
}

void add_page(Analysis& analysis, const SegmentDigest::Page& page) {
  using Fate = SegmentDigest::Page::Fate;
  using To = Analysis::MapChange::To;
  switch (page.fate) {
    case Fate::changed: {
      auto [entry, is_new] =
          analysis.dirty.try_emplace(page.page, PendingPage{.since = page.since});
      PendingPage& pending = entry->second;
      // As in note_page(): the page may have been written since.
      if (page.newest >= pending.since) pending.newest = std::max(pending.newest, page.newest);
      break;
    }
    case Fate::whole:
      analysis.dirty.insert_or_assign(page.page,
                                      PendingPage{.since = page.since, .newest = page.newest});
      analysis.map_changes.push_back({page.page, To::allocated});
      break;
    case Fate::freed:
      analysis.dirty.erase(page.page);
      analysis.map_changes.push_back({page.page, To::free});
      break;
  }
}

/// A page may stand there twice: when it was still pending, and when it was in a frame.
void note_dirty_pages(PendingPageMap& dirty, const Checkpoint& checkpoint) {
  for (const DirtyPage& page : checkpoint.dirty) {
    auto [entry, is_new] = dirty.try_emplace(page.page, PendingPage{.since = page.since});
    PendingPage& pending = entry->second;
    pending.since = std::min(pending.since, page.since);
    pending.newest = std::max(pending.newest, page.newest);
    // Records behind the checkpoint's begin are read here.
    pending.is_complete = pending.since >= checkpoint.begin;
  }
}

/// The log was durable up to these records when the checkpoint was completed.
Result<> require_newest(const PendingPageMap& dirty, Lsn end) {
  for (const auto& [page, pending] : dirty) {
    if (pending.newest < end) continue;
    return fail(
        Error{sqlstate::data_corrupted,
              fmt::format("the log ends at LSN {}, but page {} was changed at {} before the last "
                          "checkpoint: the log from {} on is missing",
                          raw(end), raw(page), raw(pending.newest), raw(end))}
            .with_hint("Put the missing log segments back, or restore a backup."));
  }
  return {};
}

void note_known_page(PendingPageMap& pages, PageId page, PageEffect effect, Lsn lsn) {
  if (effect != PageEffect::change && effect != PageEffect::image) return;
  const auto known = pages.find(page);
  if (known == pages.end() || lsn < known->second.since) return;
  if (effect == PageEffect::image) known->second.records.clear();
  known->second.newest = lsn;
  known->second.records.push_back(lsn);
}

}  // namespace

void bring_up_to_date(SpaceMap& map, std::span<const Analysis::MapChange> changes) {
  for (const Analysis::MapChange& change : changes) {
    if (change.to == Analysis::MapChange::To::allocated)
      map.mark_allocated(change.page);
    else
      map.mark_free(change.page);
  }
}

LogAnalysis::LogAnalysis(const Checkpoint& checkpoint, const RecoveryObserver& observer,
                         Lists lists)
    : observer_(observer), lists_(lists) {
  analysis_.next_txn = checkpoint.next_txn;
  note_dirty_pages(analysis_.dirty, checkpoint);
  for (const ActiveTransaction& active : checkpoint.active)
    analysis_.losers.emplace(active.id, active);
}

void LogAnalysis::begin(Lsn from, Lsn limit) {
  from_ = from;
  progress_.emplace("analysis", raw(limit) - raw(from), observer_);
}

void LogAnalysis::visit(const wal::Record& record) {
  if (!outcome_) return;
  ++analysis_.records;
  outcome_ = note(analysis_, record, lists_);
  progress_->set_pages(analysis_.dirty.size());
  progress_->set_transactions(analysis_.losers.size());
  progress_->reached(raw(record.end) - raw(from_), record.end);
}

void LogAnalysis::add(const SegmentDigest& digest) {
  INVARIANT(lists_ == Lists::none);
  if (!outcome_) return;
  analysis_.records += digest.records;
  for (const SegmentDigest::Page& page : digest.pages) add_page(analysis_, page);
  for (const ActiveTransaction& open : digest.open) {
    auto [loser, is_new] = analysis_.losers.try_emplace(open.id, open);
    if (!is_new) loser->second.last = std::max(loser->second.last, open.last);
    // A digest does not tell which changes a transaction has made.
    loser->second.changes.is_known = false;
  }
  for (const TxnId id : digest.ended) analysis_.losers.erase(id);
  analysis_.next_txn = std::max(analysis_.next_txn, digest.next_txn);
  analysis_.trees.insert(digest.trees.begin(), digest.trees.end());
  if (digest.ended_at_us != 0) analysis_.ended_at_us = digest.ended_at_us;
}

Result<Analysis> LogAnalysis::finish(Lsn end) {
  progress_.reset();
  RETURN_IF_ERROR(std::move(outcome_));
  RETURN_IF_ERROR(require_newest(analysis_.dirty, end));
  return std::move(analysis_);
}

Result<> complete_records(wal::Reader& reader, Lsn before, PendingPageMap& pages) {
  PendingPageMap older;
  Lsn from = before;
  for (const auto& [page, pending] : pages) {
    older.emplace(page, PendingPage{.since = pending.since});
    from = std::min(from, pending.since);
  }
  if (from < before) reader.seek(from);
  while (from < before) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record || record->lsn >= before) break;
    ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record->header));
    note_known_page(older, record->header.page, effects.page, record->lsn);
    note_known_page(older, record->header.page2, effects.page2, record->lsn);
  }
  for (auto& [page, pending] : pages) {
    PendingPage& found = older.at(page);
    pending.newest = std::max(pending.newest, found.newest);
    found.records.insert(found.records.end(), pending.records.begin(), pending.records.end());
    pending.records = std::move(found.records);
    pending.is_complete = true;
  }
  return {};
}

}  // namespace swizzle
