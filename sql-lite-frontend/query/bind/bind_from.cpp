#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/bind/partition_target.h"
#include "sql-lite-frontend/query/bind/view_options.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

std::string qualified(const ast::RangeVar& range) {
  if (range.schemaname.empty()) return std::string{range.relname};
  return fmt::format("{}.{}", range.schemaname, range.relname);
}

std::shared_ptr<BoundCte> find_cte(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (auto cte = at->ctes.rbegin(); cte != at->ctes.rend(); ++cte) {
      if ((*cte)->name == name) return *cte;
    }
  }
  return nullptr;
}

/// In a query, an error about a schema that may not be used says where.
TablePtr find_at(QueryBinder& binder, const ast::RangeVar& range) {
  try {
    return binder.find_table(range);
  } catch (SqlError& error) {
    if (error.fields().position == 0) error.fields().position = range.location + 1;
    throw;
  }
}

}  // namespace

TablePtr QueryBinder::find_table(const ast::RangeVar& range) {
  if (!range.catalogname.empty() && range.catalogname != names_.current_database()) {
    throw sql_error(sqlstate::feature_not_supported,
                    "cross-database references are not implemented: \"{}.{}.{}\"",
                    range.catalogname, range.schemaname, range.relname)
        .at_position(range.location + 1);
  }
  if (const ViewName* known = view_name(range)) return names_.table(known->relation);
  return names_.find_table(range.schemaname, range.relname);
}

/// Inside a view, returns its recorded meaning of a name in its text.
const ViewName* QueryBinder::view_name(const ast::RangeVar& range) const {
  if (open_view_ == nullptr) return nullptr;
  for (const ViewName& known : open_view_->view_names) {
    if (known.name == range.relname && known.schema == range.schemaname) return &known;
  }
  return nullptr;
}

/// Leaves an item the columns that the view knew, under the names that it knew.
void QueryBinder::restrict_to_view(ScopeItem& item, const ViewName& known) {
  std::vector<ScopeColumn> columns;
  for (const ViewColumn& wanted : known.columns) {
    for (ScopeColumn& column : item.columns) {
      if (column.origin.column != wanted.number) continue;
      ScopeColumn& known_as = columns.emplace_back(column);
      known_as.name = known_as.origin.name = wanted.name;
      break;
    }
  }
  const auto same = [](const ScopeColumn& a, const ScopeColumn& b) { return a.name == b.name; };
  // Whole rows are of the relation's type as it is now; the text calls their fields as it did.
  if (item.row_type != TypeId::none && !std::ranges::equal(columns, item.columns, same)) {
    for (ScopeColumn& column : item.columns) {
      const auto was = std::ranges::find(known.columns, column.origin.column, &ViewColumn::number);
      if (was != known.columns.end()) column.name = was->name;
    }
    item.whole_row = std::move(item.columns);
  }
  item.columns = std::move(columns);
  item.show_all();
}

/// Indexes and composite types share their names with relations, and have no rows.
void QueryBinder::refuse_no_table(const ast::RangeVar& range) {
  ObjectNames* const names = names_.context().names;
  std::string name = quote_identifier(range.relname);
  if (!range.schemaname.empty()) name = quote_identifier(range.schemaname) + "." + name;
  if (names == nullptr || !names->find(TypeId::regclass, name)) return;
  const TypePtr type = names_.find_user_type(range.schemaname, range.relname);
  throw sql_error(sqlstate::wrong_object_type, "cannot open relation \"{}\"", range.relname)
      .with_detail(fmt::format("This operation is not supported for {}.",
                               type && is_composite(type->id()) ? "composite types" : "indexes"))
      .at_position(range.location + 1);
}

TablePtr QueryBinder::require_table(const ast::RangeVar& range) {
  TablePtr table = find_at(*this, range);
  if (!table) {
    refuse_no_table(range);
    throw sql_error(sqlstate::undefined_table, "relation \"{}\" does not exist", qualified(range))
        .at_position(range.location + 1);
  }
  return table;
}

