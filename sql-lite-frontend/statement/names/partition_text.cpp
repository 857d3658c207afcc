#include "sql-lite-frontend/statement/names/partition_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/partition_bound.h"
#include "sql-lite-frontend/catalog/partition_map.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using DatumKind = PartitionDatum::Kind;

/// "lower(b)", but "((a + 1))".
std::string shown_key_expression(StatementContext& session, const Table& table,
                                 const std::string& sql) {
  std::string text = printed_expression(session, table, sql);
  const bool is_call = text.ends_with(')') && !text.starts_with('(');
  return is_call ? text : "(" + text + ")";
}

std::string name_of_column(const Table& table, std::int16_t number) {
  return table.relation.columns[static_cast<std::size_t>(number - 1)].name;
}

std::string text_of(StatementContext& session, TypeId type, const PartitionDatum& datum) {
  Arena arena;
  FunctionContext functions{arena, session.session_context, {}};
  return to_text(functions, type, read_flat(shape_of(type), as_bytes(datum.flat)));
}

/// Returns a constant as PostgreSQL prints it if its type is known from the context.
std::string shown_datum(StatementContext& session, TypeId type, const PartitionDatum& datum) {
  switch (datum.kind) {
    case DatumKind::minimum:
      return "MINVALUE";
    case DatumKind::maximum:
      return "MAXVALUE";
    case DatumKind::null:
      return "NULL";
    case DatumKind::value:
      break;
  }
  const TypeId plain = base_type(type);
  std::string text = text_of(session, type, datum);
  if (plain == TypeId::bool_) return text == "t" ? "true" : "false";
  const bool is_digit = !text.empty() && text[0] >= '0' && text[0] <= '9';
  const bool is_bare =
      (plain == TypeId::int4 && is_digit) ||
      (plain == TypeId::numeric && is_digit && text.find_first_of("eE.") != std::string::npos);
  return is_bare ? text : quote_literal(text);
}

/// The same as an expression that has the type.
std::string typed_datum(StatementContext& session, const PartitionColumn& column,
                        const PartitionDatum& datum) {
  return fmt::format("{}::{}", quote_literal(text_of(session, column.type, datum)),
                     stored_cast_target(base_type(column.type)));
}

/// Conditions over the columns of `table`, which is a partition of `parent` somewhere: as SQL that
/// is bound and printed again.
class ConstraintText {
 public:
  ConstraintText(StatementContext& session, const Table& parent)
      : session_(session), key_(*parent.relation.partition_key) {
    for (const PartitionColumn& column : key_.columns) {
      if (column.column != 0) {
        names_.push_back(quote_identifier(name_of_column(parent, column.column)));
      } else if (key_.strategy == PartitionStrategy::hash) {
        // A call needs no parentheses, so print it.
        names_.push_back(printed_expression(session, parent, column.expression_sql));
      } else {
        names_.push_back("(" + column.expression_sql + ")");
      }
    }
  }

  /// Returns the conditions, all of which must hold.
  std::vector<std::string> of(const PartitionBound& bound, Oid parent) const {
    switch (key_.strategy) {
      case PartitionStrategy::list:
        return of_list(bound.values);
      case PartitionStrategy::range:
        return of_range(bound);
      case PartitionStrategy::hash:
        break;
    }
    std::string call = fmt::format("satisfies_hash_partition('{}'::oid, {}, {}", parent,
                                   bound.modulus, bound.remainder);
    for (const std::string& name : names_) call += ", " + name;
    return {call + ")"};
  }

