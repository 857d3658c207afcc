"""Known defects of storage/ for scripts/planted-faults, which puts them back one at a time. More are
planted by the tests themselves, without a build for each: txn/planted_fault.h, buffer/pool_fault.h
and StorageFault in options.h."""

PRESET = "release"
TARGET = "swizzle_storage_tests"
PROGRAM = "storage/swizzle_storage_tests"
TESTS = [["~[stress]", "~[crash]", "~[hermitage]", "~[.]"], ["[crash]", "~[.]"], ["[hermitage]", "~[.]"]]

# (name, file in the folder, the right piece, the wrong one, the tests to run: all unless told)
FAULTS = [
    (
        "B6 a page is taken for what it says it is",
        "btree/btree_descend.inl",
        "  if (!is_kept) return Promise::broken;\n",
        "  if (!is_kept) return Promise::kept;\n",
        "B6*",
    ),
    (
        "B6 a page whose promise is broken is believed the second time",
        "btree/btree_descend.inl",
        "  if (!is_kept) return Promise::broken;\n",
        "  if (!is_kept && child.usage.exchange(3) != 3) return Promise::broken;\n",
        "B6*",
    ),
    (
        "B6 the level of a child is not compared",
        "btree/btree_descend.inl",
        "  if (child.level() + 1 != parent.level()) return false;\n",
        "",
        "B6*",
    ),
    (
        "B6 verify believes what a reader has compared",
        "btree/btree.h",
        "return expects == Expects::proof ||",
        "return false ||",
        "B6*",
    ),
    (
        "S6 an older page passes for the newest",
        "space/data_file.cpp",
        "  return lsn_of(bytes) < volume_.written_lsns().of(page);",
        "  return lsn_of(bytes) == Lsn::max && volume_.written_lsns().of(page) == Lsn::none;",
        "S6*",
    ),
    (
        "S6 at the start nobody knows which page was how old",
        "space/written_lsns_file.cpp",
        "        lsns_.adopt(first + i, block.lsns);",
        "        lsns_.adopt(first + i, WrittenLsns::Block{});",
        "S6*",
    ),
    (
        "B11 nothing is set aside for what a rollback logs",
        "txn/undo_log.cpp",
        "  RETURN_IF_ERROR(space_.log.owe_rollback(more));\n",
        "",
        "B11 whatever*",
    ),
    (
        "B11 what an undo logs is counted without the value that it takes away",
        "txn/undo_log.cpp",
        "record.key_size + record.old_size + record.new_size",
        "record.key_size + record.old_size",
        "B11 whatever*",
    ),
    (
        "B11 others grow into what a rollback will want",
        "btree/btree_change.inl",
        "growth + leaf.owed_bytes() <= free) [[likely]]",
        "growth <= free) [[likely]]",
        "B11*",
    ),
    (
        "B11 what an undo makes shorter is not owed",
        "btree/btree_change.inl",
        "  if (after < before)\n    leaf.set_owed_bytes",
        "  if (after < before && !transaction->is_undoing)\n    leaf.set_owed_bytes",
        "B11*",
    ),
    (
        "B11 what a leaf owes is counted by the newest change alone",
        "txn/version_index.cpp",
        "    longest = std::max<std::size_t>(longest, at->old_size);",
        "    longest = longest == 0 ? at->old_size : longest;",
        "B11*",
    ),
    (
        "T5 the row of a dropped tree goes before its pages",
        "engine_open.cpp",
        "    ASSIGN_OR_RETURN(const bool is_there, parts.trees->finds_dropped(row.id, row.root));\n",
        "    const bool is_there = false;\n",
        "T5*",
        "dropped trees*",
    ),
    (
        "T5 a drop that was rolled back to a savepoint happens",
        "transaction.cpp",
        "    return tree.undo_records > mark.undo_position;",
        "    return tree.undo_records > mark.undo_position + 1;",
        "T5*",
        "dropped trees*",
    ),
    (
        "T5 a dropped tree goes under its last reader",
        "tree_table.cpp",
        "    if (horizon < tree.second) return false;",
        "    if (horizon == Lsn::max) return false;",
        "T5*",
        "dropped trees*",
        "a tree that somebody looks at*",
    ),
    (
        "T10 an insert does not look at the gap",
        "txn/row_changes.cpp",
        "  if (!locks.gap_is_free(gap)) {",
        "  if (false && !locks.gap_is_free(gap)) {",
        "P7*",
    ),
    (
        "at REPEATABLE READ nobody was faster",
        "txn/row_changes.cpp",
        "  return late || transaction_.is_too_old();",
        "  return (late && false) || transaction_.is_too_old();",
        "P39*",
        "P36 P39*",
        "Hermitage*",
    ),
    (
        "R2 a checkpoint forgets a dirty page",
        "recovery/checkpoint/checkpointer.cpp",
        "if (since != Lsn::none && page != PageId::none) pages",
        "if (since != Lsn::none && page != PageId::none && raw(page) % 5 != 0) pages",
        "R2*",
    ),
    (
        "a split makes the right half look as old as nothing",
        "btree/btree_split.inl",
        "  right.set_logical_lsn(node.logical_lsn());\n",
        "",
        "P35 P36*",
        "readers see one state*",
    ),
    (
        "F10 a round looks at the whole pool",
        "buffer/paged_pool.h",
        "kMostSteps = 4096;",
        "kMostSteps = UINT32_MAX;",
        "F10*",
    ),
    (
        "a full disk ends the checkpointer",
        "recovery/checkpoint/checkpointer.cpp",
        "taken.error().state() != sqlstate::disk_full) {\n        if",
        "taken.error().state() != sqlstate::io_error) {\n        if",
        "a checkpoint without room*",
    ),
    (
        "a record of several removals is undone but for its last row",
        "recovery/records/record_undo.cpp",
        "  for (const payload::LeafRow& row : std::views::reverse(removed)) {",
        "  for (const payload::LeafRow& row : std::views::reverse(removed) | std::views::drop(1)) {",
        "what was removed together*",
    ),
    (
        "undo passes over what is left of several removals",
        "txn/restart_undo.cpp",
        "    chain.undo_next = &row == &rows.back() ? step.undo_next : step.lsn;",
        "    chain.undo_next = step.undo_next;",
        "T18*",
    ),
    (
        "a rollback's first step hides the other rows of a removal",
        "txn/row_removals.cpp",
        ".previous_lsn = i == 0 ? previous_lsn_ : lsn});",
        ".previous_lsn = i == 100'000 ? lsn : previous_lsn_});",
        "T18*",
    ),
    (
        "several are removed without a look whose they are",
        "txn/row_removals.cpp",
        "        each_.decide(leaf, at) != LeafChange::Action::remove)",
        "        leaf.is_ghost(at.index))",
        "what lies side by side*",
    ),
    (
        "rows are removed that have changed since they were seen",
        "txn/row_removals.cpp",
        "    each_.turn_to(removal.key, hashes_[chosen_], removal.seen);",
        "    each_.turn_to(removal.key, hashes_[chosen_], std::nullopt);",
        "what lies side by side*",
    ),
    (
        "T19 a split leaves the runs where they were",
        "btree/btree_split.inl",
        "  if (right.is_leaf()) ghosts_.records_moved(node.id(), right.id());\n",
        "",
        "T19*",
    ),
    (
        "T19 a merge leaves the runs where they were",
        "btree/btree_merge.inl",
        "  if (left.is_leaf()) ghosts_.records_moved(right.id(), left.id());\n",
        "",
        "T19*",
    ),
    (
        "T19 an entry that is put back over a run hides nothing",
        "txn/version_index.cpp",
        "  record.over_run = runs_.has(record.tree, leaf, record.key());\n  Bucket&",
        "  record.over_run = false;\n  static_cast<void>(leaf);\n  Bucket&",
        "T19*",
    ),
    (
        "T19 a ghost goes though a run has it",
        "txn/version_index.cpp",
        "  if (runs_.has(tree, leaf, key)) return true;\n"
        "  Bucket& bucket = bucket_of(hash);\n"
        "  if (bucket.first.load(std::memory_order_acquire) == nullptr) return false;\n"
        "  const std::lock_guard hold(bucket.mutex);\n"
        "  return bucket.may_have(hash);",
        "  static_cast<void>(tree), static_cast<void>(leaf), static_cast<void>(key);\n"
        "  Bucket& bucket = bucket_of(hash);\n"
        "  if (bucket.first.load(std::memory_order_acquire) == nullptr) return false;\n"
        "  const std::lock_guard hold(bucket.mutex);\n"
        "  return bucket.may_have(hash);",
        "T19*",
    ),
    (
        "T19 a rollback forgets which step of a run it has come to",
        "txn/transaction_state.cpp",
        "    slot.chain.undo_next = left == 1 ? record.previous_lsn : run.lsn();",
        "    slot.chain.undo_next = record.previous_lsn;",
        "T19*",
    ),
    (
        "T5 a dropped tree waits for whatever the log had by then",
        "transaction.cpp",
        "Lsn{raw(*committed) + 1})",
        "engine.log->tail())",
        "T5*",
    ),
    (
        "a restart undoes what is prepared",
        "recovery/recovery.cpp",
        "    (is_prepared ? recovered.prepared : recovered.losers).push_back(open);",
        "    (raw(open.id) == 0 && is_prepared ? recovered.prepared : recovered.losers).push_back(open);",
        "A prepared transaction is there*",
    ),
    (
        "who prepares is told before the record is durable",
        "prepared.cpp",
        "  state.engine.log->flush_record(lsn);\n",
        "  static_cast<void>(lsn);\n",
        "What was acknowledged as prepared*",
    ),
    (
        "locks of a prepared transaction that no change tells of are not kept",
        "prepared.cpp",
        "  PreparedKept kept{.locks = state.locks.held_locks(), .traits = {}};",
        "  PreparedKept kept{.locks = {}, .traits = {}};",
        "What was only locked*",
    ),
    (
        "a restart frees the trees that a prepared transaction has dropped",
        "engine_open.cpp",
        "    if (parts.prepared.has_dropped(row.id)) continue;\n",
        "",
        "Trees that a prepared*",
    ),
    (
        "what a prepared transaction has loaded shows after a restart",
        "txn/restart_prepared.cpp",
        "    tree->birth().begin(state_.undo.get(), 0);\n",
        "",
        "Trees that a prepared*",
    ),
    (
        "a record that a prepared transaction has moved is gone after a restart",
        "txn/restart_prepared.cpp",
        "      if (known->second.is_move) change.kind = UndoRecord::Kind::moved;\n",
        "",
        "Who waits for a record that has moved*",
    ),
    (
        "an earlier change of a prepared transaction starts from what the leaf has now",
        "txn/restart_prepared.cpp",
        "        next != next_changes_.end()) {",
        "        next == next_changes_.end() && step.lsn == Lsn::none) {",
        "A prepared transaction is there*",
    ),
]
