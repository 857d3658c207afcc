#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/made_columns.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// WITH: the meanings of its names, the order in which its queries are bound, and recursion.
namespace swizzle::sql {

namespace {

constexpr SqlState kInvalidRecursion{"42P19"};

std::vector<OutputTarget> cte_columns(const std::vector<OutputTarget>& targets,
                                      const ast::CommonTableExpr& node) {
  if (node.aliascolnames.size() > targets.size()) {
    throw sql_error(sqlstate::invalid_column_reference,
                    "WITH query \"{}\" has {} columns available but {} columns specified",
                    node.ctename, targets.size(), node.aliascolnames.size())
        .at_position(node.location + 1);
  }
  std::vector<OutputTarget> columns;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    OutputTarget column;
    column.name = i < node.aliascolnames.size() ? std::string{ast::string_of(node.aliascolnames[i])}
                                                : targets[i].name;
    column.type = targets[i].type;
    column.typmod = targets[i].typmod;
    columns.push_back(std::move(column));
  }
  return columns;
}

bool defines(const ast::Node& node, std::string_view name) {
  const auto* with = ast::try_as<ast::WithClause>(&node);
  return with != nullptr && std::ranges::any_of(with->ctes, [&](const ast::Node* cte) {
           return ast::as<ast::CommonTableExpr>(cte).ctename == name;
         });
}

/// Returns true if a FROM clause in the statement names the WITH query `name` of an outer
/// statement.
bool refers_to(const ast::Node& node, std::string_view name) {
  check_stack();
  if (const auto* range = ast::try_as<ast::RangeVar>(&node)) {
    return range->schemaname.empty() && range->relname == name;
  }
  bool hidden = false;
  ast::for_each_child(node, [&](const ast::Node& child) { hidden |= defines(child, name); });
  bool found = false;
  ast::for_each_child(
      node, [&](const ast::Node& child) { found = found || (!hidden && refers_to(child, name)); });
  return found;
}

using Definitions = std::vector<const ast::CommonTableExpr*>;

/// Sorts the definitions so that each comes after those that it names: under RECURSIVE a query may
/// name a later one.
Definitions in_order_of_need(Definitions waiting) {
  Definitions ordered;
  while (!waiting.empty()) {
    const auto ready = std::ranges::find_if(waiting, [&](const ast::CommonTableExpr* candidate) {
      return std::ranges::none_of(waiting, [&](const ast::CommonTableExpr* other) {
        return other != candidate && refers_to(*candidate->ctequery, other->ctename);
      });
    });
    if (ready == waiting.end()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "mutual recursion between WITH items is not implemented"}
          .at_position(waiting.front()->location + 1);
    }
    ordered.push_back(*ready);
    waiting.erase(ready);
  }
  return ordered;
}

Definitions definitions_of(const ast::WithClause& with, const Scope& scope) {
  Definitions definitions;
  for (const ast::Node* item : with.ctes) {
    const auto& node = ast::as<ast::CommonTableExpr>(item);
    const auto repeats = [&](std::string_view other) { return other == node.ctename; };
    if (std::ranges::any_of(scope.ctes, repeats, [](const auto& cte) { return cte->name; }) ||
        std::ranges::any_of(definitions, repeats, &ast::CommonTableExpr::ctename)) {
      throw sql_error(sqlstate::duplicate_alias, "WITH query name \"{}\" specified more than once",
                      node.ctename)
          .at_position(node.location + 1);
    }
    definitions.push_back(&node);
  }
  return with.recursive ? in_order_of_need(std::move(definitions)) : definitions;
}

std::int32_t location_of(const OutputTarget& target) {
  return target.expr ? target.expr->location() : -1;
}

void refuse_recursive_clause(std::string_view clause, const ast::Node* node,
                             std::int32_t location) {
  if (node == nullptr) return;
  if (const auto* constant = ast::try_as<ast::A_Const>(node)) location = constant->location;
  if (const auto* column = ast::try_as<ast::ColumnRef>(node)) location = column->location;
  throw sql_error(sqlstate::feature_not_supported, "{} in a recursive query is not implemented",
                  clause)
      .at_position(location + 1);
}

