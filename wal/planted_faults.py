"""Known defects of wal/ for scripts/planted-faults, which puts them back one at a time."""

PRESET = "release"
TARGET = "swizzle_wal_tests"
PROGRAM = "wal/swizzle_wal_tests"
TESTS = [["~[stress]", "~[.]"], ["[stress]"]]

# (name, file in the folder, the right piece, the wrong one, the tests to run: all unless told)
FAULTS = [
    (
        "W10 records of an older log are bound to the other id",
        "internal/log_window.h",
        "    return older && at < raw(older->resumes_at) ? older->database_id : location_.database_id;",
        "    return older && at < raw(older->end) - 1000 ? older->database_id : location_.database_id;",
        "a log that goes on from an older one*",
    ),
    (
        "W10 a reader stops at the end of the older log",
        "reader.cpp",
        "position = std::max(position, raw(older->resumes_at));",
        "position = std::max(position, raw(older->end));",
        "a log that goes on from an older one*",
    ),
    (
        "W10 the older log stays",
        "internal/segment_keeper.cpp",
        "  RETURN_IF_ERROR(store_.remove_older(store_.geometry().number_of(keep_from_.load())));\n",
        "",
        "a log that goes on from an older one*",
    ),
    (
        "a backup's part of a segment is taken for the archive's segment",
        "older_segments.cpp",
        "(part == Part::taken || backup_has_whole(number))",
        "(part == Part::taken || backup_has_whole(0) || number != 0)",
        "the backup's whole segments*",
    ),
    (
        "all fetched segments stay",
        "older_segments.cpp",
        "  if (keeps_all_ || in_directory_.size() <= most) return;\n",
        "  if (keeps_all_ || in_directory_.size() <= most + 1) return;\n",
        "a segment is fetched when*",
    ),
    (
        "a read fetches the next segment, too",
        "internal/log_window.cpp",
        "  if (geometry_.number_of(to - 1) > last && is_absent(last + 1))",
        "  if (geometry_.number_of(to - 1) > last + 1 && is_absent(last + 1))",
        "a segment is fetched when*",
    ),
    (
        "another segment under the name of the wanted one counts as damage",
        "older_segments.cpp",
        "why.state() == sqlstate::data_corrupted ? sqlstate::io_error : why.state();",
        "why.state();",
        "a segment that cannot be had*",
    ),
    (
        "on a full disk what completion gives back comes to growth",
        "internal/log_budget.cpp",
        "  if (of == Credits::kept_for_completion) [[unlikely]] {",
        "  if (of == Credits::kept_for_completion && bytes == 0) [[unlikely]] {",
        "on a full disk growth gets nothing*",
    ),
    (
        "a record of another database passes",
        "record.cpp",
        "(raw(lsn) + std::rotl(database_id, 29))",
        "(raw(lsn) + 0 * database_id)",
        "a record passes only*",
    ),
    (
        "length and layout are not in the checksum",
        "record.cpp",
        " ^ (length_and_layout * kOdd)",
        " ^ (0 * length_and_layout * kOdd)",
        "no changed bit*",
    ),
    (
        "the search for the log's end does not show each record that it passes",
        "internal/log_scan.cpp",
        "    visitor->visit(record);\n",
        "    if (found.end % 64 != 0) visitor->visit(record);\n",
        "what sees the records*",
    ),
    (
        "P14 damage to what was durable is taken for the end",
        "internal/log_scan.cpp",
        "  RETURN_IF_ERROR(refuse_damage(window, found.end, limit));\n",
        "  static_cast<void>(refuse_damage(window, found.end, found.end));\n",
    ),
    (
        "P14 what lies behind a torn tail stays",
        "internal/log_scan.cpp",
        "zero_behind(location, end.end, std::min(limit, "
        "block_ceiling(end.end + kMaxUndurableBytes)))",
        "zero_behind(location, end.end, std::min(limit, block_ceiling(end.end)))",
        "P14*",
    ),
    (
        "a missing segment is no reason to stop",
        "internal/log_scan.cpp",
        "  if (wanted == geometry.number_of(from) || later_exists) {",
        "  if (wanted == geometry.number_of(from) && later_exists) {",
    ),
    (
        "nothing is kept for completion",
        "internal/log_budget.cpp",
        "completion_bytes_ + rollbacks_.unreserved_space() : 0;",
        "0 * completion_bytes_ + rollbacks_.unreserved_space() : 0;",
    ),
    (
        "writers are refused while old segments are being let go",
        "internal/shortage.cpp",
        "  if (looked_at_ != State::answered) return now;\n",
        "",
        "who is short*",
    ),
    (
        "P30 credits that come back wake nobody",
        "internal/log_budget.cpp",
        "  if (waiting_.load(std::memory_order_seq_cst) != 0) {\n"
        "    serve_waiters();\n"
        "  } else if",
        "  if (waiting_.load(std::memory_order_seq_cst) > 64) {\n"
        "    serve_waiters();\n"
        "  } else if",
    ),
    (
        "segments are recycled before they are archived",
        "internal/segment_keeper.cpp",
        "archiver_ ? std::min(needed, archiver_->next_segment()) : needed",
        "archiver_ ? std::max(needed, archiver_->next_segment()) : needed",
    ),
    (
        "P1 who stops writing does not look who came",
        "internal/flusher.cpp",
        "  if (wanted() || lazy_wanted()) nudge();",
        "  if (wanted() && lazy_wanted()) nudge();",
    ),
    (
        "P10 waiters are released up to the end of the write before",
        "internal/flusher.cpp",
        "    if (waiter->end > durable_now) {",
        "    if (waiter->end > durable_now + 4096) {",
    ),
    (
        "an asynchronous commit waits for somebody else's",
        "internal/flusher.cpp",
        "(!lazy_deadline && lazy_wanted());",
        "(!lazy_deadline && false);",
    ),
    (
        "a wait for room in the log has no end",
        "internal/log_budget.cpp",
        "    const bool ends = may_end && is_asked_to_end();\n",
        "    const bool ends = false;\n",
        "a wait for room in the log ends when*",
    ),
    (
        "who leaves the queue for room keeps the others in it",
        "internal/log_budget.cpp",
        "  waiting_.fetch_sub(1, std::memory_order_seq_cst);\n  serve_waiters_locked();\n}\n\nvoid LogBudget::answer",
        "  waiting_.fetch_sub(1, std::memory_order_seq_cst);\n}\n\nvoid LogBudget::answer",
        "a wait for room in the log ends when*",
    ),
]
