#include "storage/logical/change_reader.h"

#include "base/runtime/long_work.h"
#include "storage/btree/records.h"
#include "storage/logical/change_record.h"
#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

std::unexpected<Error> malformed_change() {
  return fail(sqlstate::data_corrupted, "malformed log record: a noted change");
}

}  // namespace

ChangeReader::ChangeReader(const wal::Log& log, Lsn from, Options options)
    : log_(log), options_(options), reader_(log.reader()) {
  reader_.seek(from);
}

Lsn ChangeReader::needed_from() const noexcept {
  Lsn needed = reader_.position();
  for (const auto& [id, open] : open_) needed = std::min(needed, open.first);
  return needed;
}

Result<> ChangeReader::spill_largest() {
  if (options_.files == nullptr) return {};
  const auto largest = std::ranges::max_element(
      open_, {}, [](const auto& entry) { return entry.second.changes.memory_bytes(); });
  if (largest == open_.end()) return {};
  ChangeBuffer& changes = largest->second.changes;
  if (!changes.has_spilled()) ++spilled_;
  spilled_bytes_ += changes.memory_bytes();
  return changes.spill(*options_.files);
}

Result<> ChangeReader::note(const wal::Record& record) {
  const auto change = payload::decode_noted(record.payload);
  if (!change || record.header.txn == TxnId::none) return malformed_change();
  Open& open = open_.try_emplace(record.header.txn, record.lsn, memory_).first->second;
  const bool is_whole = change->part == payload::NotedChange::Part::last;
  if (is_whole && open.unfinished.empty()) {
    open.changes.add(record.lsn, change->undo_position, change->body);
  } else {
    open.unfinished.insert(open.unfinished.end(), change->body.begin(), change->body.end());
    if (is_whole) {
      open.changes.add(record.lsn, change->undo_position, open.unfinished);
      open.unfinished = {};
    }
  }
  if (memory_.used > options_.memory_bytes) return spill_largest();
  return {};
}

std::optional<CommittedChanges> ChangeReader::commit(const wal::Record& record) {
  const auto found = open_.find(record.header.txn);
  if (found == open_.end()) return std::nullopt;
  Open open = std::move(found->second);
  open_.erase(found);
  if (record.lsn < options_.committed_from || open.changes.count() == 0) return std::nullopt;
  const std::int64_t at =
      record.payload.size() >= sizeof(std::int64_t) ? load<std::int64_t>(record.payload.data()) : 0;
  return CommittedChanges{record.header.txn, record.lsn, record.end, at, std::move(open.changes)};
}

Result<std::optional<CommittedChanges>> ChangeReader::next() {
  constexpr std::uint64_t kAtOnce = std::uint64_t{8} << 20U;
  if (is_at_end()) {
    const Lsn durable = log_.durable();
    if (reader_.position() >= options_.read_until) return std::optional<CommittedChanges>{};
    if (durable <= reader_.end()) return std::optional<CommittedChanges>{};
    reader_.extend_to(durable);
  }
  const std::uint64_t until = raw(reader_.position()) + kAtOnce;
  while (raw(reader_.position()) < until && reader_.position() < options_.read_until) {
    // Before the record is read, since the caller may be cancelled here.
    yield_point(kUnknownWork);
    ASSIGN_OR_RETURN(const auto record, reader_.next());
    if (!record) break;
    switch (kind_of(record->header)) {
      case RecordKind::change_noted:
        RETURN_IF_ERROR(note(*record));
        break;
      case RecordKind::changes_taken_back: {
        const auto above = payload::decode_taken_back(record->payload);
        if (!above) return malformed_change();
        const auto found = open_.find(record->header.txn);
        if (found == open_.end()) break;
        found->second.unfinished.clear();
        RETURN_IF_ERROR(found->second.changes.take_back(*above));
        break;
      }
      case RecordKind::transaction_committed:
        if (auto committed = commit(*record)) return committed;
        break;
      case RecordKind::transaction_ended:
        open_.erase(record->header.txn);
        break;
      default:
        break;
    }
  }
  return std::optional<CommittedChanges>{};
}

}  // namespace swizzle
