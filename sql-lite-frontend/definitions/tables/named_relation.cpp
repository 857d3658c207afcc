#include "sql-lite-frontend/definitions/tables/named_relation.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {
namespace {

const Index* index_named(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.relation.indexes, name, &Index::name);
  return found == table.relation.indexes.end() ? nullptr : &*found;
}

}  // namespace

std::optional<NamedRelation> find_named_relation(StatementContext& session,
                                                 const ast::RangeVar& range) {
  Arena arena;
  Binder binder{session.names, arena};
  if (TablePtr table = binder.find_table(range)) return NamedRelation{std::move(table), nullptr};
  std::vector<Oid> schemas = session.names.search_path();
  if (!range.schemaname.empty()) {
    const SchemaPtr schema = session.catalog.schema(range.schemaname);
    schemas.assign(1, schema ? schema->oid : kNoOid);
  }
  for (const Oid schema : schemas) {
    TablePtr owner = session.catalog.table_of_index(schema, range.relname);
    if (!owner) continue;
    const Index* index = index_named(*owner, range.relname);
    return NamedRelation{std::move(owner), index};
  }
  return std::nullopt;
}

NamedRelation require_named_relation(StatementContext& session, const ast::RangeVar& range) {
  if (auto found = find_named_relation(session, range)) return std::move(*found);
  Arena arena;
  Binder binder{session.names, arena};
  return {binder.require_relation(range), nullptr};
}

std::optional<NamedRelation> find_to_change(StatementContext& session, const ast::RangeVar& range,
                                            bool missing_ok, ResultSink& sink) {
  auto found = find_named_relation(session, range);
  if (found) return found;
  if (!missing_ok) {
    try {
      return require_named_relation(session, range);
    } catch (SqlError& error) {
      if (error.state() != sqlstate::wrong_object_type) throw;
      // The relation is a composite type.
      throw std::move(error).with_hint("Use ALTER TYPE instead.");
    }
  }
  notice_missing(session, sink, fmt::format("relation \"{}\"", range.relname));
  return std::nullopt;
}

void require_alterable(StatementContext& session, const NamedRelation& found) {
  if (found.table->computed != nullptr) {
    throw_error(sqlstate::insufficient_privilege, "permission denied: \"{}\" is a system catalog",
                found.table->relation.name);
  }
  if (session.rights.owns(found.table->relation.owner)) return;
  if (found.index == nullptr) return session.rights.require_owner(*found.table);
  throw_error(sqlstate::insufficient_privilege, "must be owner of index {}", found.index->name);
}

void require_named_kind(const NamedRelation& found, ast::ObjectType type) {
  const RelationKind kind = found.table->relation.kind;
  const bool is_index = found.index != nullptr;
  const std::string& name = is_index ? found.index->name : found.table->relation.name;
  const auto require = [&](bool is_so, std::string_view noun) {
    if (!is_so) throw_error(sqlstate::wrong_object_type, "\"{}\" is not {}", name, noun);
  };
  switch (type) {
    case ast::ObjectType::view:
      return require(!is_index && kind == RelationKind::view, "a view");
    case ast::ObjectType::matview:
      return require(!is_index && kind == RelationKind::materialized, "a materialized view");
    case ast::ObjectType::sequence:
      return require(!is_index && kind == RelationKind::sequence, "a sequence");
    case ast::ObjectType::index:
      return require(is_index, "an index");
    case ast::ObjectType::foreign_table:
      return require(false, "a foreign table");
    case ast::ObjectType::type:
      return require(false, "a composite type");
    default:
      return;
  }
}

std::string_view plural_of(const NamedRelation& found) {
  if (found.index != nullptr) return "indexes";
  switch (found.table->relation.kind) {
    case RelationKind::view:
      return "views";
    case RelationKind::materialized:
      return "materialized views";
    case RelationKind::sequence:
      return "sequences";
    case RelationKind::computed:
      return found.table->computed->kind == 'v' ? "views" : "tables";
    case RelationKind::partitioned:
      return "partitioned tables";
    case RelationKind::table:
      break;
  }
  return "tables";
}

}  // namespace swizzle::sql
