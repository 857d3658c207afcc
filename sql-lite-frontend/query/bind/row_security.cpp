#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/bind/boolean_expressions.h"
#include "sql-lite-frontend/query/bind/partition_target.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Policies: which rows of a table a statement sees, and which it may write.
///
/// A table that is read becomes a query of its own, whose conditions are the policies; it is a
/// barrier for other conditions (Query::is_barrier). For a table that is written the policies come
/// before the conditions of the statement.
namespace swizzle::sql {
namespace {

constexpr char kForSelect = 'r';
constexpr char kForInsert = 'a';
constexpr char kForUpdate = 'w';
constexpr char kForDelete = 'd';

/// Returns the condition for rows that are written: WITH CHECK, or USING if the policy has none.
const PolicyCondition& check_of(const Policy& policy) {
  return policy.check.is_given() ? policy.check : policy.using_rows;
}

bool has_subquery(const ast::Node& node) {
  check_stack();
  if (ast::is<ast::SubLink>(&node)) return true;
  bool found = false;
  ast::for_each_child(node, [&](const ast::Node& child) { found = found || has_subquery(child); });
  return found;
}

ExprPtr constant_false() {
  return std::make_unique<ConstantExpr>(TypeId::bool_, kNoTypmod, Value::from_bool(false));
}

ExprPtr any_of(std::vector<ExprPtr> conditions) {
  return boolean(BooleanExpr::Kind::disjunction, std::move(conditions));
}

}  // namespace

bool QueryBinder::is_row_secured_now(const Table& table) {
  if (!applies_policies_) return false;
  met_policies_ = true;
  return names_.applies_policies(table, as_role_);
}

QueryBinder::Policies QueryBinder::policies_for(const Table& table, char command) {
  Policies found;
  for (const Policy& policy : table.relation.policies) {
    const bool is_meant = policy.command == '*' || policy.command == command;
    if (!is_meant || !names_.is_for(policy, as_role_)) continue;
    (policy.permissive ? found.permissive : found.restrictive).push_back(&policy);
  }
  return found;
}

Scope QueryBinder::policy_scope(const PolicyCondition& condition, const TablePtr& table,
                                Slot first_slot) {
  // The table comes first among the names.
  const ViewName& known = condition.names.front();
  Scope scope = table_scope(table, known.name, first_slot);
  scope.items[0].schema = known.schema;
  restrict_to_view(scope.items[0], known);
  scope.clause = Clause::policy;
  return scope;
}

ExprPtr QueryBinder::bind_policy(const PolicyCondition& condition, const TablePtr& table,
                                 Slot first_slot) {
  Arena parse_arena;
  // The notes point into the syntax tree, which must live as long as they do.
  const auto statements = parse_script(notes_ != nullptr ? arena_ : parse_arena, condition.sql);
  const auto& select = ast::as<ast::SelectStmt>(statements[0]->stmt);
  const ast::Node* const node = ast::as<ast::ResTarget>(select.target_list[0]).val;
  const bool opens = has_subquery(*node);
  const Oid oid = table->relation.oid;
  if (opens && std::ranges::find(open_policies_, oid) != open_policies_.end()) {
    throw_error(SqlState{"42P17"}, "infinite recursion detected in policy for relation \"{}\"",
                table->relation.name);
  }
  Relation meanings;
  meanings.oid = oid;
  meanings.view_sql = condition.sql;
  meanings.view_names = condition.names;
  meanings.view_types = condition.types;
  meanings.view_routines = condition.routines;
  const auto* const around = std::exchange(open_view_, &meanings);
  const auto* const body = std::exchange(body_, nullptr);
  const bool locks = std::exchange(locks_rows_, false);
  ++view_depth_;
  if (opens) open_policies_.push_back(oid);
  const auto leave = [&] {
    open_view_ = around;
    body_ = body;
    locks_rows_ = locks;
    --view_depth_;
    if (opens) open_policies_.pop_back();
  };
  try {
    Scope scope = policy_scope(condition, table, first_slot);
    ExprPtr bound = bind_condition(node, scope, "POLICY");
    leave();
    return bound;
  } catch (SqlError& error) {
    // The position is one in the policy's text, not in the statement.
    error.fields().position = 0;
    leave();
    throw;
  }
}

void QueryBinder::read_policy(const PolicyCondition& condition, const TablePtr& table,
                              Slot first_slot) {
  recorded_depth_ = view_depth_ + 1;
  reads_only_ = true;
  ExprPtr bound = bind_policy(condition, table, first_slot);
  if (notes_ != nullptr) notes_->condition = std::move(bound);
}

/// Adds the conditions of policies for the command on existing rows: all restrictive policies, and
/// at least one of the permissive ones. The user needs no right to what they read.
void QueryBinder::add_policy_conditions(const TablePtr& table, Slot first_slot, char command,
                                        std::vector<ExprPtr>& conditions) {
  const Policies policies = policies_for(*table, command);
  std::vector<Slot> unread;
  for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
    const Slot slot = first_slot + static_cast<Slot>(i);
    if (!is_used(slot)) unread.push_back(slot);
  }
  std::vector<ExprPtr> permitting;
  for (const Policy* policy : policies.permissive) {
    if (!policy->using_rows.is_given()) continue;
    permitting.push_back(bind_policy(policy->using_rows, table, first_slot));
  }
  // Without a permissive policy no row is visible, so the restrictive ones need not be added.
  if (!permitting.empty()) {
    for (const Policy* policy : policies.restrictive) {
      if (!policy->using_rows.is_given()) continue;
      conditions.push_back(bind_policy(policy->using_rows, table, first_slot));
    }
    conditions.push_back(any_of(std::move(permitting)));
  } else {
    conditions.push_back(constant_false());
  }
  for (const Slot slot : unread) {
    if (!is_used(slot)) continue;
    mark_unused(slot);
    policy_reads_.push_back(slot);
  }
}

