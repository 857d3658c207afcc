#include "sql-lite-frontend/execution/write/write_operator.h"

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/access/late_error.h"
#include "sql-lite-frontend/execution/access/partition_scan.h"
#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/execution/write/changed_within.h"
#include "sql-lite-frontend/execution/write/partition_writes.h"
#include "sql-lite-frontend/execution/write/statement_triggers.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

WriteOperator::WriteOperator(std::unique_ptr<WriteStatement> write, PlanPtr rows,
                             TableAccess* target, NameSource& names)
    : write_(std::move(*write)),
      asked_(&*write_),
      rows_(std::move(rows)),
      target_(target),
      writer_(*write_),
      foreign_keys_(names, write_->table),
      deferrable_keys_(names, write_->table),
      triggers_(StatementTriggers::of(*write_)),
      old_row_(write_->table->relation.columns.size()),
      new_row_(write_->table->relation.columns.size()) {
  if (write_->partitions.tree) partitions_ = std::make_unique<PartitionWrites>(*write_, names);
  begin_returning();
  const auto* const values = dynamic_cast<const ValuesScan*>(rows_.get());
  const bool is_one = !rows_ || (values != nullptr && values->row_count() == 1);
  if (!is_one) expected_ = Rows::many;
}

WriteOperator::WriteOperator(const WriteOperator& of, StepCopies& copies)
    : write_(of.write_),
      asked_(&*write_),
      rows_(copies.copy(of.rows_)),
      expected_(of.expected_),
      target_(copies.copy_of(of.target_)),
      writer_(*write_),
      foreign_keys_(copies.names(), write_->table),
      deferrable_keys_(copies.names(), write_->table),
      triggers_(StatementTriggers::of(*write_)),
      old_row_(of.old_row_.size()),
      new_row_(of.new_row_.size()) {
  if (write_->partitions.tree)
    partitions_ = std::make_unique<PartitionWrites>(*write_, copies.names());
  begin_returning();
}

WriteOperator::WriteOperator(const Planned<WriteStatement>& leaf, const WriteStatement& root,
                             NameSource& names)
    : write_(leaf),
      asked_(&root),
      target_(nullptr),
      writer_(*write_),
      foreign_keys_(names, write_->table),
      deferrable_keys_(names, write_->table),
      triggers_(StatementTriggers::of(*write_)),
      old_row_(write_->table->relation.columns.size()),
      new_row_(write_->table->relation.columns.size()) {
  begin_returning();
}

WriteOperator::~WriteOperator() = default;

bool WriteOperator::repeat_row(std::size_t width) {
  auto* const values = dynamic_cast<ValuesScan*>(rows_.get());
  if (values == nullptr || values->row_count() != 1) return false;
  values->repeat(width);
  expected_ = Rows::many;
  return true;
}

void WriteOperator::begin_returning() {
  std::vector<Slot> slots;
  for (const OutputTarget& column : write_->returning) {
    slots.push_back(column.slot);
    const auto* slot = dynamic_cast<const SlotExpr*>(column.expr.get());
    const bool is_there = slot != nullptr && slot->slot() == column.slot;
    if (!is_there) computed_returning_.push_back(&column);
  }
  returned_.set_slots(std::move(slots));
}

void WriteOperator::put(Execution& execution, std::span<const Value> row, Slot first_slot) {
  for (std::size_t i = 0; i < row.size(); ++i) execution.slots[first_slot + i] = row[i];
}

void WriteOperator::compute_generated(Execution& execution, std::span<Value> row, Slot first_slot) {
  for (const Assignment& generated : write_->generated) {
    row[generated.position] = generated.expr->eval(execution);
    execution.slots[first_slot + generated.position] = row[generated.position];
  }
}

void WriteOperator::keep_returning(Execution& execution) {
  ++written_;
  if (write_->returning.empty()) return;
  if (write_->merge) show_merged(execution);
  for (const OutputTarget* column : computed_returning_) {
    execution.slots[column->slot] = column->expr->eval(execution);
  }
  returned_.keep(execution);
}

