#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/indexes/beside_writers.h"
#include "sql-lite-frontend/definitions/indexes/index_classes.h"
#include "sql-lite-frontend/definitions/indexes/inverted_index.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/definitions/tables/virtual_columns.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// CREATE INDEX.
namespace swizzle::sql {
namespace {

/// Checks a column of an index USING gist, which finds ranges by place.
void require_range_index(StatementContext& session, TypeId type, const ast::IndexElem& element) {
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "access method \"gist\" does not support {}",
                what);
  };
  if (range_subtype(base_type(type)) == TypeId::none) {
    require_gist_class(session, type);
    throw_error(sqlstate::feature_not_supported,
                "an index USING gist over type {} is not supported", format_type(type));
  }
  if (element.ordering != ast::SortByDir::default_) refuse("ASC/DESC options");
  if (element.nulls_ordering != ast::SortByNulls::default_) refuse("NULLS FIRST/LAST options");
  const std::string_view name =
      element.opclass.empty() ? "range_ops" : ast::string_of(element.opclass.back());
  if (name == "range_ops") return;
  throw_error(sqlstate::undefined_object,
              "operator class \"{}\" does not exist for access method \"gist\"", name);
}

/// COLLATE around the indexed expression is the index's own: the rest is a column, or an
/// expression.
struct CollatedKey {
  std::string_view name;
  const ast::Node* expr = nullptr;  ///< null: a column
  ast::NodeList collation;
};
CollatedKey collated_key(const ast::IndexElem& element) {
  CollatedKey key{element.name, element.expr, element.collation};
  while (key.expr != nullptr) {
    const auto* clause = ast::try_as<ast::CollateClause>(key.expr);
    if (clause == nullptr) break;
    if (key.collation.empty()) key.collation = clause->collname;
    key.expr = clause->arg;
    const auto* column = ast::try_as<ast::ColumnRef>(key.expr);
    if (column == nullptr || column->fields.size() != 1 ||
        !ast::is<ast::String>(column->fields[0])) {
      continue;
    }
    key.name = ast::string_of(column->fields[0]);
    key.expr = nullptr;
  }
  return key;
}

/// PostgreSQL lists composite types among the relations.
void refuse_composite(StatementContext& session, const ast::RangeVar& name) {
  const TypePtr type = find_type_named(session, TypeName{name.schemaname, name.relname});
  if (!type || !is_composite(type->id())) return;
  throw sql_error(sqlstate::wrong_object_type, "cannot open relation \"{}\"", type->name)
      .with_detail("This operation is not supported for composite types.");
}

/// Refuses properties that a hash index cannot have; it has all others of a tree.
void as_hash(StatementContext& session, const ast::IndexStmt& statement, ResultSink& sink) {
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "access method \"hash\" does not support {}",
                what);
  };
  if (statement.unique) refuse("unique indexes");
  if (!statement.index_including_params.empty()) refuse("included columns");
  if (statement.index_params.size() > 1) refuse("multicolumn indexes");
  const auto& element = ast::as<ast::IndexElem>(statement.index_params[0]);
  if (element.ordering != ast::SortByDir::default_) refuse("ASC/DESC options");
  if (element.nulls_ordering != ast::SortByNulls::default_) refuse("NULLS FIRST/LAST options");
  session.notice(sink, Severity::notice, SqlState{"00000"},
                 "access method \"hash\" is not supported, the index is a \"btree\"");
}

/// Builds the index, which the statement has defined, and makes it valid.
void create_beside_writers(StatementContext& session, IndexPlace place) {
  const TablePtr table = build_beside_writers(session, place, BesideWriters::create);
  note_complete(session, *table, place.index);
  Relation relation = table->relation;
  std::ranges::find(relation.indexes, place.index, &Index::oid)->state = IndexState::valid;
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

}  // namespace