void QueryBinder::mark_policy_reads() {
  for (const Slot slot : policy_reads_) mark_used(slot);
}

/// Adds the checks for a row that is to be written. If a restrictive policy refuses, the error
/// names it.
void Binder::add_policy_checks(const TablePtr& table, Slot first_slot, char command,
                               PolicyPart part, std::vector<WriteCheck>& checks) {
  constexpr auto kKind = WriteCheck::Kind::policy;
  const Policies policies = policies_for(*table, command);
  const auto condition_of = [part](const Policy& policy) -> const PolicyCondition& {
    return part == PolicyPart::check ? check_of(policy) : policy.using_rows;
  };
  std::vector<ExprPtr> permitting;
  for (const Policy* policy : policies.permissive) {
    const PolicyCondition& condition = condition_of(*policy);
    if (condition.is_given()) permitting.push_back(bind_policy(condition, table, first_slot));
  }
  if (permitting.empty()) {
    checks.push_back({constant_false(), {}, kKind});
    return;
  }
  checks.push_back({any_of(std::move(permitting)), {}, kKind});
  for (const Policy* policy : policies.restrictive) {
    const PolicyCondition& condition = condition_of(*policy);
    if (!condition.is_given()) continue;
    checks.push_back({bind_policy(condition, table, first_slot), policy->name, kKind});
  }
}

std::vector<OutputTarget> QueryBinder::row_targets(const Table& table, const std::string& alias,
                                                   Slot first_slot) {
  std::vector<OutputTarget> targets;
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (column.dropped) continue;
    OutputTarget target;
    target.name = column.name;
    target.type = column.expression_type();
    target.typmod = column.typmod;
    target.slot = first_slot + static_cast<Slot>(i);
    target.origin = {table.relation.oid, static_cast<std::int16_t>(i + 1), alias, column.name};
    target.expr =
        std::make_unique<SlotExpr>(target.type, target.typmod, target.slot, target.origin);
    targets.push_back(std::move(target));
  }
  return targets;
}

/// Makes the query of the rows that the policies show, for a table in FROM.
FromPtr QueryBinder::secured_rows(FromTable table) {
  auto rows = std::make_unique<Query>();
  rows->is_barrier = true;
  add_policy_conditions(table.table, table.first_slot, kForSelect, rows->where);
  if (locks_rows_) add_policy_conditions(table.table, table.first_slot, kForSelect, rows->recheck);
  rows->targets = row_targets(*table.table, table.alias, table.first_slot);
  if (table.partitions) rows->targets.push_back(partition_target(table));
  if (table.row_id_slot) rows->targets.push_back(row_id_target(table));
  std::string alias = table.alias;
  rows->from.push_back(from_node(std::move(table)));
  return from_node(FromSubquery{std::move(rows), std::move(alias)});
}

/// Adds the policies of UPDATE to a query whose rows are locked.
void QueryBinder::secure_locked(Query& rows) {
  const auto* table = rows.is_barrier && rows.from.size() == 1
                          ? std::get_if<FromTable>(&rows.from[0]->node)
                          : nullptr;
  if (table == nullptr || !table->table->relation.row_security) return;
  const auto noted =
      std::ranges::find(noted_, std::optional{table->first_slot}, &Noted::first_slot);
  if (noted == noted_.end()) return;
  const Oid around = std::exchange(as_role_, noted->access.as_role);
  if (is_row_secured(*table->table)) {
    for (std::vector<ExprPtr>* const conditions : {&rows.where, &rows.recheck}) {
      add_policy_conditions(table->table, table->first_slot, kForUpdate, *conditions);
    }
  }
  as_role_ = around;
}

