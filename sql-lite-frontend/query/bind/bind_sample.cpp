#include "sql-lite-frontend/query/bind/partition_target.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/sql_error.h"

/// TABLESAMPLE: becomes a query of the table's rows, of which the plan takes a part.
namespace swizzle::sql {
namespace {

constexpr SqlState kBadArgument{"2202H"};

TableSample::Method sample_method(const ast::RangeTableSample& node) {
  std::string name;
  for (const ast::Node* part : node.method) {
    if (!name.empty()) name += '.';
    name += ast::string_of(part);
  }
  if (name == "bernoulli" || name == "pg_catalog.bernoulli") return TableSample::Method::bernoulli;
  if (name == "system" || name == "pg_catalog.system") return TableSample::Method::system;
  throw sql_error(sqlstate::undefined_object, "tablesample method {} does not exist", name)
      .at_position(node.location + 1);
}

}  // namespace

/// Binds an argument of the sample, which cannot read other items of the FROM clause.
ExprPtr QueryBinder::bind_sample_argument(const ast::Node* node, TypeId type, std::string_view what,
                                          Scope& scope) {
  const std::size_t sets = scope.set_locations.size();
  ExprPtr expr = bind_xml_argument(node, scope, type, what);
  if (scope.set_locations.size() > sets) {
    throw sql_error(sqlstate::datatype_mismatch, "argument of {} must not return a set", what)
        .at_position(scope.set_locations.back() + 1);
  }
  return expr;
}

FromPtr QueryBinder::bind_table_sample(const ast::RangeTableSample& node, Scope& scope) {
  const auto& range = ast::as<ast::RangeVar>(node.relation);
  FromPtr rows = bind_range_var(range, scope);
  auto* shown = std::get_if<FromSubquery>(&rows->node);
  const bool is_secured = shown != nullptr && !shown->view_access && shown->query->is_barrier;
  auto* table = std::get_if<FromTable>(&rows->node);
  auto* computed = std::get_if<FromComputed>(&rows->node);
  if (!is_secured && table == nullptr && computed == nullptr) {
    throw SqlError{sqlstate::feature_not_supported,
                   "TABLESAMPLE clause can only be applied to tables and materialized views"}
        .at_position(range.location + 1);
  }
  auto sample = std::make_unique<TableSample>();
  sample->method = sample_method(node);
  if (node.args.size() != 1) {
    throw sql_error(kBadArgument, "tablesample method {} requires 1 argument, not {}",
                    ast::string_of(node.method[node.method.size() - 1]), node.args.size())
        .at_position(node.location + 1);
  }
  {
    const Unreachable hidden{scope, 0, scope.items.size()};
    const ClauseScope clause{scope, Clause::from_function};
    sample->percentage = bind_sample_argument(node.args[0], TypeId::float4, "TABLESAMPLE", scope);
    if (node.repeatable != nullptr) {
      sample->repeatable =
          bind_sample_argument(node.repeatable, TypeId::float8, "REPEATABLE", scope);
    }
  }
  if (!is_secured) {
    auto query = std::make_unique<Query>();
    std::string alias = table != nullptr ? table->alias : computed->alias;
    if (table != nullptr) {
      query->targets = row_targets(*table->table, alias, table->first_slot);
      if (table->partitions) query->targets.push_back(partition_target(*table));
      if (table->row_id_slot) query->targets.push_back(row_id_target(*table));
    } else {
      query->targets = row_targets(*computed->table, alias, computed->first_slot);
    }
    query->from.push_back(std::move(rows));
    rows = from_node(FromSubquery{std::move(query), std::move(alias)});
    shown = &std::get<FromSubquery>(rows->node);
  }
  add_slots_read(*sample->percentage, shown->query->outer_slots);
  if (sample->repeatable) add_slots_read(*sample->repeatable, shown->query->outer_slots);
  shown->query->sample = std::move(sample);
  return rows;
}

}  // namespace swizzle::sql