void refuse_recursive_clauses(const ast::SelectStmt& select, std::int32_t location) {
  if (!select.sort_clause.empty()) {
    const auto& first = ast::as<ast::SortBy>(select.sort_clause[0]);
    refuse_recursive_clause("ORDER BY", first.node, location);
  }
  refuse_recursive_clause("OFFSET", select.limit_offset, location);
  refuse_recursive_clause("LIMIT", select.limit_count, location);
  if (!select.locking_clause.empty()) {
    refuse_recursive_clause("FOR UPDATE/SHARE", select.locking_clause[0], location);
  }
}

/// Throws the error for a column whose type is not that of the first part. PostgreSQL requires the
/// types of the first part to be those of the whole.
[[noreturn]] void refuse_types(const BoundCte& cte, std::size_t column,
                               const std::string& overall) {
  const OutputTarget& first = cte.columns[column];
  throw sql_error(sqlstate::datatype_mismatch,
                  "recursive query \"{}\" column {} has type {} in non-recursive term but type {} "
                  "overall",
                  cte.name, column + 1, format_type(first.type, first.typmod), overall)
      .with_hint("Cast the output of the non-recursive term to the correct type.")
      .at_position(location_of(cte.query->targets[column]) + 1);
}

/// Adds the columns of SEARCH and CYCLE to the first part. Returns the second part with them.
const ast::SelectStmt* add_made_columns(QueryBinder& binder, BoundCte& cte,
                                        const ast::CommonTableExpr& node,
                                        const ast::SelectStmt& select, Scope& parts) {
  std::vector<std::string> names;
  for (const OutputTarget& column : cte.columns) names.push_back(column.name);
  const MadeColumns made{node, std::move(names)};
  const ast::SelectStmt* const second = made.second_part(binder.arena(), select);
  // Bound again, now that the names of its columns are known.
  cte.query = binder.bind_select(*made.first_part(binder.arena(), select), &parts);
  const std::vector<OutputTarget> own = std::move(cte.columns);
  cte.columns.clear();
  for (std::size_t i = 0; i < cte.query->targets.size(); ++i) {
    const OutputTarget& target = cte.query->targets[i];
    OutputTarget column;
    column.name = i < own.size() ? own[i].name : made.names()[i - own.size()];
    column.type = target.type;
    column.typmod = target.typmod;
    cte.columns.push_back(std::move(column));
  }
  cte.made_columns = made.names().size();
  return second;
}

}  // namespace

