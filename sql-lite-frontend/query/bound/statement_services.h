#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

class NameSource;
class ReferenceQueue;
class TableShapes;
struct TransitionRows;
struct RoutineCall;
struct TransitionTables;
struct WorkSpace;

/// A check deferred to commit, or to SET CONSTRAINTS … IMMEDIATE. It records the written row, not
/// the query to run, because tables may have been renamed and altered by then.
struct DeferredCheck {
  enum class Kind : std::uint8_t {
    refers,     ///< a row of the relation has these values in its foreign key
    given_up,   ///< a row of the relation had these values, and others may refer to them
    is_unique,  ///< a row of the relation has these values in its key
    excludes,   ///< a row has these values in the columns of an exclusion's index
    // Fires a constraint trigger for a row: the old one's columns, then the new one's.
    after_insert,
    after_update,
    after_delete,
  };
  Kind kind = Kind::refers;
  Oid constraint = kNoOid;
  Oid relation = kNoOid;
  std::span<const Value> values;  ///< of the relation's columns
};

/// The rows of one firing; empty: the event has no such row.
struct FiredRows {
  std::span<const Value> old_row;
  std::span<const Value> new_row;
  const TransitionRows* changed = nullptr;  ///< for a trigger that names transition tables
};

using RowVisitor = std::function<void(std::span<const Value>)>;

/// Services that the steps of a running statement need from its session, which implements them;
/// tests of steps have their own.
class StatementServices {
 public:
  StatementServices() = default;
  StatementServices(const StatementServices&) = delete;
  StatementServices& operator=(const StatementServices&) = delete;
  virtual ~StatementServices() = default;

  [[nodiscard]] virtual Engine& storage_engine() noexcept = 0;
  /// Returns the engine's transaction that the statement runs in.
  [[nodiscard]] virtual Transaction& engine_transaction() noexcept = 0;
  [[nodiscard]] virtual CatalogView& catalog_view() noexcept = 0;
  [[nodiscard]] virtual NameSource& name_source() noexcept = 0;
  /// Returns the account of the session's statements.
  [[nodiscard]] virtual WorkMemory& work_memory() noexcept = 0;
  /// Returns the limits for building an index, or loading rows.
  [[nodiscard]] virtual WorkSpace maintenance_space() = 0;
  /// Throws the error with which the running request is to end, if its cancellation was requested.
  virtual void check_cancelled() = 0;

  /// Runs one statement of the server's own inside the present transaction, as referential actions
  /// do, and returns how many rows it selected or changed. Plans are kept by text, for as long as
  /// the tables and the parameters' types are the same. The outer statement keeps its snapshot.
  /// Calls `visit` with each row of a SELECT.
  virtual std::uint64_t run_internal(const std::string& sql, std::span<const TypeId> types,
                                     std::span<const Value> parameters,
                                     ReadView::Sees sees = ReadView::Sees::latest,
                                     const RowVisitor& visit = {}) = 0;
  /// Runs `body` with the rights of a table's owner, as referential actions require. The triggers
  /// and checks of an action must not get the rights of the user that changes the referenced row.
  virtual void run_as_owner(Oid owner, const std::function<void()>& body) = 0;

  [[nodiscard]] virtual bool is_deferred(const Constraint& constraint) = 0;
  [[nodiscard]] virtual bool is_deferred(const Trigger& trigger) = 0;
  /// Defers a check; copies the values.
  virtual void defer_check(const DeferredCheck& check) = 0;
  [[nodiscard]] virtual ReferenceQueue& reference_queue() noexcept = 0;
  /// True if session_replication_role is `replica`: no referential actions or plain triggers.
  [[nodiscard]] virtual bool acts_as_replica() = 0;

  /// Returns the routine's value, which lives in the caller's row arena. Pre: no argument is NULL
  /// if the routine is strict.
  virtual Value call_routine(Execution& caller, const RoutineCall& call, StatePlace place,
                             std::span<const Value> arguments) = 0;
  /// Returns the rows of a set-returning routine, and the only one of any other.
  virtual std::unique_ptr<SetCursor> open_routine(Execution& caller, const RoutineCall& call,
                                                  std::span<const Value> arguments) = 0;

  /// True if session_replication_role lets the trigger fire.
  [[nodiscard]] virtual bool may_fire(const Trigger& trigger) = 0;
  /// Returns the row that the trigger's function returned, in the row arena; nullopt: NULL.
  virtual std::optional<std::span<const Value>> fire(Execution& execution, const Trigger& trigger,
                                                     const TablePtr& table, TriggerEvent event,
                                                     const FiredRows& rows) = 0;
  /// Fires a constraint trigger that was deferred.
  virtual void fire_deferred(const TablePtr& table, const DeferredCheck& check) = 0;
  /// Returns the transition tables that the running trigger's function may name; null: none.
  [[nodiscard]] virtual const TransitionTables* transition_tables() const noexcept = 0;

  /// Returns the name of a schema, for error fields.
  virtual std::string schema_name(Oid schema) = 0;
  /// True if the user may read these columns, counted from 1: errors may show them.
  virtual bool may_read(const TablePtr& table, std::span<const std::int16_t> columns) = 0;
  /// True if policies apply to the user, so that errors must not show a row.
  virtual bool hides_rows(const Table& table) = 0;

  /// Locks the relation, so that its definition stays until the transaction ends. False: the
  /// definition has changed. `seen_at` is the stamp under which it was last found valid.
  virtual bool keep_definition(const TablePtr& table, lock::RelationMode mode,
                               CatalogView::Stamp& seen_at) = 0;
  /// Returns the key of the table's row that the session's cursor stands on. Throws SqlError 34000
  /// (no such cursor) and 24000 (its present row is none of the table's).
  virtual std::string cursor_row_key(std::string_view cursor, const Table& table) = 0;

  /// Returns the numbers of published tables' shapes in the logical log.
  [[nodiscard]] virtual TableShapes& table_shapes() noexcept = 0;
  /// True if wal_level is logical, so that changes to published tables are written to the log.
  [[nodiscard]] virtual bool logs_changes() = 0;
};

}  // namespace swizzle::sql