namespace {

unsigned events_of(const WriteStatement& write) noexcept {
  const RowChanges changes = write.changes();
  return (changes.inserts ? published::kInsert : 0U) | (changes.updates ? published::kUpdate : 0U) |
         (changes.removes ? published::kDelete : 0U);
}

}  // namespace

void WriteOperator::begin(Execution& execution, Rows expected) {
  is_unchecked_ = false;
  writer_.abandon_changes();
  // A row that leaves its partition is removed there.
  const bool may_leave = is_leaf() && write_->kind != WriteKind::insert;
  const unsigned events = events_of(*write_) | (may_leave ? published::kDelete : 0U);
  writer_.begin_publishing(execution, static_cast<std::uint8_t>(events));
  if (partitions_) partitions_->begin(expected);
  const bool is_replica = execution.services.acts_as_replica();
  leaves_keys_ = is_replica || write_->table->relation.leaves_keys;
  if (triggers_) triggers_->begin(execution);
  // ON CONFLICT removes the entries of a conflicting row again, and a trigger may read rows that
  // the statement has written.
  const bool at_once = triggers_ && triggers_->runs_between_rows();
  if (expected == Rows::many && !at_once && !partitions_ &&
      write_->insert.conflict.kind == ConflictAction::Kind::error) {
    writer_.begin_changes();
    if (write_->kind == WriteKind::insert && !is_leaf()) writer_.begin_load(execution);
  }
  foreign_keys_.begin();
  deferrable_keys_.begin();
  writer_.begin_exclusions(!is_replica);
  returned_.clear();
  touched_.clear();
  gathered_.clear();
  written_ = 0;
  position_ = 0;
}

void WriteOperator::end(Execution& execution) {
  if (partitions_) partitions_->end(execution);
  writer_.end_changes(execution);
  const bool fires = triggers_ && triggers_->end();
  if (foreign_keys_.has_notes() || deferrable_keys_.has_notes() ||
      writer_.has_unchecked_exclusions() || fires) {
    execution.unchecked.push_back(this);
    is_unchecked_ = true;
  }
}

/// Fires BEFORE INSERT triggers. False if one skips the row.
bool WriteOperator::before_insert(Execution& execution) {
  if (!triggers_->before_row(execution, TriggerEvent::insert, {}, new_row_)) return false;
  put(execution, new_row_, write_->written_slot());
  return true;
}

/// Fires BEFORE UPDATE triggers for a locked row with the new values `row`.
bool WriteOperator::before_update(Execution& execution, Bytes key, std::vector<Value>& row) {
  const Transaction::Mark mark = execution.transaction->mark();
  if (!triggers_->before_row(execution, TriggerEvent::update, old_row_, row)) return false;
  require_same_row(execution, *write_, mark, key, old_row_);
  return true;
}

/// The target's key, where statements of triggers do not reach it.
Bytes WriteOperator::own_key(Execution& execution) {
  Value& key = execution.slots[target_->key_slot()];
  key = key.copy_to(execution.row_arena);
  return key.as_bytes();
}

bool WriteOperator::before_delete(Execution& execution) {
  const Transaction::Mark mark = execution.transaction->mark();
  const Bytes key = own_key(execution);
  std::vector<Value> no_row;
  if (!triggers_->before_row(execution, TriggerEvent::remove, old_row_, no_row)) return false;
  require_same_row(execution, *write_, mark, key, old_row_);
  return true;
}

/// Notes the row for the checks after the statement.
void WriteOperator::note_inserted(Execution& execution) {
  if (!leaves_keys_) {
    foreign_keys_.inserted(execution, new_row_);
    deferrable_keys_.inserted(execution, new_row_);
  }
  if (triggers_) triggers_->note(execution, TriggerEvent::insert, {}, new_row_);
}

void WriteOperator::note_updated(Execution& execution, std::span<const Value> row) {
  if (!leaves_keys_) {
    foreign_keys_.updated(execution, old_row_, row);
    deferrable_keys_.updated(execution, old_row_, row);
  }
  if (triggers_) triggers_->note(execution, TriggerEvent::update, old_row_, row);
}

