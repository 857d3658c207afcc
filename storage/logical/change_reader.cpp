#include "storage/logical/change_reader.h"

#include <utility>

#include "base/runtime/long_work.h"
#include "storage/btree/records.h"
#include "storage/logical/change_record.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

std::unexpected<Error> malformed_change() {
  return fail(sqlstate::data_corrupted, "malformed log record: a noted change");
}

/// Returns the event with these changes. They are moved once, since a buffer is not assigned.
DecodedChanges with_changes(DecodedChanges event, ChangeBuffer changes) {
  return {event.id,
          event.commit,
          event.end,
          event.committed_at_us,
          std::move(changes),
          event.event,
          event.part,
          event.is_repeated,
          std::move(event.gid),
          event.prepared_end,
          event.prepared_at_us};
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

DecodedChanges ChangeReader::event_of(Event event, const wal::Record& record) {
  const std::int64_t at =
      record.payload.size() >= sizeof(std::int64_t) ? load<std::int64_t>(record.payload.data()) : 0;
  return {record.header.txn, record.lsn, record.end, at, ChangeBuffer{memory_}, event};
}

Result<std::optional<DecodedChanges>> ChangeReader::spill_largest(const wal::Record& record) {
  if (options_.files == nullptr) return std::optional<DecodedChanges>{};
  const auto largest = std::ranges::max_element(
      open_, {}, [](const auto& entry) { return entry.second.changes.memory_bytes(); });
  if (largest == open_.end()) return std::optional<DecodedChanges>{};
  Open& open = largest->second;
  if (!open.changes.has_spilled()) ++spilled_;
  spilled_bytes_ += open.changes.memory_bytes();
  // A transaction that was spilled before the reader may have parts goes whole. Before
  // `committed_from` it may still prove to be one that the reader has.
  const bool gets_parts = options_.streams && record.lsn >= options_.committed_from &&
                          open.changes.pieces() == open.parts.size();
  if (!gets_parts) {
    RETURN_IF_ERROR(open.changes.spill(*options_.files));
    return std::optional<DecodedChanges>{};
  }
  auto part = event_of(Event::part, record);
  part.id = largest->first;
  auto handed_out = open.changes.hand_out(*options_.files);
  if (!handed_out) return fail(std::move(handed_out).error());
  part.part = open.next_part++;
  open.parts.push_back(part.part);
  return std::optional<DecodedChanges>{with_changes(std::move(part), *std::move(handed_out))};
}

Result<std::optional<DecodedChanges>> ChangeReader::note(const wal::Record& record) {
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
  if (memory_.used > options_.memory_bytes) return spill_largest(record);
  return std::optional<DecodedChanges>{};
}

Result<std::optional<DecodedChanges>> ChangeReader::take_back(const wal::Record& record) {
  const auto above = payload::decode_taken_back(record.payload);
  if (!above) return malformed_change();
  const auto found = open_.find(record.header.txn);
  if (found == open_.end()) return std::optional<DecodedChanges>{};
  Open& open = found->second;
  // Its changes have been returned; their end is still to come.
  if (open.is_prepared) return std::optional<DecodedChanges>{};
  open.unfinished.clear();
  RETURN_IF_ERROR(open.changes.take_back(*above));
  if (open.changes.pieces() >= open.parts.size()) return std::optional<DecodedChanges>{};
  // The rest of the first of these parts is in memory again, and comes with the next part.
  auto event = event_of(Event::part_taken_back, record);
  event.part = open.parts[open.changes.pieces()];
  open.parts.resize(open.changes.pieces());
  return std::optional<DecodedChanges>{std::move(event)};
}

void ChangeReader::add_rest(DecodedChanges& event, Open& open) {
  if (open.has_parts()) event.part = open.next_part++;
  event.gid = open.gid;
  event.prepared_end = open.prepared_end;
  event.prepared_at_us = open.prepared_at_us;
}

Result<std::optional<DecodedChanges>> ChangeReader::prepare(const wal::Record& record) {
  const auto found = open_.find(record.header.txn);
  if (found == open_.end() || record.lsn < options_.prepared_from)
    return std::optional<DecodedChanges>{};
  ASSIGN_OR_RETURN(const PreparedRecord prepared, payload::decode_prepared(record.payload));
  Open& open = found->second;
  if (open.changes.count() == 0) return std::optional<DecodedChanges>{};
  open.is_prepared = true;
  open.gid = prepared.gid;
  open.prepared_end = record.end;
  open.prepared_at_us = prepared.prepared_at_us;
  auto event = event_of(Event::prepared, record);
  event.committed_at_us = prepared.prepared_at_us;
  event.is_repeated = record.lsn < options_.committed_from;
  add_rest(event, open);
  ChangeBuffer changes =
      event.part != 0 ? std::move(open.changes).take_rest() : std::move(open.changes);
  return std::optional<DecodedChanges>{with_changes(std::move(event), std::move(changes))};
}

std::optional<DecodedChanges> ChangeReader::commit(const wal::Record& record) {
  const auto found = open_.find(record.header.txn);
  if (found == open_.end()) return std::nullopt;
  Open open = std::move(found->second);
  open_.erase(found);
  if (record.lsn < options_.committed_from) return std::nullopt;
  if (!open.is_prepared && !open.has_parts() && open.changes.count() == 0) return std::nullopt;
  auto event = event_of(open.is_prepared ? Event::committed_prepared : Event::committed, record);
  add_rest(event, open);
  if (open.is_prepared) return event;
  ChangeBuffer changes =
      event.part != 0 ? std::move(open.changes).take_rest() : std::move(open.changes);
  return with_changes(std::move(event), std::move(changes));
}

std::optional<DecodedChanges> ChangeReader::roll_back(const wal::Record& record) {
  const auto found = open_.find(record.header.txn);
  if (found == open_.end()) return std::nullopt;
  Open open = std::move(found->second);
  open_.erase(found);
  if (record.lsn < options_.committed_from) return std::nullopt;
  if (!open.is_prepared && !open.has_parts()) return std::nullopt;
  auto event =
      event_of(open.is_prepared ? Event::rolled_back_prepared : Event::rolled_back, record);
  add_rest(event, open);
  return event;
}

Result<std::optional<DecodedChanges>> ChangeReader::take(const wal::Record& record) {
  switch (kind_of(record.header)) {
    case RecordKind::change_noted:
      return note(record);
    case RecordKind::changes_taken_back:
      return take_back(record);
    case RecordKind::transaction_prepared:
      return prepare(record);
    case RecordKind::transaction_committed:
      return commit(record);
    case RecordKind::transaction_ended:
      return roll_back(record);
    default:
      return std::optional<DecodedChanges>{};
  }
}

Result<std::optional<DecodedChanges>> ChangeReader::next() {
  constexpr std::uint64_t kAtOnce = std::uint64_t{8} << 20U;
  if (is_at_end()) {
    const Lsn durable = log_.durable();
    if (reader_.position() >= options_.read_until) return std::optional<DecodedChanges>{};
    if (durable <= reader_.end()) return std::optional<DecodedChanges>{};
    reader_.extend_to(durable);
  }
  const std::uint64_t until = raw(reader_.position()) + kAtOnce;
  while (raw(reader_.position()) < until && reader_.position() < options_.read_until) {
    // Before the record is read, since the caller may be cancelled here.
    yield_point(kUnknownWork);
    ASSIGN_OR_RETURN(const auto record, reader_.next());
    if (!record) break;
    ASSIGN_OR_RETURN(auto event, take(*record));
    if (event) return std::optional<DecodedChanges>{std::move(event)};
  }
  return std::optional<DecodedChanges>{};
}

}  // namespace swizzle
