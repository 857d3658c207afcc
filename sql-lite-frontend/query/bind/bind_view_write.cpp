#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/partition_target.h"
#include "sql-lite-frontend/query/bind/view_options.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

/// Views that can be written: those over one table, or over another such view, column by column.
namespace swizzle::sql {
namespace {

struct Words {
  std::string_view cannot;  ///< "cannot insert into"
  std::string_view doing;   ///< "inserting into"
  std::string_view event;   ///< "INSERT"
};

Words words_for(WriteKind kind) {
  switch (kind) {
    case WriteKind::insert:
      return {"insert into", "inserting into", "INSERT"};
    case WriteKind::update:
      return {"update", "updating", "UPDATE"};
    case WriteKind::merge:
      return {"merge into", {}, {}};
    case WriteKind::delete_:
      break;
  }
  return {"delete from", "deleting from", "DELETE"};
}

bool has_instead_trigger(const Table& view, TriggerEvent event) {
  return std::ranges::any_of(view.relation.triggers, [event](const Trigger& trigger) {
    return trigger.time == TriggerTime::instead_of && trigger.fires_on(event);
  });
}

/// Returns the kind of the first action of the write for which the view has no INSTEAD OF trigger.
WriteKind unsupported_kind(const WriteStatement& write, const Table& view) {
  if (!write.merge) return write.kind;
  for (const MergeAction& action : write.merge->actions) {
    if (action.does == MergeAction::Does::nothing) continue;
    TriggerEvent event = action.inserts() ? TriggerEvent::insert : TriggerEvent::remove;
    if (action.updates()) event = TriggerEvent::update;
    if (has_instead_trigger(view, event)) continue;
    if (action.inserts()) return WriteKind::insert;
    return action.updates() ? WriteKind::update : WriteKind::delete_;
  }
  return WriteKind::update;
}

[[noreturn]] void refuse(const Table& view, const WriteStatement& write, std::string_view what) {
  const Words words = words_for(unsupported_kind(write, view));
  throw sql_error(SqlState{"55000"}, "cannot {} view \"{}\"", words.cannot, view.relation.name)
      .with_detail(fmt::format("Views {} are not automatically updatable.", what))
      .with_hint(write.merge
                     ? fmt::format("To enable {} the view using MERGE, provide an INSTEAD OF {} "
                                   "trigger.",
                                   words.doing, words.event)
                     : fmt::format("To enable {} the view, provide an INSTEAD OF {} trigger or an "
                                   "unconditional ON {} DO INSTEAD rule.",
                                   words.doing, words.event, words.event));
}

enum class Special : std::uint8_t { none, aggregate, window, set };

Special special_in(const ast::Node& node) {
  check_stack();
  if (ast::is<ast::SubLink>(&node)) return Special::none;
  Special found = Special::none;
  if (const auto* call = ast::try_as<ast::FuncCall>(&node)) {
    if (call->over != nullptr) return Special::window;
    for (const Function* function : functions_named(ast::string_of(call->funcname.back()))) {
      if (function->kind == FunctionKind::aggregate) return Special::aggregate;
      if (function->kind == FunctionKind::set || function->returns_set) return Special::set;
    }
  }
  ast::for_each_child(node, [&](const ast::Node& child) {
    if (found == Special::none) found = special_in(child);
  });
  return found;
}

/// Returns the reason why PostgreSQL refuses to write through the query; empty if there is none.
std::string_view hindrance(const ast::SelectStmt& query) {
  if (!query.distinct_clause.empty()) return "containing DISTINCT";
  if (!query.group_clause.empty()) return "containing GROUP BY";
  if (query.having_clause != nullptr) return "containing HAVING";
  if (query.op != ast::SetOperation::none && query.op != ast::SetOperation::undefined) {
    return "containing UNION, INTERSECT, or EXCEPT";
  }
  if (query.with_clause != nullptr) return "containing WITH";
  if (query.limit_count != nullptr || query.limit_offset != nullptr) {
    return "containing LIMIT or OFFSET";
  }
  for (const ast::Node* target : query.target_list) {
    switch (special_in(*target)) {
      case Special::aggregate:
        return "that return aggregate functions";
      case Special::window:
        return "that return window functions";
      case Special::set:
        return "that return set-returning functions";
      case Special::none:
        break;
    }
  }
  if (query.from_clause.size() != 1 || !ast::is<ast::RangeVar>(query.from_clause[0])) {
    return "that do not select from a single table or view";
  }
  return {};
}

std::vector<ViewTargetColumn> columns_of(const Table& table) {
  std::vector<ViewTargetColumn> columns;
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    // A dropped column keeps its position, so that the numbers stay valid.
    columns.push_back({column.dropped ? std::string{} : column.name, i});
  }
  return columns;
}

/// Returns the view's columns in terms of its FROM clause.
std::vector<ViewTargetColumn> targets_of(const Table& view, const ast::SelectStmt& query,
                                         const std::vector<ViewTargetColumn>& from) {
  std::vector<std::optional<std::size_t>> positions;
  for (const ast::Node* node : query.target_list) {
    const auto* column = ast::try_as<ast::ColumnRef>(ast::as<ast::ResTarget>(node).val);
    if (column != nullptr && ast::is<ast::A_Star>(column->fields.back())) {
      for (const ViewTargetColumn& each : from) {
        if (!each.name.empty()) positions.push_back(each.position);
      }
      continue;
    }
    std::optional<std::size_t> position;
    if (column != nullptr) {
      const auto found =
          std::ranges::find(from, ast::string_of(column->fields.back()), &ViewTargetColumn::name);
      if (found != from.end()) position = found->position;
    }
    positions.push_back(position);
  }
  STATEMENT_INVARIANT(positions.size() == view.relation.columns.size());
  std::vector<ViewTargetColumn> targets;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    targets.push_back({view.relation.columns[i].name, positions[i]});
  }
  return targets;
}

}  // namespace