void WriteOperator::insert_row(Execution& execution) {
  std::ranges::fill(new_row_, Value{});
  for (std::size_t i = 0; i < write_->insert.columns.size(); ++i) {
    new_row_[write_->insert.columns[i]] = execution.slots[write_->insert.source_slots[i]];
  }
  for (const Assignment& assignment : write_->insert.defaults) {
    new_row_[assignment.position] = assignment.expr->eval(execution);
  }
  put(execution, new_row_, write_->first_slot);
  if (write_->insert.row_filter && !holds(*write_->insert.row_filter, execution)) return;
  if (write_->insert.was_there)
    execution.slots[*write_->insert.was_there] = Value::from_bool(false);
  if (write_->insert.returns_old) {
    for (std::size_t i = 0; i < new_row_.size(); ++i)
      execution.slots[write_->insert.conflict.existing_first_slot + i] = Value::null();
  }
  insert_new_row(execution);
}

/// Inserts the row that is in `new_row_` and in its slots.
void WriteOperator::insert_new_row(Execution& execution) {
  if (partitions_) return partitions_->insert(execution, *this);
  if (write_->view.instead) {
    if (!triggers_->instead_of_row(execution, TriggerEvent::insert, {}, new_row_)) return;
    put(execution, new_row_, write_->written_slot());
    return keep_returning(execution);
  }
  if (triggers_ && triggers_->runs_between_rows() && !before_insert(execution)) return;
  compute_generated(execution, new_row_, write_->written_slot());
  check_policies(execution, checks_of_new_row());
  check_row(execution, new_row_);
  if (write_->insert.conflict.kind != ConflictAction::Kind::error) {
    insert_with_conflicts(execution);
    return;
  }
  writer_.insert(execution, new_row_, RowWriter::OnConflict::fail);
  show_row_id(execution, writer_.inserted_key());
  note_inserted(execution);
  keep_returning(execution);
}

/// Shows RETURNING the hidden id of the written row.
void WriteOperator::show_row_id(Execution& execution, std::string_view key) const {
  if (!write_->insert.row_id_slot) return;
  execution.slots[*write_->insert.row_id_slot] = row_id_of(as_bytes(key));
}

/// Locks the row that the plan found and reads its newest version, unless it has been deleted.
TableAccess::Locked WriteOperator::lock_and_read(Execution& execution, ReadMode mode) {
  const Bytes key = execution.slots[target_->key_slot()].as_bytes();
  const Bytes row = execution.slots[target_->row_slot()].as_bytes();
  const auto locked = target_->lock_row(execution, mode, WaitPolicy::wait);
  if (locked != TableAccess::Locked::unchanged &&
      is_changed_within(execution, *write_->table, key, row)) {
    // Before BEFORE triggers, PostgreSQL uses the UPDATE message for a DELETE too.
    const bool fires = triggers_ && triggers_->runs_between_rows();
    refuse_triggered_change(deletes() && !fires ? WriteKind::delete_ : WriteKind::update);
  }
  if (locked == TableAccess::Locked::gone) return locked;
  target_->read_row(target_->locked_row(), old_row_);
  put(execution, old_row_, write_->first_slot);
  if (is_leaf()) show_as_root(execution, old_row_, asked_->first_slot);
  return locked;
}

/// Locks the row that the plan found and reads it. False if it has been deleted, or changed so that
/// it no longer matches the statement's condition.
bool WriteOperator::lock_target(Execution& execution, ReadMode mode) {
  const auto locked = lock_and_read(execution, mode);
  if (locked != TableAccess::Locked::changed) return locked == TableAccess::Locked::unchanged;
  return std::ranges::all_of(
      asked_->rows.recheck, [&](const ExprPtr& condition) { return holds(*condition, execution); });
}

