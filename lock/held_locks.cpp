// The part of LockOwner about locks that outlive a process: one owner writes them down, another
// takes them again.
#include <algorithm>

#include "lock/internal/intents.h"
#include "lock/internal/manager_parts.h"
#include "lock/lock_owner.h"

namespace swizzle::lock {
namespace {

LockRow::Kind row_kind_of(Scope scope) noexcept {
  switch (scope) {
    case Scope::key:
      return LockRow::Kind::key;
    case Scope::table:
      return LockRow::Kind::table;
    case Scope::database:
      return LockRow::Kind::database;
    case Scope::relation:
      return LockRow::Kind::relation;
    case Scope::relation_rows:
      return LockRow::Kind::relation_rows;
    case Scope::transaction:
      break;
  }
  return LockRow::Kind::transaction;
}

Scope lock_scope_of(LockRow::Kind kind) noexcept {
  switch (kind) {
    case LockRow::Kind::key:
      return Scope::key;
    case LockRow::Kind::table:
      return Scope::table;
    case LockRow::Kind::database:
      return Scope::database;
    case LockRow::Kind::relation:
      return Scope::relation;
    case LockRow::Kind::relation_rows:
      return Scope::relation_rows;
    case LockRow::Kind::transaction:
    case LockRow::Kind::relation_holders:
      break;
  }
  return Scope::transaction;
}

HeldLock whole_lock(const LockName& name, TableMode mode) noexcept {
  return {.kind = row_kind_of(name.scope()),
          .place = raw(name.tree()),
          .hash = 0,
          .key_mode = {},
          .table_mode = mode};
}

}  // namespace

std::vector<HeldLock> LockOwner::held_locks() const {
  std::vector<HeldLock> all;
  for (const TableRecord& record : tables_)
    if (record.total != TableMode::none) all.push_back(whole_lock(record.name, record.total));
  // try_share_relation() keeps no records.
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    const IntentSlot slot = seat_.intents[i].load(std::memory_order_relaxed);
    const LockName name = intent::name_of(slot);
    if (intent::mode_of(slot) != TableMode::none && find_record(name) == nullptr)
      all.push_back(whole_lock(name, intent::mode_of(slot)));
  }
  for (const Entry* entry = newest_; entry != nullptr; entry = entry->previous) {
    if (entry->name.scope() != Scope::key || held_.find(entry->name) != entry) continue;
    all.push_back({.kind = LockRow::Kind::key,
                   .place = raw(entry->name.tree()),
                   .hash = entry->name.hash(),
                   .key_mode = key_mode(entry->total),
                   .table_mode = TableMode::none});
  }
  return all;
}

Result<> LockOwner::retake(const HeldLock& lock) {
  if (parts_.table == nullptr) return {};
  if (lock.kind == LockRow::Kind::key) {
    RETURN_IF_ERROR(acquire({TreeId{lock.place}, lock.hash}, lock.key_mode, kNoWait));
    return {};
  }
  const LockName name{0, TreeId{lock.place}, lock_scope_of(lock.kind)};
  RETURN_IF_ERROR(acquire_whole(record_of(name), lock.table_mode, kNoWait));
  return {};
}

}  // namespace swizzle::lock
