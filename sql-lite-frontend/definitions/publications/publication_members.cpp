// Which tables and schemas a publication has, with columns and filters.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/execution/publish/published_table.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidColumnReference{"42P10"};

SchemaPtr current_schema(StatementContext& session) {
  for (const Oid oid : session.names.search_path()) {
    if (oid == kPgCatalogSchema || oid == session.names.temp_schema) continue;
    for (const SchemaPtr& schema : session.catalog.schemas()) {
      if (schema->oid == oid) return schema;
    }
  }
  throw SqlError{sqlstate::invalid_schema_name, "no schema has been selected for CURRENT_SCHEMA"};
}

std::string_view unpublishable_kind(const Relation& relation) {
  switch (relation.kind) {
    case RelationKind::view:
      return "views";
    case RelationKind::materialized:
      return "materialized views";
    case RelationKind::sequence:
      return "sequences";
    default:
      break;
  }
  if (relation.kind == RelationKind::computed || relation.oid < kFirstUserOid)
    return "system tables";
  if (relation.persistence == Persistence::temporary) return "temporary tables";
  return relation.persistence == Persistence::permanent ? std::string_view{} : "unlogged tables";
}

void require_publishable(const Relation& relation) {
  const std::string_view kind = unpublishable_kind(relation);
  if (kind.empty()) return;
  throw sql_error(sqlstate::invalid_parameter_value, "cannot add relation \"{}\" to publication",
                  relation.name)
      .with_detail(fmt::format("This operation is not supported for {}.", kind));
}

std::vector<std::int16_t> listed_columns(const Relation& relation, ast::NodeList names) {
  std::vector<std::int16_t> numbers;
  for (const ast::Node* node : names) {
    const std::string_view name = ast::string_of(node);
    for (const std::string_view system : {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"}) {
      if (name != system) continue;
      throw_error(kInvalidColumnReference,
                  "cannot use system column \"{}\" in publication column list", name);
    }
    const auto found = std::ranges::find_if(relation.columns, [&](const Column& column) {
      return !column.dropped && column.name == name;
    });
    if (found == relation.columns.end()) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, relation.name);
    }
    if (found->is_virtual) {
      throw_error(kInvalidColumnReference,
                  "cannot use virtual generated column \"{}\" in publication column list", name);
    }
    const auto number = static_cast<std::int16_t>(found - relation.columns.begin() + 1);
    if (std::ranges::find(numbers, number) != numbers.end()) {
      throw_error(sqlstate::duplicate_object, "duplicate column \"{}\" in publication column list",
                  name);
    }
    numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

template <class... Kinds>
bool is_one_of(const Expr& expr) {
  return ((dynamic_cast<const Kinds*>(&expr) != nullptr) || ...);
}

/// A filter is asked when the change is read, so it may depend on nothing but the row.
void require_simple_filter(Expr& filter) {
  walk(filter, [](Expr& part) {
    const auto* call = dynamic_cast<const FunctionExpr*>(&part);
    const bool is_mutable =
        is_one_of<RoutineExpr, SessionFunctionExpr>(part) ||
        (call != nullptr && call->function().volatility != Volatility::immutable);
    const bool is_known =
        call != nullptr ||
        is_one_of<ConstantExpr, SlotExpr, CastExpr, LengthExpr, CollateExpr, BooleanExpr, TestExpr,
                  DistinctExpr, CaseExpr, CoalesceExpr, NullIfExpr, GreatestExpr,
                  ArrayComparisonExpr, ArrayExpr, RowExpr, RowOrderExpr>(part);
    std::string_view detail;
    if (is_mutable) {
      detail = "User-defined or built-in mutable functions are not allowed.";
    } else if (raw(part.type()) >= kFirstUserOid) {
      detail = "User-defined types are not allowed.";
    } else if (!is_known) {
      detail =
          "Only columns, constants, built-in operators, built-in data types, built-in collations, "
          "and immutable built-in functions are allowed.";
    }
    if (detail.empty()) return;
    throw SqlError{sqlstate::feature_not_supported, "invalid publication WHERE expression"}
        .with_detail(std::string{detail});
  });
}

std::string stored_filter(StatementContext& session, const Relation& relation,
                          const ast::Node* node) {
  Arena arena;
  Binder binder{session.names, arena};
  const Slot first = binder.new_slots(relation.columns.size());
  Scope scope = binder.table_scope(columns_alone(relation), relation.name, first);
  scope.clause = Clause::where;
  ExprPtr filter = binder.bind_condition(node, scope, "PUBLICATION WHERE");
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    // The log does not have them.
    if (!relation.columns[i].is_virtual || !binder.is_used(first + static_cast<Slot>(i))) continue;
    throw SqlError{sqlstate::feature_not_supported,
                   "a virtual generated column in a publication's WHERE is not supported"};
  }
  require_simple_filter(*filter);
  ExprPrinter printer{.out = {}, .is_kept = true};
  printer.print(*filter);
  return std::move(printer.out);
}

