"""Known defects of lock/ for scripts/planted-faults, which puts them back one at a time."""

PRESET = "release"
TARGET = "swizzle_lock_schedule_tests"
PROGRAM = "lock/swizzle_lock_schedule_tests"
# Schedules first: they say most.
TESTS = [["[simulation]"], ["~[simulation]", "~[.]"]]

# (name, file in the folder, the right piece, the wrong one)
FAULTS = [
    (
        "L6 a rollback to a mark leaves intents",
        "lock_owner.cpp",
        "  release_slots_to(limit);\n",
        "",
        "intents in slots end with a rollback*",
    ),
    (
        "L6 a rollback to a mark leaves a widened intent",
        "table_locks.cpp",
        "    slot_ages_[record.slot].widened = ordinal_;\n",
        "    slot_ages_[record.slot].widened = 0;\n",
        "intents in slots end with a rollback*",
    ),
    (
        "L6 a mark behind a released key does not include the intents of before",
        "lock_owner.cpp",
        "    ordinal_ = std::max(entry->ordinal - 1, last_in_slot_);\n",
        "    ordinal_ = entry->ordinal - 1;\n",
        "a mark behind a released key*",
    ),
    (
        'P1 no second look before the sleep',
        'waiting.cpp',
        '    if (!parts_.is_blocked(entry)) return WaitEnd::granted;',
        '    static thread_local int looks = 0;\n'
        '    if (looks++ % 2 == 1 && !parts_.is_blocked(entry)) return WaitEnd::granted;',
    ),
    (
        'P1 release looks before it writes',
        'internal/raw_table.cpp',
        '  entry.state.store(EntryState::obsolete, std::memory_order_seq_cst);\n'
        '  pause_point(PausePoint::after_obsolete);\n'
        '  const auto reading = epochs_.enter(entry.seat->number);\n'
        '  wake_later(bucket, entry.name, &entry);\n',
        '  const auto reading = epochs_.enter(entry.seat->number);\n'
        '  wake_later(bucket, entry.name, &entry);\n'
        '  pause_point(PausePoint::after_obsolete);\n'
        '  entry.state.store(EntryState::obsolete, std::memory_order_seq_cst);\n',
    ),
    (
        'P1 a request that gives up wakes nobody',
        'internal/raw_table.cpp',
        '  wake_later(bucket, entry.name, &entry);\n'
        '  unlink(bucket, entry);',
        '  if (commit_lsn != Lsn::none) wake_later(bucket, entry.name, &entry);\n'
        '  unlink(bucket, entry);',
    ),
    (
        'P1 reads before it writes',
        'internal/raw_table.cpp',
        '  if (has_blocker(entry)) return {false, Lsn::none};',
        '  if (newest != 0 && has_blocker(*entry_at(newest))) return {false, Lsn::none};',
    ),
    (
        'P2 only the first blocker is followed',
        'internal/deadlock_search.cpp',
        'path.push_back({&seat, entry, parts_.blockers(*entry)});',
        'path.push_back({&seat, entry, parts_.blockers(*entry)});\n'
        '      if (path.back().blockers.size() > 1) path.back().blockers.resize(1);',
    ),
    (
        'P2 a cycle is not confirmed',
        'internal/deadlock_search.cpp',
        'still_there(of_holders) ? judge(of_holders) : Verdict::others_turn',
        'judge(of_holders)',
    ),
    (
        'P3 entries are reused at once',
        'internal/reader_epochs.h',
        '>= stamp + 2;',
        '>= stamp;',
    ),
    (
        'P3 the epoch ignores readers',
        'internal/reader_epochs.cpp',
        '!= 0) return false;',
        '> 1000) return false;',
    ),
    (
        'P3 the epoch never advances',
        'internal/reader_epochs.cpp',
        'bool ReaderEpochs::try_advance() noexcept {',
        'bool ReaderEpochs::try_advance() noexcept {\n'
        '  if (now() != 0) return false;',
    ),
    (
        'P5 IX and S are compatible',
        'modes.h',
        '((holder & kReadAll) != 0 && (other & kWriteBelow) != 0) ||',
        '',
    ),
    (
        'P6 a strong request that gave up stays announced',
        'lock_owner.cpp',
        '    partition.announced.fetch_sub(1, std::memory_order_seq_cst);',
        '    if (commit_lsn != Lsn::none) partition.announced.fetch_sub(1, std::memory_order_seq_cst);',
    ),
    (
        'P10 the tag comes after the release',
        'internal/raw_table.cpp',
        '  if (commit_lsn != Lsn::none && may_write(entry.mode)) raise(bucket.tag, commit_lsn);\n',
        '  if (commit_lsn == Lsn::max && may_write(entry.mode)) raise(bucket.tag, commit_lsn);\n',
    ),
    (
        'P10 intents do not look at the tag of strong locks',
        'table_locks.cpp',
        '    watermark_ = std::max(watermark_, Lsn{strong.tag.load(std::memory_order_relaxed)});\n',
        '',
    ),
    (
        'P10 table locks do not look at the seats',
        'lock_owner.cpp',
        'return is_strong(entry.mode) ? parts_.last_released() :',
        'return',
    ),
    (
        'L4 upgrades queue behind those who wait for them',
        'internal/raw_table.cpp',
        '|| !waits_for_owner(earlier, entry);',
        '|| waits_for_owner(earlier, entry) || true;',
    ),
    (
        'L5 the order of a queue is never turned',
        'internal/deadlock_search.cpp',
        'if (!still_there(cycle) || ask_to_give_way(cycle)) return',
        'if (!still_there(cycle)) return',
    ),
    (
        'L2 waiters do not block',
        'internal/raw_table.cpp',
        '  return state == EntryState::active || !waits_for_owner(earlier, entry);',
        '  return state == EntryState::active && (waits_for_owner(earlier, entry) || true);',
    ),
    (
        'L6 an intent looks before it writes',
        'table_locks.cpp',
        '  if (strong.announced.load(std::memory_order_seq_cst) == 0) {',
        '  if (true) {',
    ),
    (
        'L6 a slot is cleared without a wake',
        'table_locks.cpp',
        '    if ((slot & intent::kWanted) != 0) parts_.table->wake_waiters(intent::name_of(slot));',
        '    static_cast<void>(slot);',
    ),
    (
        'L13 a relation is shared without a look for strong requests',
        'table_locks.cpp',
        '  if (strong.announced.load(std::memory_order_seq_cst) != 0) [[unlikely]] {',
        '  if (false) {',
    ),
    (
        'L7 unlinked without a mark',
        'internal/raw_table.cpp',
        '  entry.next.fetch_or(kMark, std::memory_order_seq_cst);',
        '  std::uintptr_t self = address(entry);\n'
        '  const std::uintptr_t next = entry.next.load();\n'
        '  pause_point(PausePoint::after_mark);\n'
        '  if (bucket.newest.compare_exchange_strong(self, next)) return;\n'
        '  entry.next.fetch_or(kMark, std::memory_order_seq_cst);',
    ),
    (
        'L9 a gap check overlooks requests on their way',
        'internal/raw_table.cpp',
        '    if (state == EntryState::active || state == EntryState::requested) return false;\n'
        '  }\n'
        '  return true;',
        '    if (state == EntryState::active) return false;\n'
        '  }\n'
        '  return true;',
    ),
    (
        'L5 a search asks every waiter of a queue for all that stand before it',
        'internal/deadlock_search.cpp',
        '  return before != nullptr && before == waits_for(*blocker.seat)',
        '  return before == nullptr && before == waits_for(*blocker.seat)',
        '4000 waiters*',
    ),
    (
        'the locks of many tables are looked through one by one',
        'lock_owner.h',
        '  static constexpr std::size_t kFewTables = 16;',
        '  static constexpr std::size_t kFewTables = 1U << 30U;',
        'locks on 60*',
    ),
    (
        'a place of many tables is forgotten when there are more',
        'table_locks.cpp',
        '  for (std::size_t place = 0; place < tables_.size(); ++place) add_place(place);',
        '  for (std::size_t place = 1; place < tables_.size(); ++place) add_place(place);',
        'locks on 60*',
    ),
    (
        'of two that give way the second stands ahead',
        'internal/deadlock_search.cpp',
        'if (order == Order::oldest_first) std::ranges::reverse(blockers);',
        'static_cast<void>(order);',
        'the order of a queue is turned*',
    ),
    (
        'L16 a split gap is marked on one side',
        'serializable/read_marks.cpp',
        'put(*owners[i], inserted, ReadPart::gap, false) == Added::no_memory',
        'put(*owners[i], inserted == before ? inserted : before, ReadPart::gap, false) ==\n'
        '              Added::no_memory',
        'marks cover*',
    ),
    (
        'L16 only the first owners of a gap keep both parts',
        'serializable/read_marks.h',
        '      at = place.next;\n',
        '      at = nullptr;\n',
        'a split gap*',
    ),
    (
        'L15 a walk through the marks of one key keeps everybody else out',
        'serializable/read_marks.h',
        'at != nullptr && passed < kPortion;',
        'at != nullptr && passed < SIZE_MAX;',
        'a walk through*',
    ),
    (
        'L17 a commit does not doom pivots that run',
        'serializable/conflicts.cpp',
        '    if (!has_running_reader(*pivot, transaction)) continue;',
        '    if (pivot->state_ == State::active) continue;',
        'transactions that commit*',
    ),
    (
        'L17 a conflict with a committed pivot counts for nothing',
        'serializable/conflicts.cpp',
        '      has_early_overwriter(writer, reader) ||',
        '      (!writer.is_committing() && has_early_overwriter(writer, reader)) ||',
        'transactions that commit*',
    ),
    (
        'L17 a reader that writes nothing counts only if the commit is known',
        'serializable/conflicts.cpp',
        '         (writer.commit_ == Lsn::max || writer.commit_ < reader.snapshot_);',
        '         writer.commit_ < reader.snapshot_ && writer.commit_ > Lsn{12};',
        'a read-only snapshot is unsafe*',
    ),
    (
        'L17 commits are ordered by their leave',
        'serializable/conflicts.cpp',
        '  const std::uint64_t least = std::min(pivot.end_order_, reader.end_order_);',
        '  const std::uint64_t least = std::min(pivot.leave_order_, reader.leave_order_);',
        'transactions that commit*',
    ),
    (
        'L18 what is forgotten of a pivot has never been',
        'serializable/conflicts.cpp',
        '    reader->forgotten_order_ = std::min(reader->forgotten_order_, transaction.leave_order_);',
        '',
        'with marks on trees*',
    ),
    (
        'L18 a commit is forgotten before snapshots show it',
        'serializable/conflicts.cpp',
        '  Lsn seen = visible_end;',
        '  Lsn seen = visible_end == Lsn::none ? visible_end : Lsn::max;',
        'transactions that commit*',
    ),
]