/// The row is locked so that others may still count on its keys (FOR KEY SHARE); one that really
/// changes takes the whole row.
void WriteOperator::lock_changed_keys(Execution& execution, Bytes key,
                                      std::span<const Value> new_row) {
  const bool stays = std::ranges::all_of(write_->assigned_key_columns, [&](std::size_t at) {
    if (old_row_[at].is_null() || new_row[at].is_null()) {
      return old_row_[at].is_null() == new_row[at].is_null();
    }
    const TypeId type = write_->table->relation.columns[at].type;
    return compare_values(type, old_row_[at], new_row[at]) == 0;
  });
  if (stays) return;
  ValueBuffer ignored;
  const Tree tree = *write_->table->tree;
  value_of(tree.get(*execution.transaction, key, ignored, ReadMode::for_update));
}

void WriteOperator::update_row(Execution& execution) {
  if (lock_target(execution, ReadMode::for_no_key_update)) update_locked(execution);
}

/// Updates the locked row. False if a trigger skips it.
bool WriteOperator::update_locked(Execution& execution) {
  new_row_ = old_row_;
  const Transaction::Mark mark = execution.transaction->mark();
  for (const Assignment& assignment : assigned()) {
    new_row_[assignment.position] = assignment.expr->eval(execution);
  }
  require_same_row(execution, *write_, mark, execution.slots[target_->key_slot()].as_bytes(),
                   old_row_);
  if (triggers_ && triggers_->runs_between_rows() &&
      !before_update(execution, own_key(execution), new_row_)) {
    return false;
  }
  put(execution, new_row_, write_->new_first_slot);
  compute_generated(execution, new_row_, write_->new_first_slot);
  check_policies(execution, write_->checks.policies);
  check_row(execution, new_row_);
  lock_changed_keys(execution, execution.slots[target_->key_slot()].as_bytes(), new_row_);
  writer_.update(execution, execution.slots[target_->key_slot()].as_bytes(), old_row_, new_row_);
  note_updated(execution, new_row_);
  keep_returning(execution);
  return true;
}

/// Deletes the row that the plan found if it is unchanged, as most rows are, without locking it
/// first.
bool WriteOperator::delete_unchanged(Execution& execution) {
  const Bytes key = execution.slots[target_->key_slot()].as_bytes();
  const Bytes row = execution.slots[target_->row_slot()].as_bytes();
  target_->read_row(row, old_row_);
  put(execution, old_row_, write_->first_slot);
  return writer_.remove_unchanged(execution, {key, row}, old_row_);
}

void WriteOperator::delete_row(Execution& execution) {
  // BEFORE triggers fire before the row is deleted.
  const bool asks = triggers_ && triggers_->runs_between_rows();
  if (asks || !delete_unchanged(execution)) {
    if (lock_target(execution, ReadMode::for_update)) delete_locked(execution);
    return;
  }
  note_removed(execution);
  keep_returning(execution);
}

/// Deletes the locked row. False if a trigger skips it.
bool WriteOperator::delete_locked(Execution& execution) {
  if (triggers_ && triggers_->runs_between_rows() && !before_delete(execution)) return false;
  writer_.remove(execution, execution.slots[target_->key_slot()].as_bytes(), old_row_);
  note_removed(execution);
  keep_returning(execution);
  return true;
}

void WriteOperator::note_removed(Execution& execution) {
  if (!leaves_keys_) foreign_keys_.removed(execution, old_row_);
  if (triggers_) triggers_->note(execution, TriggerEvent::remove, old_row_, {});
}

/// Fires the INSTEAD OF triggers for a row of a view.
void WriteOperator::write_instead(Execution& execution) {
  for (std::size_t i = 0; i < old_row_.size(); ++i) {
    old_row_[i] = execution.slots[write_->view.slots[i]];
  }
  if (write_->merge) put(execution, old_row_, write_->first_slot);
  if (deletes()) {
    std::vector<Value> no_row;
    if (triggers_->instead_of_row(execution, TriggerEvent::remove, old_row_, no_row)) {
      keep_returning(execution);
    }
    return;
  }
  new_row_ = old_row_;
  for (const Assignment& assignment : assigned()) {
    new_row_[assignment.position] = assignment.expr->eval(execution);
  }
  if (!triggers_->instead_of_row(execution, TriggerEvent::update, old_row_, new_row_)) return;
  put(execution, new_row_, write_->new_first_slot);
  keep_returning(execution);
}

