#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/partition_bound.h"
#include "sql-lite-frontend/catalog/partition_map.h"
#include "sql-lite-frontend/definitions/indexes/index_classes.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/statement/names/partition_text.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// Parses the clauses PARTITION BY and FOR VALUES.
namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidDefinition{"42P17"};
using DatumKind = PartitionDatum::Kind;

PartitionStrategy strategy_of(ast::PartitionStrategy written) {
  if (written == ast::PartitionStrategy::list) return PartitionStrategy::list;
  return written == ast::PartitionStrategy::hash ? PartitionStrategy::hash
                                                 : PartitionStrategy::range;
}

void set_plain_column(const Relation& relation, std::string_view name, std::int32_t location,
                      PartitionColumn& part) {
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped || column.name != name) continue;
    if (column.generated) {
      throw SqlError{kInvalidDefinition, "cannot use generated column in partition key"}
          .with_detail(fmt::format("Column \"{}\" is a generated column.", column.name))
          .at_position(location + 1);
    }
    part.column = static_cast<std::int16_t>(i + 1);
    part.type = column.expression_type();
    return;
  }
  constexpr std::string_view kSystem[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
  if (std::ranges::find(kSystem, name) != std::end(kSystem)) {
    throw sql_error(kInvalidDefinition, "cannot use system column \"{}\" in partition key", name)
        .at_position(location + 1);
  }
  throw sql_error(sqlstate::undefined_column, "column \"{}\" named in partition key does not exist",
                  name)
      .at_position(location + 1);
}

void set_expression(StatementContext& session, const Relation& relation, const ast::Node* node,
                    PartitionColumn& part) {
  try {
    part.expression_sql =
        stored_expression(session, relation, node, Clause::partition_key, nullptr);
  } catch (SqlError& error) {
    // PostgreSQL's error has no position.
    error.fields().position = 0;
    throw;
  }
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr table = columns_alone(relation);
  const Slot first = binder.new_slots(relation.columns.size());
  const ExprPtr expr =
      binder.bind_table_expression(part.expression_sql, *table, first, Clause::partition_key);
  bool reads = false;
  walk(*expr, [&](Expr& one) {
    const auto* column = dynamic_cast<const SlotExpr*>(&one);
    if (column == nullptr || column->slot() < first) return;
    const std::size_t position = column->slot() - first;
    if (position >= relation.columns.size()) return;
    reads = true;
    if (!relation.columns[position].generated) return;
    throw SqlError{kInvalidDefinition, "cannot use generated column in partition key"}.with_detail(
        fmt::format("Column \"{}\" is a generated column.", relation.columns[position].name));
  });
  if (!reads) throw SqlError{kInvalidDefinition, "cannot use constant expression as partition key"};
  part.type = expr->type();
}

/// True if PostgreSQL's hash of the type is implemented, so that rows are in the partitions in
/// which PostgreSQL puts them. Other types are refused with 0A000.
bool has_hash(TypeId type) {
  if (hash_function(type) == nullptr) return false;
  try {
    static_cast<void>(hash_of_values(type));
  } catch (const SqlError& error) {
    if (error.state() != sqlstate::undefined_function) throw;
    return false;
  }
  return true;
}

void require_class(PartitionStrategy strategy, const PartitionColumn& part) {
  const bool hashes = strategy == PartitionStrategy::hash;
  const std::string_view method = hashes ? "hash" : "btree";
  const TypeId type = without_collation(part.type);
  const bool has = hashes ? has_hash(part.type) : is_indexable(type);
  if (!has) {
    throw sql_error(sqlstate::undefined_object,
                    "data type {} has no default operator class for access method \"{}\"",
                    format_type(type), method)
        .with_hint(fmt::format("You must specify a {} operator class or define a default {} "
                               "operator class for the data type.",
                               method, method));
  }
}

}  // namespace

