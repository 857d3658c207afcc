// The part of LockOwner about tables and the database: intents in private slots, strong locks, and
// escalation from many key locks to one table lock.
#include <algorithm>
#include <limits>

#include "base/invariant.h"
#include "lock/internal/manager_parts.h"
#include "lock/internal/pause_point.h"
#include "lock/lock_owner.h"

namespace swizzle::lock {
namespace {

LockName table_name(TreeId tree) noexcept {
  return {0, tree, Scope::table};
}
LockName relation_name(RelationId relation, Scope part) noexcept {
  return {0, TreeId{raw(relation)}, part};
}
constexpr LockName kDatabaseName{0, TreeId::directory, Scope::database};

}  // namespace

Result<Acquired> LockOwner::acquire_table(TreeId tree, TableMode mode, LockWait wait) {
  if (parts_.table == nullptr) return Acquired::granted;
  TableRecord& record = record_of(table_name(tree));
  if (record.read_locks >= record.escalate_at) [[unlikely]]
    escalate(record);
  return acquire_whole(record, mode, wait);
}

Result<Acquired> LockOwner::acquire_relation(RelationId relation, RelationMode mode,
                                             LockWait wait) {
  if (parts_.table == nullptr) return Acquired::granted;
  const RelationParts parts = parts_of(mode);
  const LockMark before = mark();
  // The content comes last, because wait_for_holders() takes an owner that has it for a holder.
  if (parts.rows != TableMode::none) {
    ASSIGN_OR_RETURN(
        const Acquired rows,
        acquire_whole(record_of(relation_name(relation, Scope::relation_rows)), parts.rows, wait));
    if (rows == Acquired::skipped) return rows;
  }
  Result<Acquired> content =
      acquire_whole(record_of(relation_name(relation, Scope::relation)), parts.content, wait);
  if (!content || *content == Acquired::skipped) release_to(before);
  return content;
}

Result<Acquired> LockOwner::wait_for_holders(RelationId relation, RelationMode mode,
                                             LockWait wait) {
  INVARIANT(mode == RelationMode::share || mode == RelationMode::access_exclusive);
  if (parts_.table == nullptr) return Acquired::granted;
  const LockName name = relation_name(relation, Scope::relation);
  return wait_for_room(&make_entry(name, awaiting(parts_of(mode).content), held_.find(name)), wait);
}

Result<Acquired> LockOwner::acquire_database(TableMode mode, LockWait wait) {
  if (parts_.table == nullptr) return Acquired::granted;
  return acquire_whole(record_of(kDatabaseName), mode, wait);
}

TableMode LockOwner::held_table(TreeId tree) const noexcept {
  const TableRecord* record = find_record(table_name(tree));
  return record == nullptr ? TableMode::none : record->total;
}

TableMode LockOwner::held_database() const noexcept {
  const TableRecord* record = find_record(kDatabaseName);
  return record == nullptr ? TableMode::none : record->total;
}

LockOwner::TableRecord& LockOwner::record_of(const LockName& name) {
  const std::size_t place = place_of(name);
  last_places_[raw(name.tree()) % kLastPlaces] = static_cast<std::uint32_t>(place);
  if (place < tables_.size()) return tables_[place];
  if (tables_.size() >= kFewTables) [[unlikely]]
    make_places_room();
  TableRecord& made = tables_.emplace_back(fresh_record(name));
  if (tables_.size() > kFewTables) [[unlikely]]
    add_place(tables_.size() - 1);
  return made;
}

std::size_t LockOwner::place_among_many(const LockName& name) const noexcept {
  const std::size_t mask = places_.size() - 1;
  for (std::size_t at = name.spread() & mask; places_[at] != 0; at = (at + 1) & mask)
    if (tables_[places_[at] - 1].name == name) return places_[at] - 1;
  return tables_.size();
}

void LockOwner::add_place(std::size_t place) noexcept {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = tables_[place].name.spread() & mask;
  while (places_[at] != 0) at = (at + 1) & mask;
  places_[at] = static_cast<std::uint32_t>(place + 1);
}

/// The only step of adding a record that may fail. Pre: there are kFewTables or more. Post: every
/// record has its place.
void LockOwner::make_places_room() {
  if (2 * (tables_.size() + 1) <= places_.size()) return;
  places_.assign(std::max(places_.size() * 2, 8 * kFewTables), 0);
  for (std::size_t place = 0; place < tables_.size(); ++place) add_place(place);
}

LockOwner::TableRecord LockOwner::fresh_record(const LockName& name) const noexcept {
  const std::uint32_t threshold =
      escalation_ == Escalation::when_due ? parts_.options.escalation_threshold : 0;
  TableRecord record{
      .name = name,
      .escalate_at = threshold == 0 ? std::numeric_limits<std::uint32_t>::max() : threshold};
  // try_share_relation() keeps no records.
  if (name.scope() != Scope::relation) return record;
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    const IntentSlot slot = seat_.intents[i].load(std::memory_order_relaxed);
    if (!intent::is_for(slot, name)) continue;
    record.slot = static_cast<std::uint8_t>(i);
    record.total = record.in_slot = intent::mode_of(slot);
  }
  return record;
}