/// Binds a target that is a view: either INSTEAD OF triggers write its rows, or the table below it
/// is written.
void Binder::bind_view_target(WriteStatement& write) {
  const TablePtr view = write.table;
  std::size_t with_trigger = 0;
  std::size_t without = 0;
  for (const TriggerEvent event :
       {TriggerEvent::insert, TriggerEvent::update, TriggerEvent::remove}) {
    if (!write.does(event)) continue;
    ++(has_instead_trigger(*view, event) ? with_trigger : without);
  }
  write.view.instead = with_trigger > 0 && without == 0;
  if (write.view.instead) return;
  write.view.target = open_view(view, write);
  if (with_trigger > 0) {
    throw sql_error(sqlstate::feature_not_supported, "cannot merge into view \"{}\"",
                    view->relation.name)
        .with_detail(
            "MERGE is not supported for views with INSTEAD OF triggers for some actions but not "
            "all.")
        .with_hint(
            "To enable merging into the view, either provide a full set of INSTEAD OF triggers or "
            "drop the existing INSTEAD OF triggers.");
  }
  write.table = write.view.target->table;
  depend_on(write.table);
}

ViewTarget Binder::open_view(const TablePtr& view, const WriteStatement& write) {
  check_stack();
  ViewTarget target;
  target.view = view;
  depend_on(view);
  ViewTarget::Level level;
  level.view = view;
  level.arena = std::make_shared<Arena>();
  level.query =
      &ast::as<ast::SelectStmt>(parse_script(*level.arena, view->relation.view_sql)[0]->stmt);
  if (const std::string_view what = hindrance(*level.query); !what.empty()) {
    refuse(*view, write, what);
  }
  const auto& range = ast::as<ast::RangeVar>(level.query->from_clause[0]);
  const auto* const around = std::exchange(open_view_, &view->relation);
  const ViewName* known = view_name(range);
  const TablePtr below = find_table(range);
  open_view_ = around;
  if (!below || known == nullptr ||
      (!is_table(below->relation.kind) && below->relation.kind != RelationKind::view)) {
    refuse(*view, write, "that do not select from a single table or view");
  }
  std::vector<ViewTargetColumn> offered;
  if (below->relation.kind == RelationKind::view) {
    const bool has_instead = std::ranges::any_of(
        below->relation.triggers,
        [](const Trigger& trigger) { return trigger.time == TriggerTime::instead_of; });
    if (has_instead) unsupported("writing through a view to one with INSTEAD OF triggers");
    ViewTarget inner = open_view(below, write);
    target.table = inner.table;
    target.only = inner.only;
    target.levels = std::move(inner.levels);
    offered = std::move(inner.columns);
  } else {
    target.table = below;
    target.only = !range.inh;
    offered = columns_of(*below);
  }
  for (const ViewColumn& column : known->columns) {
    level.from.push_back(
        {column.name, offered[static_cast<std::size_t>(column.number) - 1].position});
  }
  level.alias = range.alias != nullptr ? range.alias->aliasname : range.relname;
  if (range.alias != nullptr) {
    for (std::size_t i = 0; i < range.alias->colnames.size(); ++i) {
      level.from[i].name = ast::string_of(range.alias->colnames[i]);
    }
  }
  target.columns = targets_of(*view, *level.query, level.from);
  if (std::ranges::none_of(target.columns, [](const ViewTargetColumn& column) {
        return column.position.has_value();
      })) {
    refuse(*view, write, "that have no updatable columns");
  }
  target.levels.push_back(std::move(level));
  return target;
}

