"""Known defects of sql-lite-frontend/ for scripts/planted-faults, which puts them back one at a time. Each
names the tests that find it: all of them take minutes."""

PRESET = "release"
TARGET = "swizzle_sql_tests"
PROGRAM = "sql-lite-frontend/swizzle_sql_tests"
TESTS = [["~[crash]", "~[stress]", "~[.]"]]

# (name, file in the folder, the right piece, the wrong one, its tests)
FAULTS = [
    (
        "a row of a hash join is looked for in another part than it was put in",
        "execute/joins/hash_join.cpp",
        "splitting_[has_key ? KeyTable::part_of(table_.key(), splitting_.size(), depth) : 0]",
        "splitting_[has_key ? KeyTable::part_of(table_.key(), splitting_.size(), depth + 1) : 0]",
        "What does not fit work_mem gives the same rows from files",
    ),
    (
        "a row that has met another is shown as alone, too",
        "execute/joins/hash_join.cpp",
        "    if (!row_matched_.empty()) row_matched_[row] = 1;\n",
        "",
        "A row that has met another*",
    ),
    (
        "a merge join meets the first of equal rows alone",
        "execute/joins/merge_join.cpp",
        "        group_.rows.keep(execution);\n      } else {",
        "        static_cast<void>(group_.rows.size());\n      } else {",
        "Two large tables in the same order are merged",
    ),
    (
        "a parent is looked up and not locked",
        "write/key_probe.cpp",
        "    if (lock()) return true;\n",
        "    return true;\n",
        "No orphans are left in any interleaving of the simulation",
        "Who refers to a key keeps it*",
    ),
    (
        "a parent with a key of another type is looked up and not locked",
        "write/foreign_key.cpp",
        '"SELECT 1 FROM {} x WHERE {} FOR KEY SHARE OF x",',
        '"SELECT 1 FROM {} x WHERE {}",',
        "Who refers to a key of another type keeps it*",
    ),
    (
        "a value that may be repeated for a while is nobody's",
        "write/row_entries.cpp",
        "  value_of(tree.lock_key(transaction, key));\n",
        "",
        "A deferrable key waits*",
        "Transactions over a deferred key*",
    ),
    (
        "an updated key is not checked",
        "write/deferrable_keys.cpp",
        "    if (!same_values(keys_[i].types, before, values)) note(execution, i, values);",
        "    if (same_values(keys_[i].types, before, values)) note(execution, i, values);",
        "A deferrable key waits*",
        "Transactions over a deferred key*",
    ),
    (
        "a row that was waited for is not asked again",
        "execute/access/lock_rows.cpp",
        "    if (!holds_all && !recheck.is_outer_join) return false;\n",
        "",
        "What is locked is asked again*",
    ),
    (
        "at REPEATABLE READ a locked row shows what others made of it",
        "execute/access/lock_rows.cpp",
        "  show_as_found(execution);\n  return true;",
        "  return true;",
        "FOR KEY SHARE at REPEATABLE READ*",
        "What is locked is asked again*",
    ),
    (
        "what a savepoint took back is not said again",
        "session/shared/notifications.cpp",
        "    distinct_.erase(identity_of(*said_.back()));\n",
        "",
        "What a transaction says twice*",
    ),
    (
        "the last entry of a statement stays out of the index",
        "write/entry_batch.cpp",
        "  make_next(transaction);\n  sorter_.restart();",
        "  remove_next(transaction);\n  sorter_.restart();",
        "Statements of many rows leave tables and indexes that agree",
    ),
    (
        "an entry that goes and comes again is lost",
        "write/entry_batch.cpp",
        "      if (is_other || inserts_.empty() || compare",
        "      if (!removals_.empty() && compare(removals_.back().key, key) == 0) continue;\n"
        "      if (is_other || inserts_.empty() || compare",
        "An entry that goes and comes again*",
    ),
    (
        "an escaped line end ends the line",
        "commands/copy_format.cpp",
        "  return backslashes % 2 != 0;",
        "  return backslashes > 1;",
        "COPY's text goes on behind an escaped line end*",
    ),
    (
        "sorted beyond their first bytes, rows come as they came",
        "execute/rows/row_sorter.cpp",
        "  const int order = compare_rows(left.row, right.row);\n  return order != 0",
        "  const int order = 0 * compare_rows(left.row, right.row);\n  return order != 0",
        "Values of every type are sorted as they compare",
    ),
    (
        "CREATEROLE makes a superuser",
        "ddl/roles.cpp",
        '  if (wanted.superuser) refuse("superusers");\n',
        "",
        "CREATEROLE makes no superuser",
    ),
    (
        "an MD5 hash becomes a password",
        "ddl/roles.cpp",
        "  if (is_md5_hash(password)) {",
        "  if (is_md5_hash(password) && password.empty()) {",
        "a hash of MD5 does not become a password",
    ),
    (
        "a sequence gives its last number once more after a restart",
        "session/shared/sequences.cpp",
        "    state.is_called = std::to_integer<int>(buffer.bytes()[8]) != 0;",
        "    state.is_called = false;",
        "Definitions, sequences and foreign keys stand after power cuts as acknowledged",
    ),
    (
        "a left row does not wait for the right rows that were put aside",
        "execute/grouping/set_operation.cpp",
        "    if (part.right) {\n",
        "    if (part.right && part.depth > 0) {\n",
        "What does not fit*",
        "EXCEPT and INTERSECT put into files*",
    ),
    (
        "of a stretch of sorted keys the first alone is compared",
        "execute/rows/key_runs.h",
        "      if (order >= 0) return order == 0;\n",
        "      return order == 0;\n",
        "What does not fit*",
        "NOT IN puts into files*",
    ),
    (
        "definitions of what was prepared are not published when it is committed",
        "session/transactions/two_phase.cpp",
        "    if (!changes.empty()) taken->before_release([&] { catalog.apply(changes); });\n",
        "",
        "Definitions of a prepared transaction*",
    ),
    (
        "advisory locks of what is prepared are gone after a restart",
        "session/database.cpp",
        "    take_up_advisory_locks(*shared);\n",
        "",
        "Prepared transactions are there after a restart*",
    ),
    (
        "nobody asks deferred constraints before it is prepared",
        "session/transactions/two_phase.cpp",
        "  run_deferred_checks({});\n",
        "",
        "Deferred constraints are asked when a transaction is prepared*",
    ),
    (
        "anybody finishes what another role has prepared",
        "session/transactions/two_phase.cpp",
        "  if (note.owner != session.user && !session.rights.is_superuser(session.user)) {",
        "  if (note.owner == kNoOid && !session.rights.is_superuser(session.user)) {",
        "Only its owner finishes*",
    ),
]