PartitionKey read_partition_key(StatementContext& session, const Relation& relation,
                                const ast::PartitionSpec& spec) {
  PartitionKey key;
  key.strategy = strategy_of(spec.strategy);
  if (key.strategy == PartitionStrategy::list && spec.part_params.size() > 1) {
    throw SqlError{kInvalidDefinition,
                   "cannot use \"list\" partition strategy with more than one column"};
  }
  constexpr std::size_t kMost = 32;
  if (spec.part_params.size() > kMost) {
    throw_error(sqlstate::too_many_columns, "cannot partition using more than {} columns", kMost);
  }
  for (const ast::Node* node : spec.part_params) {
    const auto& element = ast::as<ast::PartitionElem>(node);
    PartitionColumn part;
    const auto* column = ast::try_as<ast::ColumnRef>(element.expr);
    if (element.expr == nullptr) {
      set_plain_column(relation, element.name, element.location, part);
    } else if (column != nullptr && column->fields.size() == 1 &&
               ast::is<ast::String>(column->fields[0])) {
      set_plain_column(relation, ast::string_of(column->fields[0]), element.location, part);
    } else {
      set_expression(session, relation, element.expr, part);
    }
    require_class(key.strategy, part);
    part.collation = collation_of_key(session, element.collation, part.type);
    part.type = without_collation(part.type);
    if (!element.opclass.empty()) {
      part.operator_class = ast::string_of(element.opclass.back());
      const bool is_hash = key.strategy == PartitionStrategy::hash;
      if (!is_hash) require_btree_class(part.operator_class, part.type);
      if (is_hash && !part.operator_class.ends_with("_ops")) {
        throw_error(sqlstate::undefined_object,
                    "operator class \"{}\" does not exist for access method \"{}\"",
                    part.operator_class,
                    key.strategy == PartitionStrategy::hash ? "hash" : "btree");
      }
    }
    key.columns.push_back(std::move(part));
  }
  return key;
}

namespace {

/// Parses the values of one bound.
class BoundReader {
 public:
  BoundReader(StatementContext& session, const Table& parent)
      : parent_(parent),
        key_(*parent.relation.partition_key),
        scratch_(session.new_scratch()),
        binder_(session.names, scratch_->arena) {
    scratch_->execution.transaction = session.transaction.get();
  }

  PartitionDatum value(const ast::Node* node, std::size_t column) {
    const PartitionColumn& part = key_.columns[column];
    Scope scope;
    scope.clause = Clause::partition_bound;
    ExprPtr expr = binder_.bind_expression(node, scope);
    const std::int32_t location = expr->location();
    ExprPtr cast =
        binder_.try_coerce(expr, part.type, typmod_of(part), Binder::Implicitness::assignment);
    if (!cast) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "specified value cannot be cast to type {} for column \"{}\"",
                      format_type(part.type), name_of(part))
          .at_position(location + 1);
    }
    Execution& execution = scratch_->execution;
    execution.slots.resize(binder_.slot_count());
    const Value value = cast->eval(execution);
    PartitionDatum datum;
    if (value.is_null()) {
      datum.kind = DatumKind::null;
    } else {
      append_flat(datum.flat, shape_of(part.type), value);
    }
    return datum;
  }

  std::vector<PartitionDatum> edge(ast::NodeList values, std::string_view word) {
    if (values.size() != key_.columns.size()) {
      throw_error(sqlstate::invalid_table_definition,
                  "{} must specify exactly one value per partitioning column", word);
    }
    std::vector<PartitionDatum> datums;
    for (std::size_t i = 0; i < values.size(); ++i) {
      PartitionDatum datum;
      datum.kind = infinite(values[i]);
      if (datum.kind == DatumKind::value) datum = value(values[i], i);
      if (datum.kind == DatumKind::null) {
        throw SqlError{kInvalidDefinition, "cannot specify NULL in range bound"};
      }
      require_nothing_else(datums, datum, values[i]);
      datums.push_back(std::move(datum));
    }
    return datums;
  }

 private:
  [[nodiscard]] std::int32_t typmod_of(const PartitionColumn& part) const {
    if (part.column == 0) return kNoTypmod;
    return parent_.relation.columns[static_cast<std::size_t>(part.column - 1)].typmod;
  }
  [[nodiscard]] std::string name_of(const PartitionColumn& part) const {
    if (part.column == 0) return part.expression_sql;
    return parent_.relation.columns[static_cast<std::size_t>(part.column - 1)].name;
  }
  static DatumKind infinite(const ast::Node* node) {
    if (const auto* datum = ast::try_as<ast::PartitionRangeDatum>(node)) {
      if (datum->value != nullptr) return DatumKind::value;
      return datum->kind == ast::PartitionRangeDatumKind::minvalue ? DatumKind::minimum
                                                                   : DatumKind::maximum;
    }
    const auto* column = ast::try_as<ast::ColumnRef>(node);
    if (column == nullptr || column->fields.size() != 1 ||
        !ast::is<ast::String>(column->fields[0])) {
      return DatumKind::value;
    }
    const std::string_view name = ast::string_of(column->fields[0]);
    if (name == "minvalue") return DatumKind::minimum;
    return name == "maxvalue" ? DatumKind::maximum : DatumKind::value;
  }
  static void require_nothing_else(std::span<const PartitionDatum> before,
                                   const PartitionDatum& datum, const ast::Node* node) {
    if (before.empty() || before.back().kind == DatumKind::value ||
        before.back().kind == datum.kind) {
      return;
    }
    const auto* column = ast::try_as<ast::ColumnRef>(node);
    const auto* constant = ast::try_as<ast::A_Const>(node);
    const std::int32_t location =
        column != nullptr ? column->location : (constant != nullptr ? constant->location : -1);
    const std::string_view word =
        before.back().kind == DatumKind::minimum ? "MINVALUE" : "MAXVALUE";
    throw sql_error(sqlstate::datatype_mismatch, "every bound following {} must also be {}", word,
                    word)
        .at_position(location + 1);
  }

  const Table& parent_;
  const PartitionKey& key_;
  std::unique_ptr<Scratch> scratch_;
  Binder binder_;
};