/// Throws if a table is listed twice with different column lists or filters.
void refuse_two_sayings(const Publication::Member& old, const ast::PublicationTable& again,
                        std::string_view name) {
  if (again.where_clause != nullptr || !old.filter_sql.empty()) {
    throw_error(sqlstate::duplicate_object,
                "conflicting or redundant WHERE clauses for table \"{}\"", name);
  }
  if (!again.columns.empty() || !old.columns.empty()) {
    throw_error(sqlstate::duplicate_object,
                "conflicting or redundant column lists for table \"{}\"", name);
  }
}

/// True if the filter reads the column.
bool filter_reads(StatementContext& session, const Table& table, const std::string& filter_sql,
                  std::size_t position) {
  if (filter_sql.empty()) return false;
  Arena arena;
  Binder binder{session.names, arena};
  const Slot first = binder.new_slots(table.relation.columns.size());
  binder.bind_table_expression(filter_sql, table, first, Clause::where);
  return binder.is_used(first + static_cast<Slot>(position));
}

}  // namespace

PublicationObjects named_objects(StatementContext& session, ast::NodeList objects) {
  PublicationObjects named;
  for (const ast::Node* node : objects) {
    const auto& object = ast::as<ast::PublicationObjSpec>(node);
    using ObjectType = ast::PublicationObjSpecType;
    if (object.pubobjtype == ObjectType::table) {
      named.tables.push_back(object.pubtable);
      continue;
    }
    SchemaPtr schema = object.pubobjtype == ObjectType::tables_in_cur_schema
                           ? current_schema(session)
                           : session.catalog.schema(object.name);
    if (!schema)
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", object.name);
    const bool is_new = std::ranges::none_of(
        named.schemas, [&](const SchemaPtr& old) { return old->oid == schema->oid; });
    if (is_new) named.schemas.push_back(std::move(schema));
  }
  return named;
}

std::vector<Publication::Member> members_of(
    StatementContext& session, const std::vector<const ast::PublicationTable*>& named) {
  std::vector<Publication::Member> members;
  Arena arena;
  Binder binder{session.names, arena};
  for (const ast::PublicationTable* one : named) {
    const TablePtr table = binder.require_relation(*one->relation);
    const Relation& relation = table->relation;
    const auto known = std::ranges::find(members, relation.oid, &Publication::Member::table);
    if (known != members.end()) {
      refuse_two_sayings(*known, *one, relation.name);
      continue;
    }
    require_publishable(relation);
    if (one->relation->inh && !relation.children.empty()) {
      throw sql_error(sqlstate::feature_not_supported,
                      "publication of table \"{}\" with its children is not supported",
                      relation.name)
          .with_hint("Name the table with ONLY, and each child.");
    }
    session.rights.require_owner(*table);
    Publication::Member member;
    member.oid = session.catalog.allocate_oid();
    member.table = relation.oid;
    member.columns = listed_columns(relation, one->columns);
    if (one->where_clause != nullptr)
      member.filter_sql = stored_filter(session, relation, one->where_clause);
    members.push_back(std::move(member));
  }
  return members;
}

void refuse_lists_beside_schemas(StatementContext& session, const Publication& publication) {
  if (publication.schemas.empty()) return;
  for (const Publication::Member& member : publication.members) {
    if (member.columns.empty()) continue;
    const TablePtr table = session.catalog.table(member.table);
    if (!table) continue;
    throw sql_error(sqlstate::invalid_parameter_value,
                    "cannot use column list for relation \"{}.{}\" in publication \"{}\"",
                    session.schema_name(table->relation.schema), table->relation.name,
                    publication.name)
        .with_detail(
            "Column lists cannot be specified in publications containing FOR TABLES IN "
            "SCHEMA elements.");
  }
}

