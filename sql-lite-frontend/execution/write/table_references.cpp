#include "sql-lite-frontend/execution/write/table_references.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/types/range/range_operands.h"
#include "sql-lite-frontend/types/same_image.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

bool all_null(std::span<const Value> values) {
  return std::ranges::all_of(values, [](const Value& value) { return value.is_null(); });
}

/// MATCH SIMPLE: a NULL anywhere refers to nothing. FULL allows only all or none.
bool refers_to_nothing(const Constraint& constraint, std::span<const Value> values) {
  return all_null(values) || (constraint.match == 's' && any_null(values));
}

const Constraint* constraint_of(const Table& table, Oid oid) {
  const auto found = std::ranges::find(table.relation.constraints, oid, &Constraint::oid);
  return found == table.relation.constraints.end() ? nullptr : &*found;
}

/// Returns null if rows must be found by an SQL statement. It must be one for a key with PERIOD, of
/// which several rows together are looked at.
std::unique_ptr<KeyProbe> probe_of(NameSource& names, const Constraint& key, const TablePtr& table,
                                   std::span<const std::int16_t> columns,
                                   std::span<const TypeId> types) {
  return key.has_period ? nullptr : KeyProbe::make(names, table, columns, types);
}

template <RangeForm form>
bool range_contains(const Value& whole, const Value& part) {
  const RangeOperand<form> outer{whole};
  const RangeOperand<form> inner{part};
  return spans_contain(BoundOrder{outer.range_type()}, outer.spans(), inner.spans());
}

/// True if an update of a row with PERIOD only shortens its range, so that what covered the old
/// range covers the new one. A deferred check of the old range may not have been made yet.
bool only_shortens(const ForeignKey& key, std::span<const Value> before,
                   std::span<const Value> after) {
  const Constraint& constraint = key.constraint();
  if (!constraint.has_period || constraint.deferrable) return false;
  if (any_null(before) || any_null(after)) return false;
  const std::span<const TypeId> types = key.referencing_types();
  const std::size_t scalars = types.size() - 1;
  if (!same_values(types.first(scalars), before.first(scalars), after.first(scalars))) return false;
  return range_of_multirange(base_type(types.back())) == TypeId::none
             ? range_contains<RangeForm::range>(before.back(), after.back())
             : range_contains<RangeForm::multirange>(before.back(), after.back());
}

/// Finds rows by index, or, if that is impossible, by an SQL statement.
class KeyLookup {
 public:
  using Sql = std::string (ForeignKey::*)(NameSource& names) const;
  /// For values of these types.
  KeyLookup(NameSource& names, const ForeignKey& key, std::span<const TypeId> types,
            KeyProbe* probe, Sql sql)
      : names_(names), key_(key), types_(types), probe_(probe), sql_(sql) {}
  KeyLookup& seeing(ReadView::Sees sees) {
    sees_ = sees;
    return *this;
  }

  bool finds(StatementServices& services, std::span<const Value> values) const {
    return ask(services, values, &KeyProbe::finds);
  }
  bool locks(StatementServices& services, std::span<const Value> values) const {
    return ask(services, values, &KeyProbe::locks);
  }

 private:
  template <class Question>
  bool ask(StatementServices& services, std::span<const Value> values, Question question) const {
    if (probe_ == nullptr || !probe_->holds_still(services)) {
      return services.run_internal((key_.*sql_)(names_), types_, values, sees_) > 0;
    }
    const InnerStatement inner{services.engine_transaction(), sees_};
    return (probe_->*question)(services, values);
  }

  NameSource& names_;
  const ForeignKey& key_;
  std::span<const TypeId> types_;
  KeyProbe* probe_;
  Sql sql_;
  ReadView::Sees sees_ = ReadView::Sees::latest;
};

/// The row that values refer to. At REPEATABLE READ a row cannot refer to one that its transaction
/// does not see.
KeyLookup referenced_row(NameSource& names, const ForeignKey& key, KeyProbe* probe) {
  KeyLookup lookup{names, key, key.referencing_types(), probe, &ForeignKey::lock_referenced_sql};
  return lookup.seeing(ReadView::Sees::durable);
}
/// Finds a row that now has the key of a deleted or updated row.
KeyLookup successor(NameSource& names, const ForeignKey& key, KeyProbe* probe) {
  return {names, key, key.referenced_types(), probe, &ForeignKey::still_there_sql};
}
/// Rows that refer to values that were a row's.
KeyLookup referencing_rows(NameSource& names, const ForeignKey& key, KeyProbe* probe) {
  return {names, key, key.referenced_types(), probe, &ForeignKey::any_reference_sql};
}
/// Rows that refer with these values.
KeyLookup referring_rows(NameSource& names, const ForeignKey& key, KeyProbe* probe) {
  return {names, key, key.referencing_types(), probe, &ForeignKey::still_refers_sql};
}

}  // namespace