bool LockOwner::try_share_relation(RelationId relation) noexcept {
  const LockName name = relation_name(relation, Scope::relation);
  const IntentSlot shared = intent::encode(name, TableMode::intent_shared);
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    // Any intent of this owner gives at least IS.
    if (intent::is_for(seat_.intents[i].load(std::memory_order_relaxed), name)) return true;
  }
  auto& strong = parts_.strong.of(name);
  if (strong.announced.load(std::memory_order_relaxed) != 0 || !may_use_slots_ ||
      slots_used_ == Seat::kIntentSlots || ordinal_ == kLastOrdinal) {
    return false;
  }
  auto& slot = seat_.intents[slots_used_];
  pause_point(PausePoint::before_intent);
  slot.store(shared, std::memory_order_seq_cst);
  pause_point(PausePoint::after_intent);
  if (strong.announced.load(std::memory_order_seq_cst) != 0) [[unlikely]] {
    withdraw_intent(slot, shared, 0);
    return false;
  }
  watermark_ = std::max(watermark_, Lsn{strong.tag.load(std::memory_order_relaxed)});
  last_in_slot_ = ++ordinal_;
  slot_ages_[slots_used_++] = {ordinal_, 0};
  return true;
}

Result<Acquired> LockOwner::acquire_whole(TableRecord& record, TableMode mode, LockWait wait) {
  if (implies(record.total, mode)) return Acquired::granted;
  if (is_intent(mode) && parts_.options.intent_path == IntentPath::private_slots &&
      try_intent_slot(record, mode)) {
    record.total = combine(record.total, mode);
    return Acquired::granted;
  }
  const LockName name = record.name;
  ASSIGN_OR_RETURN(const Acquired acquired, acquire_new(name, code(mode), held_.find(name), wait));
  if (acquired == Acquired::granted) record.total = combine(record.total, mode);
  return acquired;
}

bool LockOwner::try_intent_slot(TableRecord& record, TableMode mode) noexcept {
  auto& strong = parts_.strong.of(record.name);
  if (strong.announced.load(std::memory_order_relaxed) != 0) return false;
  const bool has_slot = record.in_slot != TableMode::none;
  if ((!has_slot && slots_used_ == Seat::kIntentSlots) || ordinal_ == kLastOrdinal) return false;
  auto& slot = seat_.intents[has_slot ? record.slot : slots_used_];

  const IntentSlot before = has_slot ? intent::encode(record.name, record.in_slot) : IntentSlot{0};
  const IntentSlot with = intent::encode(record.name, combine(record.in_slot, mode));
  IntentSlot seen = before;
  pause_point(PausePoint::before_intent);
  // Fails only if a strong request has asked this slot for a wake meanwhile.
  if (!slot.compare_exchange_strong(seen, with, std::memory_order_seq_cst)) return false;
  pause_point(PausePoint::after_intent);
  // Acquire part: the tag of the owner that made the count zero.
  if (strong.announced.load(std::memory_order_seq_cst) == 0) {
    watermark_ = std::max(watermark_, Lsn{strong.tag.load(std::memory_order_relaxed)});
    record.in_slot = combine(record.in_slot, mode);
    last_in_slot_ = ++ordinal_;
    if (has_slot) {
      slot_ages_[record.slot].widened = ordinal_;
    } else {
      record.slot = static_cast<std::uint8_t>(slots_used_);
      slot_ages_[slots_used_++] = {ordinal_, 0};
    }
    return true;
  }
  withdraw_intent(slot, with, before);
  return false;
}

// Restores the slot. A strong request that saw the attempt may wait for it.
void LockOwner::withdraw_intent(std::atomic<IntentSlot>& slot, IntentSlot with,
                                IntentSlot before) noexcept {
  IntentSlot seen = with;
  for (;;) {
    const IntentSlot wanted = seen & intent::kWanted;
    const IntentSlot back = before == 0 ? 0 : before | wanted;
    if (slot.compare_exchange_weak(seen, back, std::memory_order_seq_cst)) {
      if (wanted != 0) parts_.table->wake_waiters(intent::name_of(with));
      return;
    }
  }
}