std::vector<bool> Binder::updatable_columns(const TablePtr& relation) {
  std::vector<bool> updatable(relation->relation.columns.size(), true);
  if (is_table(relation->relation.kind)) return updatable;
  if (relation->relation.kind != RelationKind::view) return {};
  try {
    WriteStatement update;
    update.kind = WriteKind::update;
    const ViewTarget target = open_view(relation, update);
    for (std::size_t i = 0; i < updatable.size(); ++i) {
      updatable[i] = target.columns[i].position.has_value();
    }
  } catch (const SqlError&) {
    return {};
  }
  return updatable;
}

/// Returns a scope with the table's columns under the names of a view, or of a relation that the
/// view reads.
Scope Binder::view_scope(const TablePtr& table, std::string_view alias,
                         std::span<const ViewTargetColumn> columns, Slot first_slot) {
  Scope scope = table_scope(table, alias, first_slot);
  ScopeItem& item = scope.items[0];
  item.columns.clear();
  for (const ViewTargetColumn& column : columns) {
    ScopeColumn named;
    named.name = column.name;
    named.computed = !column.position;
    if (column.position) {
      const Column& below = table->relation.columns[*column.position];
      named.type = below.type;
      named.typmod = below.typmod;
      named.slot = first_slot + static_cast<Slot>(*column.position);
      named.origin = {table->relation.oid, static_cast<std::int16_t>(*column.position + 1),
                      std::string{alias}, column.name};
    }
    item.columns.push_back(std::move(named));
  }
  item.show_all();
  item.table = nullptr;
  item.row_type = TypeId::none;
  return scope;
}

/// Returns the condition of a view between target and table, over the row at `first_slot`; null if
/// it has none.
ExprPtr Binder::view_condition(const ViewTarget& target, const ViewTarget::Level& level,
                               Slot first_slot) {
  if (level.query->where_clause == nullptr) return nullptr;
  Scope scope = view_scope(target.table, level.alias, level.from, first_slot);
  // Conditions on the table itself may read its system columns.
  if (&level == &target.levels.front()) scope.items[0].table = target.table;
  scope.clause = Clause::where;
  const auto* const names = std::exchange(open_view_, &level.view->relation);
  const Oid reader = std::exchange(as_role_, role_behind(*level.view));
  ++view_depth_;
  const auto leave = [&] {
    open_view_ = names;
    as_role_ = reader;
    --view_depth_;
  };
  try {
    ExprPtr condition = bind_condition(level.query->where_clause, scope, "WHERE");
    leave();
    return condition;
  } catch (SqlError& error) {
    // The position is one in the view's text, not in the statement.
    error.fields().position = 0;
    leave();
    throw;
  }
}