TableReferences::TableReferences(NameSource& names, const TablePtr& table)
    : names_(names), table_(table) {
  for (const Constraint& constraint : table->relation.constraints) {
    if (constraint.kind != ConstraintKind::foreign_key || !constraint.enforced) continue;
    const TablePtr referenced = names.table(constraint.referenced_table);
    if (!referenced) continue;
    ForeignKey key{table, referenced, constraint};
    auto probe = probe_of(names, constraint, referenced, constraint.referenced_columns,
                          key.referencing_types());
    outgoing_.push_back({std::move(key), std::move(probe)});
  }
  for (const TablePtr& referencing : names.referencing_tables(table->relation.oid)) {
    for (const Constraint& constraint : referencing->relation.constraints) {
      if (constraint.kind != ConstraintKind::foreign_key || !constraint.enforced ||
          constraint.referenced_table != table->relation.oid) {
        continue;
      }
      const ForeignKey key{referencing, table, constraint};
      const std::vector<TypeId>& types = key.referenced_types();
      incoming_.push_back(
          {key, probe_of(names, constraint, table, constraint.referenced_columns, types),
           probe_of(names, constraint, referencing, constraint.columns, types),
           key.delete_references_sql(names), key.update_references_sql(names),
           key.clear_references_sql(
               names, constraint.set_columns.empty() ? constraint.columns : constraint.set_columns,
               constraint.on_delete),
           key.clear_references_sql(names, constraint.columns, constraint.on_update)});
    }
  }
}

namespace {

constexpr std::int64_t kKinds = 3;

}  // namespace

std::int64_t TableReferences::Note::event(Kind kind, std::size_t key) noexcept {
  return static_cast<std::int64_t>(key) * kKinds + std::to_underlying(kind);
}

TableReferences::Note TableReferences::Note::of_event(std::int64_t what,
                                                      std::span<const Value> values) noexcept {
  const auto kind = static_cast<Kind>(what % kKinds);
  const std::size_t old_values = kind == Kind::reference ? 0
                                 : kind == Kind::removed ? values.size()
                                                         : values.size() / 2;
  return {kind, static_cast<std::size_t>(what / kKinds), values.first(old_values),
          values.subspan(old_values)};
}

void TableReferences::note_inserted(WorkMemory& memory, std::span<const Value> row,
                                    RowEvents& notes) const {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    const Constraint& constraint = outgoing_[i].key.constraint();
    const std::vector<Value> values = values_of(row, constraint.columns);
    if (refers_to_nothing(constraint, values)) continue;
    notes.add(memory, Note::event(Note::Kind::reference, i), values);
  }
}

void TableReferences::note_updated(WorkMemory& memory, std::span<const Value> old_row,
                                   std::span<const Value> new_row, RowEvents& notes) const {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    const ForeignKey& key = outgoing_[i].key;
    const std::vector<Value> before = values_of(old_row, key.constraint().columns);
    const std::vector<Value> after = values_of(new_row, key.constraint().columns);
    if (same_values(key.referencing_types(), before, after)) continue;
    if (only_shortens(key, before, after) || refers_to_nothing(key.constraint(), after)) continue;
    notes.add(memory, Note::event(Note::Kind::reference, i), after);
  }
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    const ForeignKey& key = incoming_[i].key;
    std::vector<Value> values = values_of(old_row, key.constraint().referenced_columns);
    if (any_null(values)) continue;
    const std::vector<Value> after = values_of(new_row, key.constraint().referenced_columns);
    // Pass on a key that looks different, even if it is equal.
    if (std::ranges::equal(values, after, has_same_image)) continue;
    values.insert(values.end(), after.begin(), after.end());
    notes.add(memory, Note::event(Note::Kind::changed, i), values);
  }
}

void TableReferences::note_removed(WorkMemory& memory, std::span<const Value> row,
                                   RowEvents& notes) const {
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    const std::vector<Value> before =
        values_of(row, incoming_[i].key.constraint().referenced_columns);
    if (!any_null(before)) notes.add(memory, Note::event(Note::Kind::removed, i), before);
  }
}

void TableReferences::perform(Execution& execution, const Note& note) {
  if (note.asks_for_action()) {
    act(execution, note);
  } else {
    check_reference(execution, note);
  }
}

void TableReferences::check_reference(Execution& execution, const Note& note) {
  const Outgoing& outgoing = outgoing_[note.key];
  const ForeignKey& key = outgoing.key;
  const auto fail = [&] {
    throw_diagnostic(key.missing(execution.services, execution.functions, note.new_values));
  };
  if (any_null(note.new_values)) fail();
  if (execution.services.is_deferred(key.constraint())) {
    execution.services.defer_check(
        {DeferredCheck::Kind::refers, key.constraint().oid, table_->relation.oid, note.new_values});
    return;
  }
  const KeyLookup lookup = referenced_row(names_, key, outgoing.referenced.get());
  if (!lookup.locks(execution.services, note.new_values)) fail();
}