void create_index(StatementContext& session, const ast::IndexStmt& statement, ResultSink& sink) {
  const bool is_inverted = statement.access_method == "gin";
  const bool is_of_ranges = statement.access_method == "gist";
  if (statement.access_method == "hash") {
    as_hash(session, statement, sink);
  } else if (is_inverted) {
    check_inverted_index(statement);
  } else if (is_of_ranges) {
    if (statement.unique) {
      throw SqlError{sqlstate::feature_not_supported,
                     "access method \"gist\" does not support unique indexes"};
    }
    if (statement.index_params.size() > 1) {
      throw SqlError{sqlstate::feature_not_supported,
                     "indexes of several columns USING gist are not supported"};
    }
  } else if (!statement.access_method.empty() && statement.access_method != "btree") {
    constexpr std::string_view kOthers[] = {"spgist", "brin"};
    const bool known = std::ranges::find(kOthers, statement.access_method) != std::end(kOthers);
    throw_error(known ? sqlstate::feature_not_supported : sqlstate::undefined_object,
                "access method \"{}\" {}", statement.access_method,
                known ? "is not supported" : "does not exist");
  }
  require_known_tablespace(statement.table_space);
  Arena arena;
  Binder binder{session.names, arena};
  if (!binder.find_table(*statement.relation)) refuse_composite(session, *statement.relation);
  TablePtr table = binder.require_relation(*statement.relation);
  if (!keeps_rows(table->relation.kind) && !table->relation.is_partitioned()) {
    throw sql_error(sqlstate::wrong_object_type, "cannot create index on relation \"{}\"",
                    table->relation.name)
        .with_detail(
            fmt::format("This operation is not supported for {}.", plural_of({table, nullptr})));
  }
  if (statement.concurrent && table->relation.is_partitioned()) {
    throw_error(sqlstate::feature_not_supported,
                "cannot create index on partitioned table \"{}\" concurrently",
                table->relation.name);
  }
  // A temporary table has no other users.
  const bool is_beside_writers =
      statement.concurrent && table->relation.persistence != Persistence::temporary;
  table =
      session.rights.lock_own(table, is_beside_writers ? lock::RelationMode::share_update_exclusive
                                                       : lock::RelationMode::share);
  require_unused(session, *table, "CREATE INDEX");
  refuse_more_index_columns(statement.index_params.size() +
                            statement.index_including_params.size());
  Relation relation = table->relation;
  Index index;
  index.oid = session.catalog.allocate_oid();
  if (is_inverted) index.method = IndexMethod::inverted;
  if (is_of_ranges) index.method = IndexMethod::ranges;
  index.unique = statement.unique;
  index.nulls_not_distinct = statement.nulls_not_distinct;
  std::vector<std::string> names;
  for (const ast::Node* node : statement.index_params) {
    const auto& element = ast::as<ast::IndexElem>(node);
    IndexColumn column;
    std::string name{element.name};
    const CollatedKey key = collated_key(element);
    if (key.expr == nullptr) {
      const auto position = table->column_position(key.name);
      if (!position) {
        throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", key.name);
      }
      column.column = static_cast<std::int16_t>(*position + 1);
      refuse_virtual_key(relation, {&column.column, 1}, "indexes");
      column.type = relation.columns[*position].expression_type();
    } else {
      column.expression_sql =
          stored_expression(session, relation, key.expr, Clause::index_expression, nullptr);
      const Slot first = binder.new_slots(relation.columns.size());
      const ExprPtr expr = binder.bind_table_expression(column.expression_sql, *table, first,
                                                        Clause::index_expression);
      refuse_virtual_read(relation, *expr, first);
      column.type = expr->type();
      name = binder.target_name_of(element.expr);
      if (name == "?column?") name = "expr";
    }
    if (name.empty()) name = key.name;
    if (is_inverted) {
      column.collation = collation_of_key(session, key.collation, column.type);
      column.type = without_collation(column.type);
      column.operator_class =
          element_class_name(session, column.type,
                             element.opclass.empty() ? "" : ast::string_of(element.opclass.back()));
      check_inverted_column(element);
      index.columns.push_back(std::move(column));
      names.push_back(name);
      continue;
    }
    if (is_of_ranges) require_range_index(session, column.type, element);
    if (!is_indexable(column.type)) {
      throw sql_error(sqlstate::undefined_object,
                      "data type {} has no default operator class for access method \"btree\"",
                      format_type(column.type))
          .with_hint(
              "You must specify an operator class for the index or define a default "
              "operator class for the data type.");
    }
    column.collation = collation_of_key(session, key.collation, column.type);
    column.type = without_collation(column.type);
    if (!element.opclass.empty() && !is_of_ranges) {
      column.operator_class = ast::string_of(element.opclass.back());
      // Pattern classes order by bytes, whatever the collation (IndexColumn::key_type).
      require_btree_class(column.operator_class, column.type);
      refuse_pattern_class(column);
    }
    refuse_class_options(element, column.type);
    if (element.ordering == ast::SortByDir::desc) column.direction = SortDirection::descending;
    column.nulls =
        column.direction == SortDirection::descending ? NullsOrder::first : NullsOrder::last;
    if (element.nulls_ordering == ast::SortByNulls::first) column.nulls = NullsOrder::first;
    if (element.nulls_ordering == ast::SortByNulls::last) column.nulls = NullsOrder::last;
    index.columns.push_back(std::move(column));
    names.push_back(name);
  }
  check_index_options(index.method, statement.options);
  for (const ast::Node* node : statement.index_including_params) {
    const auto& element = ast::as<ast::IndexElem>(node);
    const auto position = table->column_position(element.name);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", element.name);
    }
    index.included.push_back(static_cast<std::int16_t>(*position + 1));
    names.emplace_back(element.name);
  }
  refuse_virtual_key(relation, index.included, "indexes");
  if (statement.where_clause != nullptr) {
    index.predicate_sql = stored_expression(session, relation, statement.where_clause,
                                            Clause::index_predicate, nullptr);
    const Slot first = binder.new_slots(relation.columns.size());
    const ExprPtr predicate =
        binder.bind_table_expression(index.predicate_sql, *table, first, Clause::index_predicate);
    refuse_virtual_read(relation, *predicate, first);
  }
  require_partition_key_in(relation, index);
  index.name =
      statement.idxname.empty()
          ? free_name(session, relation, object_name(relation.name, joined_once(names), "idx"))
          : std::string{statement.idxname};
  if (session.catalog.table(relation.schema, index.name) != nullptr ||
      session.catalog.table_of_index(relation.schema, index.name) != nullptr) {
    if (!statement.if_not_exists) {
      throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", index.name);
    }
    session.notice(sink, Severity::notice, sqlstate::duplicate_table,
                   fmt::format("relation \"{}\" already exists, skipping", index.name));
    return;
  }
  refuse_relation_name(session, relation.schema, index.name);
  if (table->tree) {
    index.tree = value_of(session.shared.engine.create_tree(*session.transaction));
  }
  if (is_beside_writers) index.state = IndexState::delete_only;
  const IndexPlace place{relation.oid, index.oid};
  relation.indexes.push_back(std::move(index));
  const TablePtr changed =
      session.catalog.replace(*session.transaction, *table, std::move(relation));
  if (is_beside_writers) return create_beside_writers(session, place);
  if (table->tree) fill_index(session, changed, changed->relation.indexes.size() - 1);
  // ONLY: the user attaches the partitions' indexes one by one.
  if (statement.relation->inh) {
    for (const Oid oid : changed->relation.partitions) {
      give_index(session, changed, changed->relation.indexes.back(),
                 session.catalog.lock_for_change(*session.transaction, session.names.table(oid),
                                                 lock::RelationMode::share));
    }
  }
}

}  // namespace swizzle::sql