FromPtr QueryBinder::bind_cte_reference(const std::shared_ptr<BoundCte>& cte,
                                        const ast::RangeVar& range, Scope& scope) {
  const auto refuse = [&](std::string_view why) {
    throw sql_error(kInvalidRecursion, "recursive reference to query \"{}\" must not appear {}",
                    cte->name, why)
        .at_position(range.location + 1);
  };
  if (!cte->bound && !cte->in_recursive_term) refuse("within its non-recursive term");
  if (cte->in_recursive_term) {
    if (!recursion_forbidden_.empty()) refuse(recursion_forbidden_);
    if (++cte->recursive_references > 1) refuse("more than once");
    if (scope.query != nullptr) scope.query->reads_working_table = true;
  }
  if (cte->write && cte->write->returning.empty()) {
    throw sql_error(sqlstate::feature_not_supported,
                    "WITH query \"{}\" does not have a RETURNING clause", cte->name)
        .at_position(range.location + 1);
  }
  FromCte reference;
  // The recursive term belongs to the WITH query, so it must not own it.
  reference.cte = cte->in_recursive_term
                      ? std::shared_ptr<BoundCte>(std::shared_ptr<BoundCte>{}, cte.get())
                      : cte;
  reference.reads = cte->in_recursive_term ? FromCte::Reads::working_table : FromCte::Reads::result;
  // The first reference has the query's own slots, so that the query can take its place.
  const bool has_own_slots =
      cte->query && !cte->in_recursive_term && cte->references++ == 0 && cte->recursive == nullptr;
  ScopeItem item;
  item.alias = cte->name;
  const std::vector<OutputTarget>& targets =
      cte->write ? cte->write->returning : cte->query->targets;
  for (std::size_t i = 0; i < cte->columns.size(); ++i) {
    const OutputTarget& column = cte->columns[i];
    const Slot slot = has_own_slots ? targets[i].slot : new_slot();
    if (targets[i].expr != nullptr) note_record_fields(slot, *targets[i].expr);
    reference.slots.push_back(slot);
    scope.from_slots.emplace_back(slot, slot + 1);
    item.columns.push_back(
        {column.name, column.type, column.typmod, slot, {kNoOid, 0, item.alias, column.name}});
    // Inside the query that has them, a star does not mean the columns of SEARCH and CYCLE.
    item.columns.back().hidden_from_star =
        cte->in_recursive_term && i + cte->made_columns >= cte->columns.size();
  }
  item.show_all();
  apply_alias(item, range.alias);
  reference.alias = item.alias;
  // The slots that the WITH query reads from outside are also read by its references, and by the
  // queries around them inside the query that it belongs to.
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    const bool is_home = std::ranges::find(at->ctes, cte) != at->ctes.end();
    if (at->outer_slots != nullptr) {
      at->outer_slots->insert(at->outer_slots->end(), cte->outer_slots.begin(),
                              cte->outer_slots.end());
      if (cte->in_recursive_term && !is_home) at->outer_slots->push_back(cte->round_slot);
    }
    if (is_home) break;
  }
  add_item(scope, std::move(item));
  return from_node(std::move(reference));
}

void QueryBinder::bind_with(const ast::WithClause* with, Scope& scope, Query& query) {
  const std::size_t before = scope.ctes.size();
  bind_with(with, scope, query.eager);
  for (std::size_t i = before; i < scope.ctes.size(); ++i) {
    const auto& cte = scope.ctes[i];
    query.defined.push_back(cte);
    if (!cte->outer_slots.empty() && cte->write == nullptr) query.correlated.push_back(cte);
  }
}

void QueryBinder::bind_with(const ast::WithClause* with, Scope& scope,
                            std::vector<std::shared_ptr<BoundCte>>& eager) {
  check_stack();
  if (with == nullptr) return;
  const Definitions definitions = definitions_of(*with, scope);
  // Each definition may own the one before it, and so destroy it recursively.
  std::size_t chain = definitions.size();
  for (const Scope* at = &scope; at != nullptr; at = at->parent) chain += at->ctes.size();
  check_stack_for(chain);
  scope.later_ctes.clear();
  for (const ast::CommonTableExpr* node : definitions) scope.later_ctes.push_back(node->ctename);
  for (const ast::CommonTableExpr* node : definitions) {
    const bool is_recursive = with->recursive && refers_to(*node->ctequery, node->ctename) &&
                              ast::is<ast::SelectStmt>(node->ctequery);
    if (!is_recursive && (node->search_clause != nullptr || node->cycle_clause != nullptr)) {
      throw SqlError{sqlstate::syntax_error, "WITH query is not recursive"}.at_position(
          node->location + 1);
    }
    auto cte = std::make_shared<BoundCte>();
    cte->name = node->ctename;
    // Slots that the query reads from outside are noted with it; references to it read them too.
    std::vector<Slot>* const before = std::exchange(scope.outer_slots, &cte->outer_slots);
    const auto* select = ast::try_as<ast::SelectStmt>(node->ctequery);
    if (select == nullptr) {
      bind_writing_cte(*cte, *node, scope);
      eager.push_back(cte);
      scope.ctes.push_back(cte);
    } else if (is_recursive) {
      scope.ctes.push_back(cte);
      bind_recursive(*cte, *node, scope);
    } else {
      cte->query = bind_select(*select, &scope);
      cte->columns = cte_columns(cte->query->targets, *node);
      scope.ctes.push_back(cte);
    }
    if (cte->write) {
      for (const OutputTarget& target : cte->write->returning) mark_used(target.slot);
    }
    cte->is_materialized = node->ctematerialized == ast::CTEMaterialize::ctematerializealways;
    cte->bound = true;
    scope.outer_slots = before;
    scope.later_ctes.erase(scope.later_ctes.begin());
  }
}