TablePtr QueryBinder::require_relation(const ast::RangeVar& range) {
  try {
    return require_table(range);
  } catch (SqlError& error) {
    error.fields().position = 0;
    throw;
  }
}

void QueryBinder::require_distinct(const Scope& scope, const ScopeItem& item) {
  for (const ScopeItem& other : std::span{scope.items}.subspan(scope.distinct_from)) {
    if (!other.named || other.alias != item.alias) continue;
    // Relations that have no alias are told apart by their schemas.
    if (!other.schema.empty() && !item.schema.empty() && other.schema != item.schema) continue;
    throw_error(sqlstate::duplicate_alias, "table name \"{}\" specified more than once",
                item.alias);
  }
}

void QueryBinder::add_item(Scope& scope, ScopeItem item) {
  if (item.named && !item.alias.empty()) require_distinct(scope, item);
  // Views that name others twice, level by level, come to millions.
  constexpr int kMostRelations = 20'000;
  if (++relations_named_ > kMostRelations) {
    throw SqlError{sqlstate::program_limit_exceeded, "too many range table entries"};
  }
  scope.items.push_back(std::move(item));
}

void QueryBinder::apply_alias(ScopeItem& item, const ast::Alias* alias) {
  if (alias == nullptr) return;
  item.alias = alias->aliasname;
  item.schema.clear();
  if (alias->colnames.size() > item.columns.size()) {
    throw_error(sqlstate::invalid_column_reference,
                "{} \"{}\" has {} columns available but {} columns specified",
                item.is_join ? "join expression" : "table", item.alias, item.columns.size(),
                alias->colnames.size());
  }
  for (std::size_t i = 0; i < alias->colnames.size(); ++i) {
    ScopeColumn& column = item.columns[i];
    column.name = column.origin.name = ast::string_of(alias->colnames[i]);
    for (ScopeColumn& field : item.whole_row) {
      if (field.slot == column.slot) field.name = column.name;
    }
  }
  for (ScopeColumn& column : item.columns) column.origin.qualifier = item.alias;
}

namespace {

TypeId row_type_of(const Table& table) {
  const TypeId rows{table.relation.row_type};
  return is_composite(rows) ? rows : TypeId::none;
}

}  // namespace

Scope ExpressionBinder::table_scope(const TablePtr& table, std::string_view alias,
                                    Slot first_slot) {
  ScopeItem item;
  item.alias = alias;
  if (alias == table->relation.name) item.schema = names_.schema_name(table->relation.schema);
  item.table = table;
  item.row_type = row_type_of(*table);
  for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
    const Column& column = table->relation.columns[i];
    if (column.dropped) continue;
    item.columns.push_back(
        {column.name,
         column.expression_type(),
         column.typmod,
         first_slot + static_cast<Slot>(i),
         {table->relation.oid, static_cast<std::int16_t>(i + 1), std::string{alias}, column.name}});
  }
  item.show_all();
  note_virtual_columns(*table, first_slot);
  if (table->relation.is_partitioned()) item.partition_slot = partition_slot(*table, first_slot);
  item.row_id_slot = row_id_slot(*table, first_slot);
  Scope scope;
  scope.from_slots.emplace_back(first_slot, first_slot + static_cast<Slot>(row_slots(*table)));
  scope.items.push_back(std::move(item));
  return scope;
}

Scope ExpressionBinder::domain_scope(TypeReference base, Slot slot) {
  ScopeItem item;
  item.columns.push_back({"value",
                          base.type,
                          base.typmod,
                          slot,
                          {kNoOid, SlotExpr::Origin::kDomainValue, {}, "VALUE"}});
  item.show_all();
  item.named = false;
  Scope scope;
  scope.from_slots.emplace_back(slot, slot + 1);
  scope.items.push_back(std::move(item));
  scope.clause = Clause::check;
  return scope;
}