  /// Returns the conditions of a range's bounds beyond those for all partitions.
  std::string edges(const PartitionBound& bound) const {
    std::vector<std::string> all = of_range(bound);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(names_.size()));
    if (all.empty()) return "true";
    return all.size() == 1 ? all[0] : fmt::format("(({}))", fmt::join(all, ") AND ("));
  }

  std::string none_is_null() const {
    return fmt::format("{} IS NOT NULL", fmt::join(names_, " IS NOT NULL AND "));
  }

  std::vector<std::string> of_list(std::span<const PartitionDatum> values) const {
    bool has_null = false;
    std::vector<std::string> constants;
    for (const PartitionDatum& datum : values) {
      if (datum.kind == DatumKind::null) {
        has_null = true;
      } else {
        constants.push_back(typed_datum(session_, key_.columns[0], datum));
      }
    }
    std::string among;
    if (constants.size() == 1) {
      among = fmt::format("{} = {}", names_[0], constants[0]);
    } else if (!constants.empty()) {
      among = fmt::format("{} = ANY (ARRAY[{}])", names_[0], fmt::join(constants, ", "));
    }
    if (constants.empty()) return {names_[0] + " IS NULL"};
    if (has_null) return {fmt::format("{} IS NULL OR {}", names_[0], among)};
    return {names_[0] + " IS NOT NULL", among};
  }

 private:
  std::vector<std::string> of_range(const PartitionBound& bound) const {
    std::vector<std::string> all;
    for (const std::string& name : names_) all.push_back(name + " IS NOT NULL");
    // Columns in which both edges begin with the same value are equal.
    std::size_t same = 0;
    while (same < names_.size() && bound.from[same].kind == DatumKind::value &&
           bound.from[same] == bound.to[same]) {
      all.push_back(comparison(same, "=", bound.from[same]));
      ++same;
    }
    add_edge(all, bound.from, same, ">", ">=");
    add_edge(all, bound.to, same, "<", "<");
    return all;
  }
  std::string comparison(std::size_t column, std::string_view op,
                         const PartitionDatum& datum) const {
    return fmt::format("{} {} {}", names_[column], op,
                       typed_datum(session_, key_.columns[column], datum));
  }
  /// Adds (a > 1) OR (a = 1 AND b >= 2): only the last column of the edge may be equal.
  void add_edge(std::vector<std::string>& all, std::span<const PartitionDatum> edge,
                std::size_t first, std::string_view beyond, std::string_view at_last) const {
    std::vector<std::string> branches;
    std::string equal;
    for (std::size_t i = first; i < edge.size() && edge[i].kind == DatumKind::value; ++i) {
      const bool is_last = i + 1 == edge.size();
      const DatumKind next = is_last ? DatumKind::value : edge[i + 1].kind;
      const bool ends = is_last || next != DatumKind::value;
      // The edge's next part takes all rows with this value, or none of them.
      std::string_view op = beyond;
      if (is_last) op = at_last;
      if (!is_last && next == DatumKind::minimum && beyond == ">") op = ">=";
      if (!is_last && next == DatumKind::maximum && beyond == "<") op = "<=";
      const std::string own = comparison(i, op, edge[i]);
      branches.push_back(equal.empty() ? own : "(" + equal + " AND " + own + ")");
      if (ends) break;
      equal += (equal.empty() ? "" : " AND ") + comparison(i, "=", edge[i]);
    }
    if (branches.empty()) return;
    all.push_back(branches.size() == 1 ? branches[0]
                                       : fmt::format("({})", fmt::join(branches, " OR ")));
  }

  StatementContext& session_;
  const PartitionKey& key_;
  std::vector<std::string> names_;
};

/// Returns the condition of a default partition: none of the others' conditions holds.
std::string none_of_others(StatementContext& session, const Table& parent, Oid self) {
  const ConstraintText text{session, parent};
  const bool is_list = parent.relation.partition_key->strategy == PartitionStrategy::list;
  std::vector<PartitionDatum> values;
  bool has_null = false;
  std::vector<std::string> ranges;
  for (const Oid oid : parent.relation.partitions) {
    const TablePtr other = oid == self ? nullptr : session.names.table(oid);
    // Nothing is locked: it may have been detached since the parent was read.
    if (!other || other->relation.partition_of != parent.relation.oid) continue;
    const PartitionBound& bound = bound_within(parent.relation.oid, oid, other);
    if (is_list) {
      values.insert(values.end(), bound.values.begin(), bound.values.end());
    } else {
      ranges.push_back(text.edges(bound));
    }
  }
  if (is_list) {
    if (values.empty()) return {};
    const TypeId type = key_type_of(parent.relation.partition_key->columns[0]);
    std::erase_if(values, [&](const PartitionDatum& datum) {
      has_null = has_null || datum.kind == DatumKind::null;
      return datum.kind == DatumKind::null;
    });
    std::ranges::sort(values, [&](const PartitionDatum& left, const PartitionDatum& right) {
      return PartitionMap::compare_edges({&type, 1}, {&left, 1}, {&right, 1}) < 0;
    });
    if (has_null) values.push_back({DatumKind::null, {}});
    return fmt::format("NOT ({})", fmt::join(text.of_list(values), " AND "));
  }
  if (ranges.empty()) return {};
  return fmt::format("NOT ({} AND ({}))", text.none_is_null(), fmt::join(ranges, " OR "));
}

}  // namespace