void TableReferences::check_unreferenced(Execution& execution, const Note& note) {
  const Constraint& constraint = incoming_[note.key].key.constraint();
  // NO ACTION is checked at the end: another row may have the key by then.
  const ReferentialAction action =
      note.kind == Note::Kind::removed ? constraint.on_delete : constraint.on_update;
  if (action != ReferentialAction::no_action) return require_unreferenced(execution, note, action);
  if (execution.services.is_deferred(constraint)) {
    execution.services.defer_check(
        {DeferredCheck::Kind::given_up, constraint.oid, table_->relation.oid, note.old_values});
    return;
  }
  require_gone(execution, note);
}

/// Requires that the old key is not referenced any more, or that a new row has it.
void TableReferences::require_gone(Execution& execution, const Note& note) {
  const Incoming& incoming = incoming_[note.key];
  // With PERIOD, the search for references considers the rows that are there now.
  if (incoming.key.constraint().has_period) {
    return require_unreferenced(execution, note, ReferentialAction::no_action);
  }
  const KeyLookup lookup = successor(names_, incoming.key, incoming.referenced.get());
  if (lookup.finds(execution.services, note.old_values)) return;
  require_unreferenced(execution, note, ReferentialAction::no_action);
}

void TableReferences::require_unreferenced(Execution& execution, const Note& note,
                                           ReferentialAction action) {
  const Incoming& incoming = incoming_[note.key];
  const KeyLookup lookup = referencing_rows(names_, incoming.key, incoming.referencing.get());
  if (!lookup.locks(execution.services, note.old_values)) return;
  throw_diagnostic(incoming.key.still_referenced(execution.services, execution.functions,
                                                 note.old_values, action));
}

void TableReferences::act(Execution& execution, const Note& note) {
  const Incoming& incoming = incoming_[note.key];
  const std::vector<TypeId>& key_types = incoming.key.referenced_types();
  const bool removed = note.kind == Note::Kind::removed;
  const Constraint& constraint = incoming.key.constraint();
  const ReferentialAction action = removed ? constraint.on_delete : constraint.on_update;
  const auto run = [&](const std::string& sql, std::span<const TypeId> types,
                       std::span<const Value> values) {
    const Oid owner = incoming.key.referencing()->relation.owner;
    execution.services.run_as_owner(owner,
                                    [&] { execution.services.run_internal(sql, types, values); });
  };
  switch (action) {
    case ReferentialAction::no_action:
    case ReferentialAction::restrict_:
      check_unreferenced(execution, note);
      return;
    case ReferentialAction::cascade: {
      if (removed) {
        run(incoming.delete_sql, key_types, note.old_values);
        return;
      }
      std::vector<TypeId> types = key_types;
      types.insert(types.end(), key_types.begin(), key_types.end());
      std::vector<Value> values{note.old_values.begin(), note.old_values.end()};
      values.insert(values.end(), note.new_values.begin(), note.new_values.end());
      run(incoming.update_sql, types, values);
      return;
    }
    case ReferentialAction::set_null:
    case ReferentialAction::set_default:
      run(removed ? incoming.clear_on_delete_sql : incoming.clear_on_update_sql, key_types,
          note.old_values);
      // Rows whose default equals the old key still reference it.
      if (action == ReferentialAction::set_default) require_gone(execution, note);
      return;
  }
}

void check_deferred_reference(StatementServices& services, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check) {
  const Constraint* constraint = constraint_of(*table, check.constraint);
  if (constraint == nullptr) return;
  const TablePtr referenced = names.table(constraint->referenced_table);
  if (!referenced) return;
  const ForeignKey key{table, referenced, *constraint};
  const std::vector<TypeId>& types = key.referencing_types();
  const auto parents =
      probe_of(names, *constraint, referenced, constraint->referenced_columns, types);
  if (referenced_row(names, key, parents.get()).locks(services, check.values)) return;
  const auto children = KeyProbe::make(names, table, constraint->columns, types);
  if (!referring_rows(names, key, children.get()).finds(services, check.values)) return;
  Arena arena;
  FunctionContext functions{arena, names.context(), {}};
  throw_diagnostic(key.missing(services, functions, check.values));
}

void check_deferred_removal(StatementServices& services, NameSource& names, const TablePtr& table,
                            const DeferredCheck& check) {
  for (const TablePtr& referencing : names.referencing_tables(table->relation.oid)) {
    const Constraint* constraint = constraint_of(*referencing, check.constraint);
    if (constraint == nullptr) continue;
    const ForeignKey key{referencing, table, *constraint};
    const std::vector<TypeId>& types = key.referenced_types();
    const auto children = probe_of(names, *constraint, referencing, constraint->columns, types);
    if (!referencing_rows(names, key, children.get()).locks(services, check.values)) return;
    const auto parents = probe_of(names, *constraint, table, constraint->referenced_columns, types);
    if (!constraint->has_period &&
        successor(names, key, parents.get()).finds(services, check.values)) {
      return;
    }
    Arena arena;
    FunctionContext functions{arena, names.context(), {}};
    throw_diagnostic(
        key.still_referenced(services, functions, check.values, ReferentialAction::no_action));
  }
}

}  // namespace swizzle::sql