void LockOwner::clear_intent_slots() noexcept {
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    pause_point(PausePoint::before_intent_clear);
    const IntentSlot slot = seat_.intents[i].exchange(0, std::memory_order_seq_cst);
    if ((slot & intent::kWanted) != 0) parts_.table->wake_waiters(intent::name_of(slot));
  }
  slots_used_ = 0;
}

void LockOwner::release_slots_to(std::uint32_t ordinal) noexcept {
  // Nearly always nothing was put into a slot since.
  if (last_in_slot_ <= ordinal) return;
  for (; slots_used_ != 0 && slot_ages_[slots_used_ - 1].granted > ordinal; --slots_used_) {
    auto& slot = seat_.intents[slots_used_ - 1];
    const LockName name = intent::name_of(slot.load(std::memory_order_relaxed));
    note_in_slot(name, TableMode::none);
    pause_point(PausePoint::before_intent_clear);
    if ((slot.exchange(0, std::memory_order_seq_cst) & intent::kWanted) != 0)
      parts_.table->wake_waiters(name);
  }
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    if (slot_ages_[i].widened <= ordinal) continue;
    auto& slot = seat_.intents[i];
    const IntentSlot wide = slot.load(std::memory_order_relaxed) & ~intent::kWanted;
    const LockName name = intent::name_of(wide);
    slot_ages_[i].widened = 0;
    note_in_slot(name, TableMode::intent_shared);
    withdraw_intent(slot, wide, intent::encode(name, TableMode::intent_shared));
  }
}

void LockOwner::note_in_slot(const LockName& name, TableMode mode) noexcept {
  const std::size_t place = place_of(name);
  // try_share_relation() keeps no records.
  if (place == tables_.size()) return;
  TableRecord& record = tables_[place];
  record.in_slot = mode;
  const Entry* const entry = held_.find(name);
  record.total = combine(mode, entry == nullptr ? TableMode::none : table_mode(entry->total));
}

void LockOwner::escalate_if_due(TreeId tree) {
  if (parts_.table == nullptr) return;
  TableRecord& record = record_of(table_name(tree));
  if (record.read_locks >= record.escalate_at) escalate(record);
}

void LockOwner::escalate(TableRecord& record) {
  const TreeId tree = record.name.tree();
  const auto outcome = acquire_whole(record, TableMode::shared, kSkipLocked);
  if (!outcome || *outcome == Acquired::skipped) {
    record.escalate_at = record.read_locks + parts_.options.escalation_threshold;
    return;
  }
  // A rollback to a mark must not take this lock: it now stands for key locks from before the mark.
  for (Entry* entry = held_.find(record.name); entry != nullptr;
       entry = entry->older_of_same_name) {
    entry->until_end = true;
  }
  drop_read_locks(tree);
  // Remaining and future key locks are of writes.
  record.escalate_at = std::numeric_limits<std::uint32_t>::max();
  parts_.counters.escalations.fetch_add(1, std::memory_order_relaxed);
}

void LockOwner::count_read_lock(TableRecord& record, const Entry* before,
                                const Entry* after) noexcept {
  const auto is_for_reading = [](const Entry* newest) {
    return newest != nullptr && !may_write(newest->total);
  };
  if (is_for_reading(before)) --record.read_locks;
  if (is_for_reading(after)) ++record.read_locks;
}

// True if the owner has only read the key, and its lock does not permit it to write.
bool LockOwner::is_read_lock(const Entry& entry, TreeId tree) const noexcept {
  return entry.name.scope() == Scope::key && entry.name.tree() == tree &&
         !may_write(held_.find(entry.name)->total);
}

void LockOwner::drop_read_locks(TreeId tree) noexcept {
  Entry* staying = nullptr;
  while (newest_ != nullptr) {
    Entry* entry = newest_;
    newest_ = entry->previous;
    if (is_read_lock(*entry, tree)) {
      forget(*entry);
      discard(*entry, Lsn::none);
    } else {
      entry->previous = staying;
      staying = entry;
    }
  }
  while (staying != nullptr) {
    Entry* entry = staying;
    staying = entry->previous;
    entry->previous = newest_;
    newest_ = entry;
  }
  arena_.trim();
}

}  // namespace swizzle::lock