ExprPtr ExpressionBinder::bind_table_expression(std::string_view sql, const Table& table,
                                                Slot first_slot, Clause clause) {
  Scope scope;
  ScopeItem item;
  item.alias = table.relation.name;
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (column.dropped) continue;
    const auto number = static_cast<std::int16_t>(i + 1);
    item.columns.push_back({column.name,
                            column.expression_type(),
                            column.typmod,
                            first_slot + static_cast<Slot>(i),
                            {table.relation.oid, number, table.relation.name, column.name}});
  }
  item.show_all();
  // A generated column reads no other.
  if (clause != Clause::generated) note_virtual_columns(table, first_slot);
  scope.items.push_back(std::move(item));
  scope.clause = clause;
  return bind_stored(sql, scope);
}

ExprPtr ExpressionBinder::bind_stored_expression(std::string_view sql) {
  Scope scope;
  scope.clause = Clause::column_default;
  return bind_stored(sql, scope);
}

ExprPtr ExpressionBinder::bind_stored(std::string_view sql, Scope& scope) {
  Arena parse_arena;
  const std::string text = "SELECT " + std::string{sql};
  const auto statements = parse_script(parse_arena, text);
  const auto& select = ast::as<ast::SelectStmt>(statements[0]->stmt);
  if (select.target_list.empty()) {
    throw SqlError{sqlstate::internal_error, "the catalog has no expression where one is stored"};
  }
  // The variables of the routine in whose body the statement stands mean nothing in it.
  const auto* const around = open_view_;
  const auto* const body = std::exchange(body_, nullptr);
  if (body != nullptr && open_view_ == body->meanings.get()) open_view_ = nullptr;
  const auto restore = [&] {
    body_ = body;
    open_view_ = around;
  };
  try {
    ExprPtr bound = bind_node(ast::as<ast::ResTarget>(select.target_list[0]).val, scope);
    restore();
    return bound;
  } catch (SqlError& error) {
    restore();
    // The position would point into the stored text, not into the statement.
    error.fields().position = 0;
    throw;
  }
}

FromPtr QueryBinder::bind_from_item(const ast::Node* node, Scope& scope) {
  check_stack();
  FromPtr item = bind_from_node(node, scope);
  if (notes_ != nullptr) notes_->from[item.get()] = {node, scope.items.back()};
  return item;
}

FromPtr QueryBinder::bind_from_node(const ast::Node* node, Scope& scope) {
  switch (ast::kind_of(node)) {
    case ast::NodeKind::range_var:
      return bind_range_var(ast::as<ast::RangeVar>(node), scope);
    case ast::NodeKind::range_subselect:
      return bind_range_subselect(ast::as<ast::RangeSubselect>(node), scope);
    case ast::NodeKind::range_function:
      return bind_range_function(ast::as<ast::RangeFunction>(node), scope);
    case ast::NodeKind::join_expr:
      return bind_join(ast::as<ast::JoinExpr>(node), scope);
    case ast::NodeKind::range_table_sample:
      return bind_table_sample(ast::as<ast::RangeTableSample>(node), scope);
    case ast::NodeKind::range_table_func:
      return bind_xml_table(ast::as<ast::RangeTableFunc>(node), scope);
    case ast::NodeKind::json_table:
      return bind_json_table(ast::as<ast::JsonTable>(node), scope);
    default:
      unsupported(ast::node_name(node->node_kind));
  }
}

void QueryBinder::note_name(const ast::RangeVar& range, const Table& table) {
  if (open_view_ != nullptr) return;
  named_.push_back({std::string{range.schemaname}, std::string{range.relname}, table.relation.oid});
}

/// Perhaps a WITH query has that name, and stands too late.
void QueryBinder::throw_missing_relation(const ast::RangeVar& range, const Scope& scope) {
  refuse_no_table(range);
  SqlError error =
      sql_error(sqlstate::undefined_table, "relation \"{}\" does not exist", qualified(range));
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    if (!range.schemaname.empty() ||
        std::ranges::find(at->later_ctes, range.relname) == at->later_ctes.end()) {
      continue;
    }
    throw std::move(error)
        .with_detail(fmt::format("There is a WITH item named \"{}\", but it cannot be "
                                 "referenced from this part of the query.",
                                 range.relname))
        .with_hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
        .at_position(range.location + 1);
  }
  throw std::move(error).at_position(range.location + 1);
}

