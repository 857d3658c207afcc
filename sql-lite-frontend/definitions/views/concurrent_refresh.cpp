#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/views/materialized_view.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/key_codec.h"

/// REFRESH MATERIALIZED VIEW CONCURRENTLY: stores the query's rows in a temporary table, then
/// changes only the differing rows, while other sessions read the view.
namespace swizzle::sql {
namespace {

/// Returns the index by whose columns old and new rows are matched.
const Index* key_of(const Relation& view) {
  for (const Index& index : view.indexes) {
    if (!index.unique || !index.predicate_sql.empty()) continue;
    if (std::ranges::none_of(index.columns, [](const auto& part) { return part.column == 0; })) {
      return &index;
    }
  }
  return nullptr;
}

/// True if equal values of the type are always identical. False for numeric: 1.0 and 1.00.
bool equal_is_same(TypeId type) {
  return is_indexable(type) && key_keeps_value(type);
}

/// "new.k = old.k AND …": rows with the same key that do not differ anywhere.
std::string same_row(const Relation& view, const Index& key) {
  std::string condition;
  for (const IndexColumn& part : key.columns) {
    const std::string name =
        quote_identifier(view.columns[static_cast<std::size_t>(part.column) - 1].name);
    condition += fmt::format("{}new.{} = old.{}", condition.empty() ? "" : " AND ", name, name);
  }
  for (const Column& column : view.columns) {
    const std::string name = quote_identifier(column.name);
    const std::string_view form = equal_is_same(column.type) ? "" : "::text";
    condition += fmt::format(" AND new.{}{} IS NOT DISTINCT FROM old.{}{}", name, form, name, form);
  }
  return condition;
}

/// The table for the query's rows, which has the view's columns. Its name is the same each time, so
/// that the statements below are planned anew but not kept twice.
TablePtr create_staging(StatementContext& session, const Relation& view) {
  Relation staging;
  staging.oid = session.catalog.allocate_oid();
  staging.schema = session.names.temporary_schema();
  staging.persistence = Persistence::temporary;
  staging.name = fmt::format("pg_refresh_{}", view.oid);
  staging.owner = view.owner;
  for (const Column& column : view.columns) {
    Column copy;
    copy.name = column.name;
    copy.type = column.type;
    copy.typmod = column.typmod;
    staging.columns.push_back(std::move(copy));
  }
  return create_relation(session, std::move(staging));
}

void refuse_duplicates(StatementContext& session, const Table& view, const std::string& staging) {
  std::string columns;
  std::string present;
  for (const Column& column : view.relation.columns) {
    const std::string name = quote_identifier(column.name);
    columns += fmt::format("{}{}{}", columns.empty() ? "" : ", ", name,
                           equal_is_same(column.type) ? "" : "::text");
    present += fmt::format("{}{} IS NOT NULL", present.empty() ? "" : " AND ", name);
  }
  const std::uint64_t duplicates = session.run_internal(
      fmt::format("SELECT 1 FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1", staging,
                  present, columns),
      {}, {});
  if (duplicates == 0) return;
  throw_error(SqlState{"21000"},
              "new data for materialized view \"{}\" contains duplicate rows without any null "
              "columns",
              view.relation.name);
}

/// Lets this session's own statements write the view.
class WritableView {
 public:
  WritableView(StatementContext& session, Oid view) : session_(session) {
    session_.names.refreshed_view = view;
  }
  WritableView(const WritableView&) = delete;
  WritableView& operator=(const WritableView&) = delete;
  ~WritableView() { session_.names.refreshed_view = kNoOid; }

 private:
  StatementContext& session_;
};

/// Fills the staging table, and makes the view the same.
void change_rows(StatementContext& session, const TablePtr& view, const TablePtr& staging,
                 const Index& key) {
  const Relation& relation = view->relation;
  fill_from_query(session, view, staging);
  const std::string fresh = session.names.qualified_name(*staging);
  const std::string kept = session.names.qualified_name(*view);
  refuse_duplicates(session, *view, fresh);
  const std::string same = same_row(relation, key);
  const WritableView writable{session, relation.oid};
  session.run_internal(
      fmt::format("DELETE FROM {} AS old WHERE NOT EXISTS (SELECT 1 FROM {} AS new WHERE {})", kept,
                  fresh, same),
      {}, {});
  session.run_internal(
      fmt::format("INSERT INTO {} SELECT * FROM {} AS new WHERE NOT EXISTS (SELECT 1 FROM {} "
                  "AS old WHERE {})",
                  kept, fresh, kept, same),
      {}, {});
}

}  // namespace

void refresh_concurrently(StatementContext& session, const TablePtr& found) {
  const TablePtr view =
      session.catalog.lock_for_change(*session.transaction, found, lock::RelationMode::exclusive);
  const Relation& relation = view->relation;
  if (!relation.populated) {
    throw SqlError{sqlstate::feature_not_supported,
                   "CONCURRENTLY cannot be used when the materialized view is not populated"};
  }
  const Index* key = key_of(relation);
  if (key == nullptr) {
    throw sql_error(SqlState{"55000"}, "cannot refresh materialized view \"{}.{}\" concurrently",
                    session.names.schema_name(relation.schema), relation.name)
        .with_hint(
            "Create a unique index with no WHERE clause on one or more columns of the "
            "materialized view.");
  }
  const TablePtr staging = create_staging(session, relation);
  {
    const AsOwner as_owner{session, relation.owner};
    change_rows(session, view, staging, *key);
  }
  session.drop_relation(staging);
}

}  // namespace swizzle::sql
