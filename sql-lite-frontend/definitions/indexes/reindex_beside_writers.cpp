// REINDEX CONCURRENTLY: builds another index beside the old one, exchanges their trees, and drops
// the other one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/definitions/indexes/beside_writers.h"
#include "sql-lite-frontend/definitions/indexes/reindex.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

auto position_in(std::vector<Index>& indexes, Oid oid, const Relation& relation) {
  const auto found = std::ranges::find(indexes, oid, &Index::oid);
  if (found != indexes.end()) return found;
  throw_error(sqlstate::undefined_object, "the index on table \"{}\" was dropped meanwhile",
              relation.name);
}

/// Adds an index like the other, for which queries do not care.
Oid add_copy(StatementContext& session, const Table& table, Oid of) {
  Relation relation = table.relation;
  Index copy = *position_in(relation.indexes, of, relation);
  copy.oid = session.catalog.allocate_oid();
  copy.name = free_name(session, relation, object_name(copy.name, {}, "ccnew"));
  copy.primary = false;
  copy.parent = kNoOid;
  copy.comment.clear();
  copy.tree = value_of(session.shared.engine.create_tree(*session.transaction));
  copy.state = IndexState::delete_only;
  const Oid oid = copy.oid;
  relation.indexes.push_back(std::move(copy));
  session.catalog.replace(*session.transaction, table, std::move(relation));
  return oid;
}

/// Gives the index the tree of its copy, which is complete. The trees keep their order, in which
/// writers lock entries.
void exchange(StatementContext& session, const Table& table, Oid of, Oid copy) {
  note_complete(session, table, of);
  Relation relation = table.relation;
  const auto old = position_in(relation.indexes, of, relation);
  const auto fresh = position_in(relation.indexes, copy, relation);
  std::swap(old->tree, fresh->tree);
  fresh->state = old->is_valid() ? IndexState::building : old->state;
  old->state = IndexState::valid;
  fresh->name = free_name(session, relation, object_name(old->name, {}, "ccold"));
  std::swap(*old, *fresh);
  session.catalog.replace(*session.transaction, table, std::move(relation));
}

void rebuild_one(StatementContext& session, IndexPlace place) {
  const TablePtr known = session.catalog.table(place.table);
  if (!known) return;
  const TablePtr table = session.catalog.lock_for_change(
      *session.transaction, known, lock::RelationMode::share_update_exclusive);
  // It was dropped after the one before it was rebuilt.
  if (table->index_by_oid(place.index) == nullptr) return;
  const IndexPlace copy{place.table, add_copy(session, *table, place.index)};
  const TablePtr built = build_beside_writers(session, copy, BesideWriters::reindex);
  exchange(session, *built, place.index, copy.index);
  drop_beside_users(session, copy);
}

std::string shown_name(StatementContext& session, const Relation& relation, const Index& index) {
  return fmt::format("{}.{}", session.names.schema_name(relation.schema), index.name);
}

/// Returns true if the index of a table can be rebuilt; else tells why not.
bool can_be_rebuilt(StatementContext& session, const Relation& relation, const Index& index,
                    ResultSink& sink) {
  if (index.excludes()) {
    session.notice(sink, Severity::warning, sqlstate::feature_not_supported,
                   fmt::format("cannot reindex exclusion constraint index \"{}\" concurrently, "
                               "skipping",
                               shown_name(session, relation, index)));
    return false;
  }
  if (index.is_valid()) return true;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.state = SqlState{"55000"};
  warning.message =
      fmt::format("skipping reindex of invalid index \"{}\"", shown_name(session, relation, index));
  warning.hint = "Use DROP INDEX or REINDEX INDEX.";
  session.send_notice(sink, std::move(warning));
  return false;
}

}  // namespace

void rebuild_beside_writers(StatementContext& session, Oid table, std::string_view only,
                            ResultSink& sink) {
  const TablePtr known = session.catalog.table(table);
  if (!known) return;
  const Relation& relation = known->relation;
  std::vector<Oid> chosen;
  for (const Index& index : relation.indexes) {
    // The table itself is the index by which its rows are ordered.
    if (index.orders_rows() || (!only.empty() && index.name != only)) continue;
    if (!only.empty() && index.excludes()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "concurrent index creation for exclusion constraints is not supported"};
    }
    if (!only.empty() || can_be_rebuilt(session, relation, index, sink)) {
      chosen.push_back(index.oid);
    }
  }
  for (const Oid index : chosen) rebuild_one(session, {table, index});
}

}  // namespace swizzle::sql