[[noreturn]] void refuse_strategy(std::string_view kind, std::int32_t location) {
  throw sql_error(sqlstate::invalid_table_definition,
                  "invalid bound specification for a {} partition", kind)
      .at_position(location + 1);
}

void read_hash(const ast::PartitionBoundSpec& spec, PartitionBound& bound) {
  const auto refuse = [](const char* what) {
    throw SqlError{sqlstate::invalid_table_definition, what};
  };
  if (spec.modulus <= 0) {
    refuse("modulus for hash partition must be an integer value greater than zero");
  }
  if (spec.remainder < 0) {
    refuse("remainder for hash partition must be an integer value greater than or equal to zero");
  }
  if (spec.remainder >= spec.modulus) {
    refuse("remainder for hash partition must be less than modulus");
  }
  bound.modulus = spec.modulus;
  bound.remainder = spec.remainder;
}

}  // namespace

PartitionBound read_partition_bound(StatementContext& session, const Table& parent,
                                    const ast::PartitionBoundSpec& spec) {
  const PartitionStrategy strategy = parent.relation.partition_key->strategy;
  PartitionBound bound;
  bound.is_default = spec.is_default;
  if (spec.is_default) {
    if (strategy == PartitionStrategy::hash) {
      throw SqlError{sqlstate::invalid_table_definition,
                     "a hash-partitioned table may not have a default partition"};
    }
    return bound;
  }
  const std::string_view given = spec.strategy;
  BoundReader reader{session, parent};
  switch (strategy) {
    case PartitionStrategy::hash:
      if (given != "h") refuse_strategy("hash", spec.location);
      read_hash(spec, bound);
      break;
    case PartitionStrategy::list:
      if (given != "l") refuse_strategy("list", spec.location);
      for (const ast::Node* node : spec.listdatums) {
        PartitionDatum datum = reader.value(node, 0);
        if (std::ranges::find(bound.values, datum) == bound.values.end()) {
          bound.values.push_back(std::move(datum));
        }
      }
      break;
    case PartitionStrategy::range:
      if (given != "r") refuse_strategy("range", spec.location);
      bound.from = reader.edge(spec.lowerdatums, "FROM");
      bound.to = reader.edge(spec.upperdatums, "TO");
      break;
  }
  return bound;
}