constexpr std::uint64_t kFew = 16;  ///< number of leading rows that are deleted one by one

void WriteOperator::open(Execution& execution) {
  begin(execution, expected_);
  if (write_->kind == WriteKind::insert && !rows_) {
    insert_row(execution);
  } else {
    // A row that joins with several others is written once, with the first of them.
    KeyTable done;
    done.count_in(execution.memory);
    const bool joined = !write_->rows.from.empty();
    std::optional<bool> gathers;
    rows_->open(execution);
    RowScope scope{execution};
    while (rows_->next(execution)) {
      if (write_->kind == WriteKind::insert) {
        insert_row(execution);
      } else if (write_->merge) {
        merge_row(execution, done);
      } else if (write_->view.instead) {
        write_instead(execution);
      } else {
        std::uint32_t* seen = nullptr;
        if (joined) {
          seen = &done[partitions_ ? partitions_->name_of_row(execution, *target_)
                                   : as_text(execution.slots[target_->key_slot()].as_bytes())];
        }
        if (seen == nullptr || *seen == KeyTable::kAbsent) {
          if (seen != nullptr) *seen = 1;
          if (partitions_) {
            partitions_->change(execution, *this);
          } else if (write_->kind == WriteKind::update) {
            update_row(execution);
          } else {
            if (written_ == kFew && !gathers) gathers = may_gather();
            gathers.value_or(false) ? gather(execution) : delete_row(execution);
          }
        }
      }
      scope.rewind();
    }
    delete_gathered(execution);
    rows_->close();
  }
  end(execution);
}

bool WriteOperator::next(Execution& execution) {
  if (position_ == returned_.size()) return false;
  returned_.restore(execution, position_++);
  return true;
}

void WriteOperator::close() {
  if (rows_) rows_->close();
  if (partitions_) partitions_->close();
  forget_written();
}

void WriteOperator::forget_written() {
  returned_.clear();
  touched_.clear();
  position_ = 0;
  // In WITH, the node is closed before its AFTER triggers fire, at the end of the whole statement.
  if (triggers_ && !is_unchecked_) triggers_->forget();
}

std::vector<Slot> WriteOperator::output_slots() const {
  return returned_.slots();
}

std::vector<const PlanOperator*> WriteOperator::children() const {
  if (!rows_) return {};
  return {rows_.get()};
}

void WriteOperator::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  WriteStatement& write = write_.change();
  for (auto* const list : {&write.insert.defaults, &write.assignments, &write.generated}) {
    for (Assignment& assignment : *list) {
      if (assignment.expr) visit(assignment.expr);
    }
  }
  if (write.merge) {
    visit_each(write.merge->on_again, visit);
    for (MergeAction& action : write.merge->actions) {
      visit_each(action.conditions, visit);
      for (Assignment& assignment : action.assignments) visit(assignment.expr);
    }
  }
  visit_each(write.insert.conflict_where, visit);
  visit_each(write.rows.recheck, visit);
  for (FiredTriggers::Fired& fired : write.triggers.fired) {
    if (fired.when) visit(fired.when);
  }
  for (OutputTarget& column : write.returning) {
    if (column.expr) visit(column.expr);
  }
}

PlanNote WriteOperator::note(ExprPrinter::Columns /*columns*/) const {
  const std::string names[] = {"Insert on ", "Update on ", "Delete on ", "Merge on "};
  const std::string& name = write_->table->relation.name;
  std::string title = names[static_cast<std::size_t>(write_->kind)] + quote_identifier(name);
  if (write_->alias != name) title += " " + quote_identifier(write_->alias);
  PlanNote note{std::move(title), {}};
  if (const auto* scan = dynamic_cast<const PartitionScan*>(target_)) {
    for (const std::string& part : scan->part_titles()) {
      note.targets.push_back(names[static_cast<std::size_t>(write_->kind)] + part);
    }
  }
  return note;
}

}  // namespace swizzle::sql
