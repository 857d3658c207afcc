#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Services that running statements need from their session; session/ implements them.
namespace swizzle::sql {

struct Execution;
class ReferenceQueue;
struct TransitionTables;
struct WorkMemory;
struct WorkSpace;

/// Runs one statement of the system's own inside the present transaction, as referential actions
/// do, and returns how many rows it gave or changed. Plans are kept by text, for as long as the
/// tables and the parameters' types are the same. The statement that it runs for goes on with what
/// it saw before. `visit` is given each row of a SELECT.
using RowVisitor = std::function<void(std::span<const Value>)>;
std::uint64_t run_internal(Session::State& session, const std::string& sql,
                           std::span<const TypeId> types, std::span<const Value> parameters,
                           ReadView::Sees sees = ReadView::Sees::latest,
                           const RowVisitor& visit = {});
/// Runs `body` with the rights of a table's owner, as referential actions require. The triggers and
/// checks of an action must not get the rights of the user that changes the referenced row.
void run_as_owner(Session::State& session, Oid owner, const std::function<void()>& body);

/// Check that is done when the transaction commits, or by SET CONSTRAINTS … IMMEDIATE. It records
/// the written row, not the query to run: tables may have been renamed and altered by then.
struct DeferredCheck {
  enum class Kind : std::uint8_t {
    refers,     ///< a row of the relation has these values in its foreign key
    given_up,   ///< a row of the relation had these values, and others may refer to them
    is_unique,  ///< a row of the relation has these values in its key
    excludes,   ///< a row has these values in the columns of an exclusion's index
    // A constraint trigger is to fire for a row: the old one's columns, then the new one's.
    after_insert,
    after_update,
    after_delete,
  };
  Kind kind = Kind::refers;
  Oid constraint = kNoOid;
  Oid relation = kNoOid;
  std::span<const Value> values;  ///< of the relation's columns
};
bool is_deferred(Session::State& session, const Constraint& constraint);
bool is_deferred(Session::State& session, const Trigger& trigger);
/// session_replication_role is `replica`: neither keys' own work nor plain triggers are done.
bool acts_as_replica(Session::State& session);
ReferenceQueue& reference_queue(Session::State& session);
/// Returns the transition tables that the running trigger's function may name; null: none.
const TransitionTables* transition_tables_of(Session::State& session);
/// Keeps a copy of the values.
void defer_check(Session::State& session, const DeferredCheck& check);

/// Throws the error with which the running request is to end, if its cancellation was requested.
void check_cancelled(Session::State& session);

/// Returns the name of a schema, for error fields.
std::string schema_name(Session::State& session, Oid schema);
/// Whether the user may read these columns, counted from 1: what errors may show of a row.
bool may_read(Session::State& session, const TablePtr& table,
              std::span<const std::int16_t> columns);
/// Whether policies count for the user, so that no error shows anything of a row.
bool hides_rows(Session::State& session, const Table& table);

/// The key of the table's row that the session's cursor stands on.
/// Throws SqlError 34000 (no such cursor) and 24000 (its present row is none of the table's).
std::string cursor_row_key(Session::State& session, std::string_view cursor, const Table& table);

Engine& engine_of(Session::State& session);
Transaction& transaction_of(Session::State& session);
/// Locks the relation, so that its definition stays as it is until the transaction ends. False: the
/// definition is no longer this one.
/// `seen_at` says when that was found last.
bool keep_definition(Session::State& session, const TablePtr& table, lock::RelationMode mode,
                     CatalogView::Stamp& seen_at);
/// Returns the account of the session's statements.
WorkMemory& work_memory(Session::State& session) noexcept;
/// Returns the limits for building an index, or loading rows.
WorkSpace maintenance_space(Session::State& session);

/// A notice for each name in the text that is longer than names can be, and is cut.
bool tell_of_long_names(Session::State& session, std::string_view text, ResultSink& sink);

}  // namespace swizzle::sql