namespace {

std::vector<TypeId> types_of(const PartitionKey& key) {
  std::vector<TypeId> types;
  for (const PartitionColumn& column : key.columns) types.push_back(key_type_of(column));
  return types;
}

std::int32_t location_of(const ast::Node* node) {
  if (const auto* constant = ast::try_as<ast::A_Const>(node)) return constant->location;
  if (const auto* column = ast::try_as<ast::ColumnRef>(node)) return column->location;
  if (const auto* cast = ast::try_as<ast::TypeCast>(node)) return location_of(cast->arg);
  return -1;
}

/// Returns the position of the value that decides the comparison of two edges.
std::int32_t location_of(const ast::NodeList& datums, const PartitionKey& key,
                         std::span<const PartitionDatum> edge,
                         std::span<const PartitionDatum> other) {
  std::size_t at = 0;
  const std::vector<TypeId> types = types_of(key);
  while (at + 1 < edge.size() &&
         PartitionMap::compare_edges(types, edge.first(at + 1), other.first(at + 1)) == 0) {
    ++at;
  }
  return location_of(datums[at]);
}

/// Refuses a modulus that neither divides the others nor is divided by them: hashes would have no
/// partition, or two.
void require_factors(const PartitionMap& map, const std::vector<TablePtr>& partitions,
                     const PartitionBound& bound) {
  const auto misfit = map.misfit(bound.modulus);
  if (!misfit) return;
  const std::int32_t other = partitions[*misfit]->relation.partition_bound->modulus;
  const std::string_view relation = other < bound.modulus ? "divisible by" : "a factor of";
  throw SqlError{kInvalidDefinition,
                 "every hash partition modulus must be a factor of the next larger modulus"}
      .with_detail(fmt::format("The new modulus {} is not {} {}, the modulus of existing partition "
                               "\"{}\".",
                               bound.modulus, relation, other, partitions[*misfit]->relation.name));
}

}  // namespace

void require_free_bound(StatementContext& session, const Table& parent, std::string_view name,
                        const PartitionBound& bound, const ast::PartitionBoundSpec& spec) {
  const PartitionKey& key = *parent.relation.partition_key;
  std::vector<TablePtr> partitions;
  std::vector<const PartitionBound*> bounds;
  for (const Oid oid : parent.relation.partitions) {
    partitions.push_back(session.names.table(oid));
    bounds.push_back(&bound_within(parent.relation.oid, oid, partitions.back()));
  }
  const PartitionMap map{key, std::move(bounds)};
  if (key.strategy == PartitionStrategy::range && !bound.is_default &&
      PartitionMap::compare_edges(types_of(key), bound.from, bound.to) >= 0) {
    throw sql_error(kInvalidDefinition, "empty range bound specified for partition \"{}\"", name)
        .with_detail(fmt::format(
            "Specified lower bound {} is greater than or equal to upper bound {}.",
            shown_range_edge(session, key, bound.from), shown_range_edge(session, key, bound.to)))
        .at_position(location_of(spec.lowerdatums, key, bound.from, bound.to) + 1);
  }
  if (key.strategy == PartitionStrategy::hash) require_factors(map, partitions, bound);
  const auto other = map.overlapping(bound);
  if (!other) return;
  const std::string& other_name = partitions[*other]->relation.name;
  if (bound.is_default) {
    throw sql_error(kInvalidDefinition,
                    "partition \"{}\" conflicts with existing default partition \"{}\"", name,
                    other_name)
        .at_position(spec.location + 1);
  }
  std::int32_t location = spec.location;
  if (!spec.listdatums.empty()) {
    for (std::size_t i = 0; i < spec.listdatums.size() && i < bound.values.size(); ++i) {
      PartitionBound one;
      one.values = {bound.values[i]};
      if (map.overlapping(one) != other) continue;
      location = location_of(spec.listdatums[i]);
      break;
    }
  }
  if (!spec.lowerdatums.empty()) {
    const PartitionBound& taken = *partitions[*other]->relation.partition_bound;
    const bool begins_inside =
        PartitionMap::compare_edges(types_of(key), bound.from, taken.from) >= 0;
    location = begins_inside ? location_of(spec.lowerdatums, key, bound.from, taken.from)
                             : location_of(spec.upperdatums, key, bound.to, taken.from);
  }
  throw sql_error(kInvalidDefinition, "partition \"{}\" would overlap partition \"{}\"", name,
                  other_name)
      .at_position(location + 1);
}

}  // namespace swizzle::sql
