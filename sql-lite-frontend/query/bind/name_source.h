#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/query/bind/access.h"
#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bind/scope.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/resolve.h"

namespace swizzle::sql {

struct RowIdentityFunctions;

/// The session's knowledge that binding needs.
class NameSource {
 public:
  NameSource() = default;
  NameSource(const NameSource&) = delete;
  NameSource& operator=(const NameSource&) = delete;
  virtual ~NameSource() = default;

  /// Finds a table; searches the search path if `schema` is empty. Returns null if there is none.
  virtual TablePtr find_table(std::string_view schema, std::string_view name) = 0;
  virtual TablePtr table(Oid oid) = 0;
  /// Returns the tables with a foreign key to `referenced`.
  virtual std::vector<TablePtr> referencing_tables(Oid referenced) = 0;
  virtual std::string schema_name(Oid schema) = 0;
  virtual bool schema_exists(std::string_view schema) = 0;
  /// Finds a user-defined type, in the same way.
  virtual TypePtr find_user_type(std::string_view schema, std::string_view name) = 0;
  virtual TypePtr user_type(TypeId type) = 0;
  /// A user-defined routine for which the name can stand. If `schema` is empty, the search path is
  /// searched; of routines with the same arguments only the first is found.
  struct FoundRoutine {
    CallablePtr callable;
    /// True if its schema comes before the built-in functions' on the search path.
    bool before_builtin = false;
  };
  virtual std::vector<FoundRoutine> find_routines(std::string_view /*schema*/,
                                                  std::string_view /*name*/) {
    return {};
  }
  virtual CallablePtr routine(Oid /*oid*/) { return nullptr; }
  /// A user-defined operator, found in the same way.
  struct FoundOperator {
    OperatorPtr op;
    bool before_builtin = false;
  };
  virtual std::vector<FoundOperator> find_operators(std::string_view /*schema*/,
                                                    std::string_view /*name*/) {
    return {};
  }
  /// Returns a collation's number; none if there is no such collation.
  virtual Oid find_collation(std::string_view /*schema*/, std::string_view name) {
    return builtin_collation(name).value_or(kNoOid);
  }
  /// Returns the collation for which "default" stands.
  virtual Oid database_collation() { return collation_id::by_default; }
  /// Returns a collation's name without its schema.
  virtual std::string collation_name(Oid collation) { return builtin_collation_name(collation); }
  virtual OperatorPtr made_operator(Oid /*oid*/) { return nullptr; }
  virtual CastPtr made_cast(TypeId /*source*/, TypeId /*target*/) { return nullptr; }
  /// Returns null if there are no user-defined casts.
  virtual const MadeCasts* made_casts() { return nullptr; }
  /// Returns the context for constants that are evaluated during binding.
  virtual SessionContext& context() = 0;
  /// Returns nextval() without the check of privileges.
  virtual const Function& identity_numbers() = 0;
  /// Returns the functions behind ctid and xmax.
  virtual const RowIdentityFunctions& row_identity_functions() = 0;
  virtual std::string current_database() = 0;
  /// Returns true if a reference to the table is replaced by its query: if it is a view.
  virtual bool expands(const Table& table) { return table.relation.kind == RelationKind::view; }
  /// Returns true if it is a materialized view that is being refreshed, and so may be written.
  virtual bool refreshes(const Table& /*table*/) { return false; }
  /// For the planner: statistics() returns the results of ANALYZE, or null; planner_allows() tells
  /// if an enable_… setting allows a step.
  virtual StatisticsPtr statistics(const Table& /*table*/) { return nullptr; }
  virtual bool planner_allows(std::string_view /*setting*/) { return true; }
  /// Sends the client a warning.
  // An override keeps the text.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void warn(SqlState /*state*/, std::string /*message*/) {}
  /// Called when text is compared under the collation: warns the client once if the library has
  /// changed since the collation was made.
  virtual void note_use(Oid /*collation*/) {}
  /// Returns true if the table's policies decide which rows `role`, or the session's user (kNoOid),
  /// sees and may write. Throws 42501 if they would and row_security is off.
  virtual bool applies_policies(const Table& /*table*/, Oid /*role*/) { return false; }
  /// Returns true if the policy applies to the role.
  virtual bool is_for(const Policy& /*policy*/, Oid /*role*/) { return false; }
  /// Returns false for an index that was built after the session's snapshot was taken, since it may
  /// lack rows of the snapshot.
  virtual bool may_read(const IndexAccess& /*index*/) { return true; }
};

/// Warns that a precision above 6 of a time or interval is reduced to 6.
void warn_of_precision(NameSource& names, TypeId type, std::int32_t precision);

}  // namespace swizzle::sql