/// Adds the policies for MERGE. Its target rows are those that SELECT shows. An action on one of
/// them that UPDATE or DELETE does not show is an error.
void Binder::secure_merge(WriteStatement& write, bool reads) {
  constexpr auto kOfTarget = WriteCheck::Kind::policy_of_target;
  for (std::size_t i = 0; !write.view.target && i < write.table->relation.columns.size(); ++i) {
    reads = reads || is_used(write.first_slot + static_cast<Slot>(i));
  }
  if (reads) {
    std::vector<ExprPtr> again;
    for (std::vector<ExprPtr>* const conditions : {&write.rows.barrier, &again}) {
      add_policy_conditions(write.table, write.first_slot, kForSelect, *conditions);
    }
    write.rows.recheck.insert(write.rows.recheck.begin(), std::make_move_iterator(again.begin()),
                              std::make_move_iterator(again.end()));
  }
  const RowChanges changes = write.changes();
  const auto check_target = [&](char command, std::vector<WriteCheck>& checks) {
    add_policy_checks(write.table, write.first_slot, command, PolicyPart::using_rows, checks);
    for (WriteCheck& one : checks) one.kind = kOfTarget;
  };
  const auto check_new = [&](char command, bool is_shown, std::vector<WriteCheck>& checks) {
    add_policy_checks(write.table, write.new_first_slot, command, PolicyPart::check, checks);
    if (!reads || !is_shown) return;
    add_policy_checks(write.table, write.new_first_slot, kForSelect, PolicyPart::using_rows,
                      checks);
  };
  if (changes.updates) {
    check_target(kForUpdate, write.checks.existing);
    check_new(kForUpdate, true, write.checks.policies);
  }
  if (changes.removes) check_target(kForDelete, write.checks.removed);
  // An inserted row is shown by RETURNING alone.
  if (changes.inserts) check_new(kForInsert, !write.returning.empty(), write.checks.inserted);
}

/// Pre: the rest of the statement is bound, so that it is known whether it reads the table.
void Binder::secure_write(WriteStatement& write) {
  if (!write.table->relation.row_security || write.view.instead) return;
  const Oid around = std::exchange(as_role_, noted_[write.access].access.as_role);
  const auto leave = [&] { as_role_ = around; };
  try {
    if (is_row_secured(*write.table)) {
      // If the statement reads rows, the policies of SELECT apply. Reads by the condition of a view
      // between statement and table do not count.
      const std::size_t named = write.view.target ? write.view.access : write.access;
      bool reads = !noted_[named].access.read.empty();
      if (write.kind == WriteKind::merge) {
        secure_merge(write, reads);
      } else if (write.kind != WriteKind::insert) {
        for (std::size_t i = 0; !write.view.target && i < write.table->relation.columns.size();
             ++i) {
          reads = reads || is_used(write.first_slot + static_cast<Slot>(i));
        }
        const char command = write.kind == WriteKind::update ? kForUpdate : kForDelete;
        std::vector<ExprPtr> again;
        for (std::vector<ExprPtr>* const conditions : {&write.rows.barrier, &again}) {
          if (reads) add_policy_conditions(write.table, write.first_slot, kForSelect, *conditions);
          add_policy_conditions(write.table, write.first_slot, command, *conditions);
        }
        write.rows.recheck.insert(write.rows.recheck.begin(),
                                  std::make_move_iterator(again.begin()),
                                  std::make_move_iterator(again.end()));
      }
      const auto check = [&](Slot row, char command, PolicyPart part,
                             std::vector<WriteCheck>& checks) {
        add_policy_checks(write.table, row, command, part, checks);
        if (reads) {
          add_policy_checks(write.table, row, kForSelect, PolicyPart::using_rows, checks);
        }
      };
      if (write.kind == WriteKind::insert) {
        check(write.first_slot, kForInsert, PolicyPart::check, write.checks.policies);
      } else if (write.kind == WriteKind::update) {
        check(write.new_first_slot, kForUpdate, PolicyPart::check, write.checks.policies);
      }
      if (write.insert.conflict.kind == ConflictAction::Kind::update) {
        check(write.insert.conflict.existing_first_slot, kForUpdate, PolicyPart::using_rows,
              write.checks.existing);
        check(write.first_slot, kForUpdate, PolicyPart::check, write.checks.updated);
        for (WriteCheck& one : write.checks.existing) {
          one.kind = WriteCheck::Kind::policy_of_existing;
        }
      }
    }
    leave();
  } catch (...) {
    leave();
    throw;
  }
}

}  // namespace swizzle::sql
