#pragma once

#include <optional>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Look-up of the name in a definition. Relations and indexes share their names, so a look-up of
/// the one may find the other. Every ALTER, DROP, COMMENT and REINDEX uses these functions, and
/// checks the kind before it touches the object.
namespace swizzle::sql {

/// A relation, or an index by way of the table that owns it.
struct NamedRelation {
  TablePtr table;
  const Index* index = nullptr;  ///< in `table`; null where the relation itself is named
};

std::optional<NamedRelation> find_named_relation(StatementContext& session,
                                                 const ast::RangeVar& range);
/// 42P01 where nothing has that name.
NamedRelation require_named_relation(StatementContext& session, const ast::RangeVar& range);

/// Finds the relation of an ALTER. None, with a notice, if it does not exist and need not.
std::optional<NamedRelation> find_to_change(StatementContext& session, const ast::RangeVar& range,
                                            bool missing_ok, ResultSink& sink);

/// 42501 unless the session's role owns it; also for the system's relations, which cannot be
/// altered.
void require_alterable(StatementContext& session, const NamedRelation& found);

/// 42809 where ALTER VIEW, SEQUENCE, MATERIALIZED VIEW or INDEX names something else. ALTER TABLE
/// takes every kind.
void require_named_kind(const NamedRelation& found, ast::ObjectType type);

/// Returns the plural for messages that refuse the kind of relation: "views", "indexes".
std::string_view plural_of(const NamedRelation& found);

}  // namespace swizzle::sql
