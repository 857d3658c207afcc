#include "lock/lock_manager.h"

#include <utility>

#include "base/invariant.h"
#include "lock/internal/manager_parts.h"

namespace swizzle::lock {
namespace {

LockRow::Kind kind_of(Scope scope) noexcept {
  using Kind = LockRow::Kind;
  constexpr std::array kinds{Kind::key,      Kind::table,         Kind::database,
                             Kind::relation, Kind::relation_rows, Kind::transaction};
  return kinds[std::to_underlying(scope)];
}

LockRow row_of(const Entry& entry, EntryState state) {
  LockRow row;
  row.txn = entry.seat->txn.load(std::memory_order_relaxed);
  row.label = entry.seat->label.load(std::memory_order_relaxed);
  row.kind =
      is_awaiting(entry.mode) ? LockRow::Kind::relation_holders : kind_of(entry.name.scope());
  row.tree = entry.name.tree();
  row.relation = entry.name.relation();
  row.hash = entry.name.hash();
  if (entry.name.scope() == Scope::key || entry.name.scope() == Scope::transaction) {
    row.key_mode = key_mode(entry.mode);
  } else {
    row.table_mode = table_mode(entry.mode);
  }
  if (state != EntryState::active) {
    row.state = LockRow::State::waiting;
    row.waiting_since =
        TimePoint{Duration{entry.seat->waiting_since.load(std::memory_order_relaxed)}};
  }
  return row;
}

void add_intents(const Seat& seat, std::vector<LockRow>& rows) {
  for (const auto& slot : seat.intents) {
    const IntentSlot seen = slot.load(std::memory_order_acquire);
    if (seen == 0) continue;
    const LockName name = intent::name_of(seen);
    LockRow row;
    row.txn = seat.txn.load(std::memory_order_relaxed);
    row.label = seat.label.load(std::memory_order_relaxed);
    row.kind = kind_of(name.scope());
    row.tree = name.tree();
    row.relation = name.relation();
    row.table_mode = intent::mode_of(seen);
    row.path = LockRow::Path::private_slot;
    rows.push_back(row);
  }
}

}  // namespace

LockManager::LockManager(LockOptions options)
    : parts_(std::make_unique<LockManagerParts>(std::move(options))) {}

LockManager::~LockManager() {
  INVARIANT(parts_->owners.load(std::memory_order_acquire) == 0);
}

bool LockManager::is_free(LockId id, KeyMode mode) const noexcept {
  return parts_->table == nullptr ||
         parts_->table->is_free({id.hash, id.tree, Scope::key}, code(mode), nullptr);
}

std::vector<LockRow> LockManager::snapshot() const {
  std::vector<LockRow> rows;
  if (parts_->table == nullptr) return rows;
  for (std::uint32_t number = 0; number < parts_->seats.size(); ++number) {
    add_intents(parts_->seats[number], rows);
  }
  parts_->table->visit([&rows](const Entry& entry) {
    // An entry that is moving through the queue is neither held nor waiting: leave it out.
    const EntryState state = entry.state.load(std::memory_order_acquire);
    if (state == EntryState::active || state == EntryState::waiting) {
      rows.push_back(row_of(entry, state));
    }
  });
  return rows;
}

std::vector<LockRow> LockManager::waits() const {
  std::vector<LockRow> rows;
  if (parts_->table == nullptr) return rows;
  for (std::uint32_t number = 0; number < parts_->seats.size(); ++number) {
    const auto& waiting = parts_->seats[number].waiting;
    if (waiting.load(std::memory_order_relaxed) == nullptr) continue;
    // Keep the epoch: entries seen from here on are not reused before the guard ends.
    const auto reading = parts_->epochs.enter(number);
    if (const Entry* const entry = waiting.load(std::memory_order_seq_cst))
      rows.push_back(row_of(*entry, EntryState::waiting));
  }
  return rows;
}

LockStatistics LockManager::statistics() const noexcept {
  const auto& counters = parts_->counters;
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {.waits = read(counters.waits),
          .deadlocks = read(counters.deadlocks),
          .timeouts = read(counters.timeouts),
          .cancellations = read(counters.cancellations),
          .escalations = read(counters.escalations),
          .entry_bytes = parts_->pool.bytes()};
}

std::vector<std::pair<std::string, std::uint64_t>> LockManager::waits_by_mode() const {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (std::uint8_t mode = 1; mode < kModeCodes; ++mode) {
    all.emplace_back(name(ModeCode{mode}),
                     parts_->counters.waits_by_mode[mode].load(std::memory_order_relaxed));
  }
  return all;
}

const LockOptions& LockManager::options() const noexcept {
  return parts_->options;
}

}  // namespace swizzle::lock
