#include "storage/logical/logical_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/invariant.h"
#include "storage/engine_parts.h"
#include "storage/logical/change_record.h"
#include "storage/txn/transaction_access.h"
#include "wal/record.h"

namespace swizzle {
namespace {

constexpr Duration kLooksForWritersEvery = std::chrono::milliseconds{2};

wal::RecordHeader noted_header(const TransactionState& state) noexcept {
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(RecordKind::change_noted);
  header.txn = state.slot.chain.id.load(std::memory_order_relaxed);
  // The record is in no undo chain, since undo need not visit it.
  header.txn_prev = state.slot.chain.last.load(std::memory_order_relaxed);
  return header;
}

/// Notes a change that is too large for one record.
Result<> note_in_parts(TransactionState& state, std::span<const Bytes> parts) {
  std::vector<std::byte> body;
  for (const Bytes part : parts) body.insert(body.end(), part.begin(), part.end());
  const wal::RecordHeader header = noted_header(state);
  payload::NotedChange change{.undo_position = state.undo->count(), .body = {}};
  std::array<std::byte, payload::kNotedHeadBytes> head;
  for (Bytes rest = body; !rest.empty();) {
    change.body = rest.first(std::min(rest.size(), payload::kMostNotedBytes));
    rest = rest.subspan(change.body.size());
    change.part =
        rest.empty() ? payload::NotedChange::Part::last : payload::NotedChange::Part::more;
    payload::encode_noted(change, head.data());
    ASSIGN_OR_RETURN(LogSpace space,
                     state.engine.log->reserve(head.size() + change.body.size(), 1));
    const std::array<Bytes, 2> payload{Bytes{head}, change.body};
    state.engine.log->append(space, header, payload);
  }
  return {};
}

}  // namespace

LogicalLog::LogicalLog(EngineParts& engine, std::unique_ptr<LogSlots> slots)
    : engine_(engine), slots_(std::move(slots)) {}

Result<> LogicalLog::note(Transaction& transaction, std::span<const Bytes> parts) {
  constexpr std::size_t kMostParts = 4;
  INVARIANT(parts.size() <= kMostParts);
  TransactionState& state = TransactionAccess::state(transaction);
  if (!state.engine.log->enabled()) return {};
  INVARIANT(state.undo != nullptr && state.undo->count() != 0);
  state.noted_position = state.undo->count();
  std::size_t bytes = 0;
  for (const Bytes part : parts) bytes += part.size();
  if (bytes > payload::kMostNotedBytes) return note_in_parts(state, parts);
  std::array<std::byte, payload::kNotedHeadBytes> head;
  payload::encode_noted({.undo_position = state.noted_position, .body = {}}, head.data());
  std::array<Bytes, kMostParts + 1> payload{Bytes{head}};
  std::ranges::copy(parts, payload.begin() + 1);
  ASSIGN_OR_RETURN(LogSpace space, state.engine.log->reserve(head.size() + bytes, 1));
  state.engine.log->append(space, noted_header(state), std::span{payload}.first(parts.size() + 1));
  return {};
}

Lsn LogicalLog::durable() const noexcept {
  return engine_.log->durable();
}

Lsn LogicalLog::tail() const noexcept {
  return engine_.log->tail();
}

void LogicalLog::end_with_mark(Lsn end) {
  engine_.log->end_with_mark(end);
}

void LogicalLog::flush() noexcept {
  engine_.log->flush_to(engine_.log->tail());
}

namespace {

/// A standby does not decode changes.
Result<> require_writer(const EngineParts& engine) {
  if (engine.replay_gate == nullptr) return {};
  return fail(sqlstate::feature_not_supported,
              "logical replication slots cannot be used on a standby");
}

}  // namespace

Result<> LogicalLog::begin_slot(Slot slot, std::size_t most, const std::function<void()>& waits) {
  RETURN_IF_ERROR(require_writer(engine_));
  {
    // Retain the log: nothing behind its end may be released before the slot is listed.
    const Checkpointer::Retention keep(*engine_.checkpointer);
    slot.restart = engine_.log->tail();
    RETURN_IF_ERROR(slots_->reserve(std::move(slot), most));
  }
  const TxnId next = engine_.registry->peek_next_id();
  while (engine_.registry->has_writer_below(next)) {
    Runtime::current().sleep_until(Runtime::current().now() + kLooksForWritersEvery);
    waits();
  }
  // Flush, so that a reader that starts at the slot's position finds a record there.
  flush();
  return {};
}

Result<Lsn> LogicalLog::make_physical_slot(Slot slot, std::size_t most) {
  const std::string name = slot.name;
  Lsn kept = Lsn::none;
  const auto reserve = [&](Lsn oldest) {
    if (slot.restart != Lsn::none) slot.restart = kept = oldest;
    return slots_->reserve(std::move(slot), most);
  };
  if (engine_.oldest_log != nullptr) {
    RETURN_IF_ERROR(reserve(Lsn{engine_.oldest_log->load()}));
  } else {
    // Retain the log until the slot is listed.
    const Checkpointer::Retention keep(*engine_.checkpointer);
    // A base copy begins at a checkpoint, whose redo point may be earlier.
    RETURN_IF_ERROR(reserve(engine_.checkpointer->last().keep_from));
  }
  if (auto made = slots_->complete(name, Lsn::none); !made) {
    slots_->drop_unfinished(name);
    return fail(std::move(made).error());
  }
  return kept;
}

Result<> LogicalLog::move_physical_slot(std::string_view name, Lsn has, LogSlots::Save when) {
  const Lsn kept{raw(has) - std::min<std::uint64_t>(raw(has), wal::kMaxRecordBytes)};
  return slots_->advance(name, kept, has, when);
}

std::unique_ptr<wal::ByteReader> LogicalLog::bytes() const {
  return std::make_unique<wal::ByteReader>(*engine_.log);
}

std::uint64_t LogicalLog::log_id() const noexcept {
  return engine_.log->enabled() ? engine_.log->location().database_id : 0;
}

LogicalLog::LastCheckpoint LogicalLog::last_checkpoint() const noexcept {
  // Each step of a standby's redo ends in one.
  if (engine_.checkpointer == nullptr)
    return {durable(), durable(), engine_.registry->peek_next_id(), 0};
  const Checkpointer::Last last = engine_.checkpointer->last();
  return {last.begin, last.redo_from, last.next_txn, last.taken_at_us};
}

std::uint64_t LogicalLog::segment_bytes() const {
  return engine_.log->enabled() ? engine_.log->location().segment_bytes
                                : wal::LogOptions{}.segment_bytes;
}

std::uint32_t LogicalLog::timeline() const noexcept {
  return engine_.log->timeline();
}

Result<wal::TimelineHistory> LogicalLog::history(std::uint32_t timeline) const {
  const wal::LogLocation location = engine_.log->location();
  return wal::TimelineHistory::read(*location.files, location.directory, timeline);
}

ReadView LogicalLog::view_of(Transaction& transaction) {
  return TransactionAccess::state(transaction).view();
}

void LogicalLog::adopt_view(Transaction& transaction, const ReadView& view) {
  TransactionAccess::state(transaction).adopt_view(view);
}

std::unique_ptr<ChangeReader> LogicalLog::read(Lsn from, ChangeReader::Options options) {
  return std::make_unique<ChangeReader>(*engine_.log, from, options);
}

std::unique_ptr<wal::LogFollower> LogicalLog::follower(std::function<void()> wake) const {
  return std::make_unique<wal::LogFollower>(*engine_.log, std::move(wake));
}

void LogicalLog::keep_at_most(std::uint64_t bytes) noexcept {
  most_bytes_.store(bytes, std::memory_order_relaxed);
}

void LogicalLog::keep_at_least(std::uint64_t bytes) noexcept {
  least_bytes_.store(bytes, std::memory_order_relaxed);
}

Lsn LogicalLog::kept_from() {
  const Lsn tail = engine_.log->tail();
  const Lsn for_slots = slots_->kept_from(tail, most_bytes_.load(std::memory_order_relaxed));
  const std::uint64_t least = least_bytes_.load(std::memory_order_relaxed);
  if (least == 0) return for_slots;
  return std::min(for_slots, Lsn{raw(tail) - std::min(raw(tail), least)});
}

}  // namespace swizzle