void refuse_parts_of_partitioned(StatementContext& session, const Publication& publication) {
  if (publication.via_root) return;
  for (const Publication::Member& member : publication.members) {
    const TablePtr table = session.catalog.table(member.table);
    if (!table || !table->relation.is_partitioned()) continue;
    if (!member.filter_sql.empty()) {
      throw sql_error(sqlstate::invalid_parameter_value,
                      "cannot use publication WHERE clause for relation \"{}\"",
                      table->relation.name)
          .with_detail(
              "WHERE clause cannot be used for a partitioned table when "
              "publish_via_partition_root is false.");
    }
    if (member.columns.empty()) continue;
    throw sql_error(sqlstate::invalid_parameter_value,
                    "cannot use column list for relation \"{}.{}\" in publication \"{}\"",
                    session.schema_name(table->relation.schema), table->relation.name,
                    publication.name)
        .with_detail(
            "Column lists cannot be specified for partitioned tables when "
            "publish_via_partition_root is false.");
  }
}

void forget_published_schema(StatementContext& session, Oid schema) {
  for (const PublicationPtr& publication : session.catalog.naming<Publication>({schema})) {
    if (!publication->has_schema(schema)) continue;
    Publication changed = *publication;
    std::erase_if(changed.schemas, [&](const auto& one) { return one.schema == schema; });
    session.catalog.replace(*session.transaction, *publication, std::move(changed));
  }
}

void drop_published_column(StatementContext& session, const Table& table, std::size_t position,
                           ast::DropBehavior behavior, ResultSink& sink) {
  const Oid oid = table.relation.oid;
  const auto number = static_cast<std::int16_t>(position + 1);
  for (const PublicationPtr& publication : session.catalog.naming<Publication>({oid})) {
    const Publication::Member* const member = publication->member(oid);
    if (member == nullptr) continue;
    const bool names_it = std::ranges::find(member->columns, number) != member->columns.end() ||
                          filter_reads(session, table, member->filter_sql, position);
    if (!names_it) continue;
    const std::string what = fmt::format("publication of {} in publication {}",
                                         described(session, table), publication->name);
    const std::string column = fmt::format("column {} of {}", table.relation.columns[position].name,
                                           described(session, table));
    if (behavior != ast::DropBehavior::cascade) {
      throw sql_error(sqlstate::dependent_objects_still_exist,
                      "cannot drop {} because other objects depend on it", column)
          .with_detail(fmt::format("{} depends on {}", what, column))
          .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
    }
    session.notice(sink, Severity::notice, SqlState{"00000"},
                   fmt::format("drop cascades to {}", what));
    Publication changed = *publication;
    std::erase_if(changed.members, [&](const auto& one) { return one.table == oid; });
    session.catalog.replace(*session.transaction, *publication, std::move(changed));
  }
}

bool is_published(StatementContext& session, const Table& table) {
  return std::ranges::any_of(
      session.catalog.naming<Publication>({table.relation.oid}),
      [&](const PublicationPtr& one) { return one->member(table.relation.oid) != nullptr; });
}

void refuse_published_column(StatementContext& session, const Table& table, std::size_t position) {
  const auto number = static_cast<std::int16_t>(position + 1);
  for (const PublicationPtr& publication :
       session.catalog.naming<Publication>({table.relation.oid})) {
    const Publication::Member* const member = publication->member(table.relation.oid);
    if (member == nullptr) continue;
    const bool names_it = std::ranges::find(member->columns, number) != member->columns.end() ||
                          filter_reads(session, table, member->filter_sql, position);
    if (!names_it) continue;
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot alter type of a column used by a publication WHERE clause"}
        .with_detail(fmt::format("publication of {} in publication {} depends on column \"{}\"",
                                 described(session, table), publication->name,
                                 table.relation.columns[position].name));
  }
}

void rename_published_column(StatementContext& session, const TablePtr& table, std::size_t position,
                             std::string_view new_name) {
  for (const PublicationPtr& publication :
       session.catalog.naming<Publication>({table->relation.oid})) {
    const Publication::Member* const member = publication->member(table->relation.oid);
    if (member == nullptr || !filter_reads(session, *table, member->filter_sql, position)) continue;
    // Bound by the old names, printed by the new one.
    Arena arena;
    Binder binder{session.names, arena};
    const Slot first = binder.new_slots(table->relation.columns.size());
    ExprPtr filter = binder.bind_table_expression(member->filter_sql, *table, first, Clause::where);
    const std::string kept{new_name};
    walk(*filter, [&](Expr& part) {
      auto* slot = dynamic_cast<SlotExpr*>(&part);
      if (slot != nullptr && slot->slot() == first + static_cast<Slot>(position))
        slot->rename(kept);
    });
    ExprPrinter printer{.out = {}, .is_kept = true};
    printer.print(*filter);
    Publication changed = *publication;
    for (Publication::Member& one : changed.members) {
      if (one.table == table->relation.oid) one.filter_sql = printer.out;
    }
    session.catalog.replace(*session.transaction, *publication, std::move(changed));
  }
}

}  // namespace swizzle::sql
