#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// What running statements ask of their session.
namespace swizzle::sql {

struct Execution;
struct WorkSpace;

/// Runs one statement of the system's own inside the present transaction, as referential actions
/// do, and returns how many rows it gave or changed. Plans are kept by text. The statement that it
/// runs for goes on with what it saw before.
std::uint64_t run_internal(Session::State& session, const std::string& sql,
                           std::span<const TypeId> types, std::span<const Value> parameters,
                           ReadView::Sees sees = ReadView::Sees::latest);

/// Puts a check off to the commit, or to SET CONSTRAINTS … IMMEDIATE.
struct DeferredCheck {
  Oid constraint = kNoOid;
  Oid relation = kNoOid;  ///< whose row was written
  enum class Gives : std::uint8_t { rows, none };
  struct Query {
    std::string sql;
    Gives gives = Gives::rows;
    ReadView::Sees sees = ReadView::Sees::latest;
  };
  /// What gives this when all is well; else it is asked whether what was done is still there: a row
  /// that refers may have gone again, and one that was referred to have a successor.
  Query wanted;
  /// What gives this when the constraint is violated indeed.
  Query confirmation;
  std::vector<TypeId> types;
  std::vector<std::string> texts;  ///< the parameters as text; all are NOT NULL
  Diagnostic violation;
};
bool is_deferred(Session::State& session, const Constraint& constraint);
void defer_check(Session::State& session, DeferredCheck check);

/// Fails with what the running request is to end with, when somebody has asked for that.
void check_cancelled(Session::State& session);

/// Of a schema, for error fields.
std::string schema_name(Session::State& session, Oid schema);
/// Whether the user may read these columns, counted from 1: what errors may show of a row.
bool may_read(Session::State& session, const TablePtr& table,
              std::span<const std::int16_t> columns);

/// The key of the table's row that the session's cursor stands on.
/// Throws SqlError 34000 (no such cursor) and 24000 (its present row is none of the table's).
std::string cursor_row_key(Session::State& session, std::string_view cursor, const Table& table);

Engine& engine_of(Session::State& session);
/// What building an index, or loading rows, may take.
WorkSpace maintenance_space(Session::State& session);

/// A notice for each name in the text that is longer than names can be, and is cut.
void tell_of_long_names(Session::State& session, std::string_view text, ResultSink& sink);

}  // namespace swizzle::sql
