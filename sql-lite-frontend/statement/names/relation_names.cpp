#include "sql-lite-frontend/statement/names/relation_names.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

struct Place {
  Oid schema = kNoOid;
  std::string name;
};

std::optional<Oid> find_in(StatementContext& session, Oid schema, std::string_view name) {
  if (const ComputedRelation* computed = find_computed(schema, name)) return computed->oid;
  if (const TablePtr table = session.catalog.table(schema, name)) return table->relation.oid;
  if (const TablePtr table = session.catalog.table_of_index(schema, name)) {
    return std::ranges::find(table->relation.indexes, name, &Index::name)->oid;
  }
  const TypePtr type = session.catalog.type(schema, name);
  return type && is_composite(type->id()) ? std::optional{type->relation} : std::nullopt;
}

std::optional<Place> place_of(StatementContext& session, Oid oid) {
  if (const TablePtr table = session.names.table(oid)) {
    return Place{table->relation.schema, table->relation.name};
  }
  if (const TablePtr table = session.catalog.table_with_index(oid)) {
    return Place{table->relation.schema, table->index_by_oid(oid)->name};
  }
  if (const TypePtr type = session.names.composite_of(oid)) return Place{type->schema, type->name};
  return std::nullopt;
}

}  // namespace

std::optional<Oid> find_relation_named(StatementContext& session, std::string_view schema,
                                       std::string_view name) {
  if (schema.empty()) {
    for (const Oid oid : session.names.search_path()) {
      if (const auto found = find_in(session, oid, name)) return found;
    }
    return std::nullopt;
  }
  // Checks USAGE of the schema, and knows pg_temp.
  if (const TablePtr table = session.names.find_table(schema, name)) return table->relation.oid;
  const Oid temporary = session.names.temp_schema;
  const bool is_temporary = temporary != kNoOid &&
                            (schema == "pg_temp" || schema == session.names.schema_name(temporary));
  if (is_temporary) return find_in(session, temporary, name);
  const SchemaPtr found = session.catalog.schema(schema);
  return found ? find_in(session, found->oid, name) : std::nullopt;
}

std::optional<std::string> relation_name(StatementContext& session, Oid oid) {
  const auto place = place_of(session, oid);
  if (!place) return std::nullopt;
  const std::string name = quote_identifier(place->name);
  if (is_relation_visible(session, place->schema, place->name)) return name;
  return quote_identifier(session.names.schema_name(place->schema)) + "." + name;
}

std::optional<bool> is_relation_visible(StatementContext& session, Oid oid) {
  const auto place = place_of(session, oid);
  if (!place) return std::nullopt;
  return is_relation_visible(session, place->schema, place->name);
}

bool is_relation_visible(StatementContext& session, Oid schema, std::string_view name) {
  for (const Oid oid : session.names.search_path()) {
    if (oid == schema) return true;
    if (find_in(session, oid, name)) return false;
  }
  return false;
}

}  // namespace swizzle::sql
