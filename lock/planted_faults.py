#!/usr/bin/env python3
"""Puts known defects back into lock/, one at a time, and shows that the tests notice.

    lock/planted_faults.py FOLDER [NUMBER …]

FOLDER receives a copy of the committed sources and a build (preset dev). Each fault is a piece of
source and what it becomes; a piece that is no longer there is an error, so the list stays true.
Ends with 1 if a fault survives.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONE_RUN_SECONDS = 120

# (name, file in lock/, the right piece, the wrong one)
FAULTS = [
    (
        'P1 no second look before the sleep',
        'waiting.cpp',
        '    if (!parts_.is_blocked(entry)) return {};',
        '    static thread_local int looks = 0;\n'
        '    if (looks++ % 2 == 1 && !parts_.is_blocked(entry)) return {};',
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
        '  if (!still_there(cycle)) return',
        '  if (false) return',
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
        '  if (this != nullptr) return false;',
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
]


def build(tree: pathlib.Path, root: pathlib.Path) -> bool:
    environment = dict(os.environ, SWIZZLE_BUILD_ROOT=str(root))
    done = subprocess.run([tree / "scripts/build", "dev", "swizzle_lock_tests"],
                          env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-3000:], done.stderr[-3000:])
    return done.returncode == 0


def complaint(root: pathlib.Path) -> str | None:
    """The first thing the tests object to, schedules first; None if they are content."""
    program = root / "dev/lock/swizzle_lock_tests"
    for tests in (["[simulation]"], ["~[stress]", "~[simulation]"]):
        try:
            done = subprocess.run([program, *tests, "-r", "compact", "-a"],
                                  capture_output=True, text=True, timeout=ONE_RUN_SECONDS)
        except subprocess.TimeoutExpired:
            return "hangs"
        if done.returncode != 0:
            signs = ("failed:", "ERROR: AddressSanitizer", "invariant violated")
            lines = [line for line in (done.stdout + done.stderr).splitlines()
                     if any(sign in line for sign in signs)]
            return lines[0].strip()[:200] if lines else f"exit status {done.returncode}"
    return None


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    folder = pathlib.Path(sys.argv[1]).resolve()
    chosen = [int(number) for number in sys.argv[2:]] or range(len(FAULTS))
    tree, root = folder / "source", folder / "build"
    tree.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    # Touched: an older time than that of what a fault was built into would not be built again.
    subprocess.run(["tar", "xm", "-C", tree], input=archive.stdout, check=True)
    if not build(tree, root) or (objection := complaint(root)) is not None:
        print("the tests do not pass without a fault:", objection)
        return 1
    survivors = 0
    for number in chosen:
        name, file, right, wrong = FAULTS[number]
        path = tree / "lock" / file
        text = path.read_text()
        if right not in text:
            print(f"{number} {name}: the source has changed, adapt the fault")
            survivors += 1
            continue
        path.write_text(text.replace(right, wrong, 1))
        try:
            objection = complaint(root) if build(tree, root) else "does not compile"
        finally:
            path.write_text(text)
        print(f"{number} {name}: {objection or 'SURVIVED'}", flush=True)
        survivors += objection in (None, "does not compile")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
