#include <algorithm>
#include <iterator>
#include <utility>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/partition_target.h"
#include "sql-lite-frontend/types/sql_error.h"

/// MERGE: a join of the target with a source, and the actions for its rows. An action's values are
/// bound as those of INSERT or UPDATE are; the rules of the table are bound once, over the new row
/// that all actions share.
namespace swizzle::sql {
namespace {

using Rows = MergeAction::Rows;
using Does = MergeAction::Does;

Rows rows_of(const ast::MergeWhenClause& when) {
  switch (when.match_kind) {
    case ast::MergeMatchKind::not_matched_by_source:
      return Rows::not_matched_by_source;
    case ast::MergeMatchKind::not_matched_by_target:
      return Rows::not_matched_by_target;
    default:
      return Rows::matched;
  }
}

Does does_of(const ast::MergeWhenClause& when) {
  switch (when.command_type) {
    case ast::CmdType::insert:
      return Does::insert;
    case ast::CmdType::update:
      return Does::update;
    case ast::CmdType::delete_:
      return Does::remove;
    default:
      return Does::nothing;
  }
}

/// Returns the actions without bound parts. 42601 for one that is never reached.
std::vector<MergeAction> actions_of(ast::NodeList clauses) {
  std::vector<MergeAction> actions;
  std::vector<Rows> finished;
  for (const ast::Node* node : clauses) {
    const auto& when = ast::as<ast::MergeWhenClause>(node);
    MergeAction action;
    action.rows = rows_of(when);
    action.does = does_of(when);
    if (std::ranges::find(finished, action.rows) != finished.end()) {
      throw SqlError{sqlstate::syntax_error,
                     "unreachable WHEN clause specified after unconditional WHEN clause"};
    }
    if (when.condition == nullptr) finished.push_back(action.rows);
    actions.push_back(std::move(action));
  }
  return actions;
}

/// Returns the join with every row that some action may handle. `left` keeps the source's rows if
/// there are actions for those without a target row, and otherwise the target's.
JoinKind join_of(const MergeParts& merge) {
  const bool keeps_source = merge.has(Rows::not_matched_by_target);
  const bool keeps_target = merge.has(Rows::not_matched_by_source);
  if (keeps_source && keeps_target) return JoinKind::full;
  return keeps_source || keeps_target ? JoinKind::left : JoinKind::inner;
}

void add_position(std::vector<std::size_t>& positions, std::size_t position) {
  if (std::ranges::find(positions, position) == positions.end()) positions.push_back(position);
}

}  // namespace

/// Adds a constant to the rows, so that an outer join shows which of them it made up.
FromPtr Binder::marked_rows(FromPtr rows, const Scope& scope, Slot marker) {
  auto query = std::make_unique<Query>();
  const auto pass_on = [&](Slot slot, TypeId type, std::string_view name) {
    const bool is_there =
        std::ranges::find(query->targets, slot, &OutputTarget::slot) != query->targets.end();
    if (is_there) return;
    OutputTarget target;
    target.name = name;
    target.type = type;
    target.slot = slot;
    target.expr = std::make_unique<SlotExpr>(type, kNoTypmod, slot,
                                             SlotExpr::Origin{kNoOid, 0, {}, target.name});
    query->targets.push_back(std::move(target));
  };
  for (const ScopeItem& item : scope.items) {
    for (const ScopeColumn& column : item.columns) {
      if (!column.computed) pass_on(column.slot, column.type, column.name);
    }
    if (item.partition_slot) pass_on(*item.partition_slot, TypeId::oid, "tableoid");
    if (item.row_id_slot) pass_on(*item.row_id_slot, TypeId::xid8, "ctid");
  }
  OutputTarget there;
  there.name = "?column?";
  there.type = TypeId::bool_;
  there.slot = marker;
  there.expr = constant(TypeId::bool_, Value::from_bool(true));
  query->targets.push_back(std::move(there));
  mark_used(marker);
  query->from.push_back(std::move(rows));
  std::string alias = scope.items.empty() ? std::string{} : scope.items.front().alias;
  return from_node(FromSubquery{std::move(query), std::move(alias)});
}

void Binder::bind_merge_source(WriteStatement& write, const ast::MergeStmt& merge, Scope& source,
                               Scope& with_scope) {
  MergeParts& parts = *write.merge;
  // The target means nothing here, and errors say so.
  Scope around = write_scope(write, write.first_slot);
  around.items[0].reachable = false;
  around.parent = &with_scope;
  source.parent = &around;
  source.outer_slots = &write.outer_slots;
  parts.source = bind_from_item(merge.source_relation, source);
  source.parent = &with_scope;
  for (const ScopeItem& item : source.items) {
    if (item.named && item.alias == write.alias) {
      throw sql_error(sqlstate::duplicate_alias, "name \"{}\" specified more than once",
                      write.alias)
          .with_detail("The name is used both as MERGE target table and data source.");
    }
    for (const ScopeColumn& column : item.columns) {
      mark_used(column.slot);
      parts.source_slots.push_back(column.slot);
    }
    if (item.partition_slot) parts.source_slots.push_back(*item.partition_slot);
    if (item.row_id_slot) parts.source_slots.push_back(*item.row_id_slot);
  }
  if (parts.has(Rows::not_matched_by_source)) {
    parts.source_there = new_slot();
    parts.source_slots.push_back(*parts.source_there);
    parts.source = marked_rows(std::move(parts.source), source, *parts.source_there);
  }
  if (write.view.instead) {
    parts.target_there = new_slot();
    write.view.rows = marked_rows(std::move(write.view.rows), write_scope(write, write.first_slot),
                                  *parts.target_there);
  }
}

/// `scope` has the target first, and then the source.
void Binder::bind_merge_action(WriteStatement& write, const ast::MergeWhenClause& when,
                               Scope& scope, MergeAction& action) {
  std::optional<Unreachable> hidden;
  if (action.rows == Rows::not_matched_by_target) hidden.emplace(scope, 0, 1);
  if (action.rows == Rows::not_matched_by_source) hidden.emplace(scope, 1, scope.items.size());
  if (when.condition != nullptr) {
    const ClauseScope clause{scope, Clause::merge_when};
    action.conditions.push_back(bind_condition(when.condition, scope, "WHEN"));
  }
  if (action.updates()) {
    action.assignments = bind_assignments(write, when.target_list, scope);
  } else if (action.inserts()) {
    action.assignments =
        bind_merged_insert(write, when.values, {when.target_list, when.override_}, scope);
  }
}

/// Collects the columns that any action sets, for rights, errors, indexes and triggers.
void Binder::finish_merge_columns(WriteStatement& write) {
  std::vector<std::size_t> updated;
  for (const MergeAction& action : write.merge->actions) {
    if (!action.updates()) continue;
    for (const Assignment& one : action.assignments) add_position(updated, one.position);
  }
  for (const std::size_t position : updated) write.assignments.push_back({position, nullptr});
}

std::unique_ptr<WriteStatement> Binder::bind_merge(const ast::MergeStmt& merge, Scope* parent) {
  auto write = std::make_unique<WriteStatement>();
  write->kind = WriteKind::merge;
  if (merge.with_clause != nullptr && merge.with_clause->recursive) {
    throw SqlError{sqlstate::syntax_error, "WITH RECURSIVE is not supported for MERGE statement"};
  }
  Scope with_scope;
  with_scope.parent = parent;
  with_scope.outer_slots = &write->outer_slots;
  bind_with(merge.with_clause, with_scope, write->eager);
  MergeParts& parts = write->merge.emplace();
  parts.actions = actions_of(merge.merge_when_clauses);
  parts.join = join_of(parts);
  write->merge_changes = {.inserts = parts.has(Does::insert),
                          .updates = parts.has(Does::update),
                          .removes = parts.has(Does::remove)};
  bind_write_target(*write, *merge.relation);
  write->new_first_slot = new_slots(row_slots(*write->table));
  Scope source;
  bind_merge_source(*write, merge, source, with_scope);

  Scope scope = write_scope(*write, write->first_slot);
  scope.parent = &with_scope;
  scope.outer_slots = &write->outer_slots;
  std::ranges::copy(source.items, std::back_inserter(scope.items));
  {
    const ClauseScope clause{scope, Clause::join_on};
    parts.on.push_back(bind_condition(merge.join_condition, scope, "JOIN/ON"));
    parts.on_again.push_back(bind_condition(merge.join_condition, scope, "JOIN/ON"));
  }
  if (merge.returning_clause != nullptr) {
    // RETURNING * shows the source before the target.
    parts.returned_slot = new_slots(row_slots(*write->table));
    Scope returning = std::move(source);
    for (ScopeItem& item : returning.items) note_absence(item);
    returning.items.push_back(write_scope(*write, *parts.returned_slot).items[0]);
    returning.items.back().row_id_slot.reset();
    returning.merge_action = &parts.action_slot;
    bind_returning(*write, merge.returning_clause, returning,
                   {*parts.returned_slot, write->first_slot, write->new_first_slot});
  }
  std::vector<std::size_t> inserted;
  for (std::size_t i = 0; i < parts.actions.size(); ++i) {
    bind_merge_action(*write, ast::as<ast::MergeWhenClause>(merge.merge_when_clauses[i]), scope,
                      parts.actions[i]);
    if (!parts.actions[i].inserts()) continue;
    for (const std::size_t position : write->insert.columns) add_position(inserted, position);
  }
  write->insert.columns = std::move(inserted);
  note_inserted(*write);
  finish_merge_columns(*write);
  note_columns(*write, write->assignments);
  bind_changed_rows(*write);
  secure_write(*write);
  remove_repeats(write->outer_slots);
  return write;
}

/// merge_action(), in RETURNING of MERGE and its subqueries.
ExprPtr ExpressionBinder::bind_merge_support(const ast::MergeSupportFunc& node, Scope& scope) {
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    if (at->merge_action == nullptr) continue;
    std::optional<Slot>& slot = *at->merge_action;
    if (!slot) slot = new_slot();
    mark_used(*slot);
    for (Scope* level = &scope; level != at; level = level->parent) {
      if (level->outer_slots != nullptr) level->outer_slots->push_back(*slot);
    }
    auto expr = std::make_unique<SlotExpr>(TypeId::text, kNoTypmod, *slot,
                                           SlotExpr::Origin{kNoOid, 0, {}, "merge_action"});
    expr->set_location(node.location);
    return expr;
  }
  throw SqlError{sqlstate::syntax_error,
                 "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command"}
      .at_position(node.location + 1);
}

}  // namespace swizzle::sql