std::string shown_partition_key(StatementContext& session, const Table& table) {
  const PartitionKey& key = *table.relation.partition_key;
  std::string text = "HASH (";
  if (key.strategy == PartitionStrategy::list) text = "LIST (";
  if (key.strategy == PartitionStrategy::range) text = "RANGE (";
  bool is_first = true;
  for (const PartitionColumn& column : key.columns) {
    if (!is_first) text += ", ";
    is_first = false;
    text += column.column != 0 ? quote_identifier(name_of_column(table, column.column))
                               : shown_key_expression(session, table, column.expression_sql);
    const bool has_own = column.collation != kNoOid && !follows_database(column.type) &&
                         column.collation != default_collation(column.type);
    const Oid of_column =
        column.column == 0
            ? kNoOid
            : table.relation.columns[static_cast<std::size_t>(column.column - 1)].collation;
    if (has_own && column.collation != of_column) {
      text +=
          " COLLATE " + session.names.name_of(TypeId::regcollation, shown_number(column.collation))
                            .value_or(std::to_string(column.collation));
    }
    if (column.operator_class.ends_with("_pattern_ops")) text += " " + column.operator_class;
  }
  return text + ")";
}

std::string shown_range_edge(StatementContext& session, const PartitionKey& key,
                             std::span<const PartitionDatum> edge) {
  std::string text = "(";
  for (std::size_t i = 0; i < edge.size(); ++i) {
    if (i > 0) text += ", ";
    text += shown_datum(session, key.columns[i].type, edge[i]);
  }
  return text + ")";
}

std::string shown_partition_bound(StatementContext& session, const Table& parent,
                                  const PartitionBound& bound) {
  if (bound.is_default) return "DEFAULT";
  const PartitionKey& key = *parent.relation.partition_key;
  switch (key.strategy) {
    case PartitionStrategy::hash:
      return fmt::format("FOR VALUES WITH (modulus {}, remainder {})", bound.modulus,
                         bound.remainder);
    case PartitionStrategy::range:
      return fmt::format("FOR VALUES FROM {} TO {}", shown_range_edge(session, key, bound.from),
                         shown_range_edge(session, key, bound.to));
    case PartitionStrategy::list:
      break;
  }
  std::string text;
  for (const PartitionDatum& datum : bound.values) {
    if (!text.empty()) text += ", ";
    text += shown_datum(session, key.columns[0].type, datum);
  }
  return fmt::format("FOR VALUES IN ({})", text);
}

std::string shown_partition_constraint(StatementContext& session, const Table& partition) {
  std::vector<std::string> all;
  TablePtr child = session.names.table(partition.relation.oid);
  while (child && child->relation.is_partition()) {
    const TablePtr parent = session.names.table(child->relation.partition_of);
    if (!parent) break;
    const PartitionBound& bound = bound_within(parent->relation.oid, child->relation.oid, child);
    std::vector<std::string> own;
    if (bound.is_default) {
      std::string text = none_of_others(session, *parent, child->relation.oid);
      if (!text.empty()) own.push_back(std::move(text));
    } else {
      own = ConstraintText{session, *parent}.of(bound, parent->relation.oid);
    }
    all.insert(all.begin(), std::make_move_iterator(own.begin()),
               std::make_move_iterator(own.end()));
    child = parent;
  }
  if (all.empty()) return {};
  std::vector<std::string> shown;
  for (const std::string& one : all) {
    if (one.starts_with("satisfies_hash_partition")) {
      shown.push_back(one);
      continue;
    }
    shown.push_back(printed_expression(session, partition, "(" + one + ")"));
  }
  if (shown.size() == 1) return shown[0];
  return fmt::format("({})", fmt::join(shown, " AND "));
}

}  // namespace swizzle::sql