FromPtr QueryBinder::bind_range_var(const ast::RangeVar& range, Scope& scope) {
  if (range.schemaname.empty()) {
    if (const auto cte = find_cte(scope, range.relname)) {
      return bind_cte_reference(cte, range, scope);
    }
  }
  const TablePtr table = find_at(*this, range);
  if (!table) throw_missing_relation(range, scope);
  note_name(range, *table);
  depend_on(table);
  if (names_.expands(*table) && !reads_only_) {
    if (view_depth_ == recorded_depth_) {
      read_.push_back({std::string{range.schemaname}, std::string{range.relname}, table, false, 0});
    }
    return bind_view(table, range, scope);
  }
  if (table->relation.kind == RelationKind::sequence) {
    note_access(table, privilege::kSelect, std::nullopt);
    if (view_depth_ == recorded_depth_) {
      read_.push_back({std::string{range.schemaname}, std::string{range.relname}, table, false, 0});
    }
    return bind_sequence(table, range, scope);
  }
  const Slot first_slot = new_slots(row_slots(*table));
  note_access(table, privilege::kSelect, first_slot);
  Scope own = table_scope(table, table->relation.name, first_slot);
  ScopeItem item = std::move(own.items[0]);
  if (view_depth_ == recorded_depth_) {
    read_.push_back(
        {std::string{range.schemaname}, std::string{range.relname}, table, true, first_slot});
  }
  if (const ViewName* known = view_name(range)) {
    item.alias = known->name;
    if (!known->schema.empty()) item.schema = known->schema;
    restrict_to_view(item, *known);
  }
  apply_alias(item, range.alias);
  const std::string alias = item.alias;
  PartitionTreePtr partitions = partitions_of(table, !range.inh);
  if (partitions && partitions->is_of_heirs()) show_heirs(item, *table, first_slot);
  const std::optional<Slot> row_id = partitions ? std::nullopt : row_id_slot(*table, first_slot);
  scope.from_slots.push_back(own.from_slots[0]);
  add_item(scope, std::move(item));
  if (table->relation.kind == RelationKind::computed) {
    return from_node(FromComputed{table, alias, first_slot});
  }
  FromTable from{table, alias, first_slot, std::move(partitions), row_id};
  if (is_row_secured(*table)) return secured_rows(std::move(from));
  return from_node(std::move(from));
}

std::unique_ptr<Query> QueryBinder::bind_view_query(const Table& view) {
  Arena parse_arena;
  const auto statements = parse_script(parse_arena, view.relation.view_sql);
  return bind_view_query(view, ast::as<ast::SelectStmt>(statements[0]->stmt));
}

std::unique_ptr<Query> QueryBinder::bind_view_query(const Table& view,
                                                    const ast::SelectStmt& select) {
  const auto* const around = std::exchange(open_view_, &view.relation);
  const Oid reader = std::exchange(as_role_, role_behind(view));
  ++view_depth_;
  std::unique_ptr<Query> query;
  try {
    query = bind_select(select, nullptr);
  } catch (SqlError& error) {
    // The position would point into the view's text.
    error.fields().position = 0;
    open_view_ = around;
    as_role_ = reader;
    --view_depth_;
    throw;
  }
  open_view_ = around;
  as_role_ = reader;
  --view_depth_;
  return query;
}

void QueryBinder::read_view(const Table& view) {
  recorded_depth_ = view_depth_ + 1;
  reads_only_ = true;
  bind_view_query(view);
}

std::unique_ptr<Query> QueryBinder::read_view(const Table& view, const ast::SelectStmt& select) {
  recorded_depth_ = view_depth_ + 1;
  reads_only_ = true;
  return bind_view_query(view, select);
}