/// Adds the conditions of the views between target and table. Those up to the highest barrier are
/// checked before the statement's own, so that these reveal nothing of rows which the view hides.
void Binder::restrict_to_view_rows(WriteStatement& write) {
  if (!write.view.target) return;
  std::vector<ExprPtr> since_barrier;
  std::vector<ExprPtr> again;
  for (const ViewTarget::Level& level : write.view.target->levels) {
    for (std::vector<ExprPtr>* conditions : {&since_barrier, &again}) {
      ExprPtr condition = view_condition(*write.view.target, level, write.first_slot);
      if (condition) conditions->push_back(std::move(condition));
    }
    if (since_barrier.empty() || !has_view_option(level.view->relation, "security_barrier")) {
      continue;
    }
    write.rows.view_barriers.push_back(std::exchange(since_barrier, {}));
  }
  if (write.merge && !since_barrier.empty()) {
    // A row that the view does not show is no target row, whatever the join condition is.
    write.rows.view_barriers.push_back(std::exchange(since_barrier, {}));
  }
  std::ranges::move(since_barrier, std::back_inserter(write.rows.where));
  write.rows.recheck.insert(write.rows.recheck.begin(), std::make_move_iterator(again.begin()),
                            std::make_move_iterator(again.end()));
}

/// Adds the checks of WITH CHECK OPTION: the new row must be visible in the view; CASCADED also
/// checks the views below it.
void Binder::add_view_checks(WriteStatement& write, Slot row) {
  if (!write.view.target) return;
  const auto has = [](const Table& view, std::string_view option) {
    const auto& options = view.relation.options;
    return std::ranges::find(options, option) != options.end();
  };
  bool cascaded = false;
  const auto& levels = write.view.target->levels;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const bool asks = cascaded || has(*level->view, "check_option=local");
    cascaded |= has(*level->view, "check_option=cascaded");
    if (!asks && !cascaded) continue;
    ExprPtr condition = view_condition(*write.view.target, *level, row);
    if (!condition) continue;
    write.checks.constraints.push_back(
        {std::move(condition), level->view->relation.name, WriteCheck::Kind::view});
  }
}

std::string_view Binder::view_hindrance(const ast::SelectStmt& query) {
  return hindrance(query);
}

Scope Binder::write_scope(const WriteStatement& write, Slot first_slot) {
  if (write.view.instead) {
    Scope scope = table_scope(write.table, write.alias, first_slot);
    ScopeItem& item = scope.items[0];
    item.table = nullptr;
    if (write.view.slots.empty() || first_slot != write.first_slot) return scope;
    // The existing rows come from the view's query.
    scope.from_slots.clear();
    for (std::size_t i = 0; i < item.columns.size(); ++i) {
      const Slot slot = write.view.slots[i];
      item.columns[i].slot = slot;
      scope.from_slots.emplace_back(slot, slot + 1);
    }
    return scope;
  }
  if (!write.view.target) {
    Scope scope = table_scope(write.table, write.alias, first_slot);
    const PartitionTreePtr& tree = write.partitions.tree;
    if (tree && tree->is_of_heirs()) show_heirs(scope.items[0], *write.table, first_slot);
    return scope;
  }
  Scope scope = view_scope(write.table, write.alias, write.view.target->columns, first_slot);
  const TypeId rows{write.view.target->view->relation.row_type};
  scope.items[0].row_type = is_composite(rows) ? rows : TypeId::none;
  auto& columns = scope.items[0].columns;
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].note = {write.view.access, i};
  return scope;
}

/// Returns the position of the table's column that the statement calls `name`.
std::optional<std::size_t> Binder::target_position(const WriteStatement& write,
                                                   std::string_view name) {
  if (!write.view.target) return write.table->column_position(name);
  const auto& columns = write.view.target->columns;
  const auto found = std::ranges::find(columns, name, &ViewTargetColumn::name);
  if (found == columns.end()) return std::nullopt;
  if (!found->position) refuse_computed_target(write, name);
  return found->position;
}

void Binder::refuse_computed_target(const WriteStatement& write, std::string_view column) {
  throw sql_error(sqlstate::feature_not_supported, "cannot {} column \"{}\" of view \"{}\"",
                  words_for(write.kind).cannot, column, write.view.target->view->relation.name)
      .with_detail("View columns that are not columns of their base relation are not updatable.");
}

}  // namespace swizzle::sql
