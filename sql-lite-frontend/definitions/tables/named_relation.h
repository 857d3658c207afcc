#pragma once

#include <optional>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Looks up the relation that a statement names. Relations and indexes share a namespace, so the
/// look-up may find an object of another kind. Every ALTER, DROP, COMMENT and REINDEX uses these
/// functions, and checks the kind before it changes the object.
namespace swizzle::sql {

/// A relation, or an index together with its table.
struct NamedRelation {
  TablePtr table;
  const Index* index = nullptr;  ///< in `table`; null where the relation itself is named
};

std::optional<NamedRelation> find_named_relation(StatementContext& session,
                                                 const ast::RangeVar& range);
/// Throws 42P01 if there is no relation of that name.
NamedRelation require_named_relation(StatementContext& session, const ast::RangeVar& range);

/// Finds the relation of an ALTER. With IF EXISTS, returns nothing, with a notice, if there is
/// none.
std::optional<NamedRelation> find_to_change(StatementContext& session, const ast::RangeVar& range,
                                            bool missing_ok, ResultSink& sink);

/// Throws 42501 unless the session's role owns the relation; also for system relations.
void require_alterable(StatementContext& session, const NamedRelation& found);

/// Throws 42809 if ALTER VIEW, SEQUENCE, MATERIALIZED VIEW or INDEX names a relation of another
/// kind. ALTER TABLE accepts every kind.
void require_named_kind(const NamedRelation& found, ast::ObjectType type);

/// Returns the plural of the relation's kind for error messages: "views", "indexes".
std::string_view plural_of(const NamedRelation& found);

}  // namespace swizzle::sql