/// A sequence has one row: where it stands.
FromPtr QueryBinder::bind_sequence(const TablePtr& sequence, const ast::RangeVar& range,
                                   Scope& scope) {
  Arena parse_arena;
  const std::string text = fmt::format(
      "SELECT pg_catalog.swizzle_sequence_value({0}) AS last_value, 0::int8 AS log_cnt, "
      "pg_catalog.swizzle_sequence_is_called({0}) AS is_called",
      sequence->relation.oid);
  const auto statements = parse_script(parse_arena, text);
  auto query = bind_select(ast::as<ast::SelectStmt>(statements[0]->stmt), nullptr);
  ScopeItem item;
  item.alias = sequence->relation.name;
  item.schema = names_.schema_name(sequence->relation.schema);
  if (const ViewName* known = view_name(range)) {
    item.alias = known->name;
    if (!known->schema.empty()) item.schema = known->schema;
  }
  for (const OutputTarget& target : query->targets) {
    mark_used(target.slot);
    item.columns.push_back({target.name,
                            target.type,
                            target.typmod,
                            target.slot,
                            {kNoOid, 0, item.alias, target.name}});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
  }
  item.show_all();
  apply_alias(item, range.alias);
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from_node(FromSubquery{std::move(query), std::move(alias)});
}

FromPtr QueryBinder::bind_view(const TablePtr& view, const ast::RangeVar& range, Scope& scope) {
  const std::size_t access = note_access(view, privilege::kSelect, std::nullopt);
  std::unique_ptr<Query> query = bind_view_query(*view);
  if (query->targets.size() != view->relation.columns.size()) {
    throw sql_error(SqlState{"55000"}, "view \"{}\" cannot be read", view->relation.name)
        .with_detail("What it reads has lost an attribute since the view was made.");
  }
  query->is_barrier = has_view_option(view->relation, "security_barrier");
  ScopeItem item;
  item.alias = view->relation.name;
  item.schema = names_.schema_name(view->relation.schema);
  item.row_type = row_type_of(*view);
  for (std::size_t i = 0; i < query->targets.size(); ++i) {
    const OutputTarget& target = query->targets[i];
    const Column& column = view->relation.columns[i];
    item.columns.push_back(
        {column.name,
         column.expression_type(),
         column.typmod,
         target.slot,
         {view->relation.oid, static_cast<std::int16_t>(i + 1), item.alias, column.name},
         false,
         ColumnNote{access, i}});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
  }
  item.show_all();
  if (const ViewName* known = view_name(range)) {
    item.alias = known->name;
    if (!known->schema.empty()) item.schema = known->schema;
    restrict_to_view(item, *known);
  }
  apply_alias(item, range.alias);
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from_node(FromSubquery{std::move(query), std::move(alias), access});
}

FromPtr QueryBinder::bind_range_subselect(const ast::RangeSubselect& node, Scope& scope) {
  std::unique_ptr<Query> query;
  {
    const Unreachable hidden{scope, 0, node.lateral ? 0 : scope.items.size()};
    const ClauseScope clause{scope, Clause::from_function};
    query = bind_select(ast::as<ast::SelectStmt>(node.subquery), &scope);
  }
  ScopeItem item;
  // Only an alias that was written can qualify a column; the other is shown in views and plans.
  item.named = node.alias != nullptr;
  item.alias = item.named ? node.alias->aliasname : "unnamed_subquery";
  for (const OutputTarget& target : query->targets) {
    SlotExpr::Origin origin = target.origin;
    origin.qualifier = item.alias;
    origin.name = target.name;
    item.columns.push_back({target.name, target.type, target.typmod, target.slot, origin});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
    if (target.expr != nullptr) note_record_fields(target.slot, *target.expr);
  }
  item.show_all();
  apply_alias(item, node.alias);
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from_node(FromSubquery{std::move(query), std::move(alias)});
}

}  // namespace swizzle::sql