void Binder::bind_writing_cte(BoundCte& cte, const ast::CommonTableExpr& node, Scope& scope) {
  if (scope.parent != nullptr) {
    throw SqlError{sqlstate::feature_not_supported,
                   "WITH clause containing a data-modifying statement must be at the top level"}
        .at_position(node.location + 1);
  }
  switch (node.ctequery->node_kind) {
    case ast::NodeKind::insert_stmt:
      cte.write = bind_insert(ast::as<ast::InsertStmt>(node.ctequery), &scope);
      break;
    case ast::NodeKind::update_stmt:
      cte.write = bind_update(ast::as<ast::UpdateStmt>(node.ctequery), &scope);
      break;
    case ast::NodeKind::delete_stmt:
      cte.write = bind_delete(ast::as<ast::DeleteStmt>(node.ctequery), &scope);
      break;
    default:
      // The grammar has no other statement there.
      cte.write = bind_merge(ast::as<ast::MergeStmt>(node.ctequery), &scope);
  }
  cte.columns = cte_columns(cte.write->returning, node);
}

/// Binds first UNION [ALL] second, in which the second part may read the rows of the previous
/// round.
void QueryBinder::bind_recursive(BoundCte& cte, const ast::CommonTableExpr& node, Scope& scope) {
  const auto& select = ast::as<ast::SelectStmt>(node.ctequery);
  if (select.op != ast::SetOperation::union_) {
    throw sql_error(kInvalidRecursion,
                    "recursive query \"{}\" does not have the form non-recursive-term UNION [ALL] "
                    "recursive-term",
                    cte.name)
        .at_position(node.location + 1);
  }
  refuse_recursive_clauses(select, node.location);
  cte.round_slot = new_slot();
  // The UNION's own WITH queries are visible in its two parts only.
  Scope parts;
  parts.parent = &scope;
  const std::string_view around = std::exchange(recursion_forbidden_, "within a subquery");
  cte.in_recursive_term = true;
  Query of_parts;
  bind_with(select.with_clause, parts, of_parts);
  cte.correlated = std::move(of_parts.correlated);
  cte.in_recursive_term = false;
  recursion_forbidden_ = around;
  cte.union_all = select.all;
  cte.query = bind_select(*select.larg, &parts);
  cte.columns = cte_columns(cte.query->targets, node);
  const ast::SelectStmt* second = select.rarg.raw();
  if (node.search_clause != nullptr || node.cycle_clause != nullptr) {
    if (notes_ != nullptr) unsupported("a printed SEARCH or CYCLE", node.location);
    second = add_made_columns(*this, cte, node, select, parts);
  }
  cte.in_recursive_term = true;
  recursion_forbidden_ = {};
  cte.recursive = bind_select(*second, &parts);
  recursion_forbidden_ = around;
  cte.in_recursive_term = false;
  if (cte.recursive->targets.size() != cte.query->targets.size()) {
    throw SqlError{sqlstate::syntax_error, "each UNION query must have the same number of columns"};
  }
  for (std::size_t i = 0; i < cte.columns.size(); ++i) {
    const OutputTarget& first = cte.columns[i];
    OutputTarget& target = cte.recursive->targets[i];
    mark_used(target.slot);
    const bool same = target.type == first.type;
    if (!same) {
      if (!target.expr) refuse_types(cte, i, format_type(target.type));
      const TypeId source = target.type;
      ExprPtr coerced = try_coerce(target.expr, first.type, kNoTypmod, Implicitness::implicit);
      if (coerced == nullptr) refuse_types(cte, i, format_type(source));
      target.expr = std::move(coerced);
      target.type = first.type;
      target.slot = new_slot();
      mark_used(target.slot);
    }
    if (first.typmod != kNoTypmod && (!same || target.typmod != first.typmod)) {
      refuse_types(cte, i, format_type(first.type));
    }
  }
}

}  // namespace swizzle::sql
