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

/// The session's knowledge for binding.
class NameSource {
 public:
  NameSource() = default;
  NameSource(const NameSource&) = delete;
  NameSource& operator=(const NameSource&) = delete;
  virtual ~NameSource() = default;

  /// Searches the search path when `schema` is empty. Null when there is none.
  virtual TablePtr find_table(std::string_view schema, std::string_view name) = 0;
  virtual TablePtr table(Oid oid) = 0;
  /// Returns the tables with a foreign key to `referenced`.
  virtual std::vector<TablePtr> referencing_tables(Oid referenced) = 0;
  virtual std::string schema_name(Oid schema) = 0;
  virtual bool schema_exists(std::string_view schema) = 0;
  /// Finds user-defined types, like relations.
  virtual TypePtr find_user_type(std::string_view schema, std::string_view name) = 0;
  virtual TypePtr user_type(TypeId type) = 0;
  /// A user-defined routine that the name can mean, along the search path when `schema` is empty:
  /// of those with the same arguments only the first.
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
  /// A user-defined operator, in the same way.
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
  /// Returns the meaning of "default".
  virtual Oid database_collation() { return collation_id::by_default; }
  /// Returns its bare name.
  virtual std::string collation_name(Oid collation) { return builtin_collation_name(collation); }
  virtual OperatorPtr made_operator(Oid /*oid*/) { return nullptr; }
  virtual CastPtr made_cast(TypeId /*source*/, TypeId /*target*/) { return nullptr; }
  /// Null: there are no user-defined casts.
  virtual const MadeCasts* made_casts() { return nullptr; }
  /// For constants that are evaluated while binding.
  virtual SessionContext& context() = 0;
  /// nextval() without its privileges.
  virtual const Function& identity_numbers() = 0;
  /// Functions behind ctid and xmax.
  virtual const RowIdentityFunctions& row_identity_functions() = 0;
  virtual std::string current_database() = 0;
  /// True if a reference to the table is replaced by its query: it is a view.
  virtual bool expands(const Table& table) { return table.relation.kind == RelationKind::view; }
  /// True if it is a materialized view that is being refreshed, and so may be written.
  virtual bool refreshes(const Table& /*table*/) { return false; }
  /// For the planner: the results of ANALYZE, or null, and whether an enable_… setting allows a
  /// step.
  virtual StatisticsPtr statistics(const Table& /*table*/) { return nullptr; }
  virtual bool planner_allows(std::string_view /*setting*/) { return true; }
  /// Tells the client of something that is no error.
  // An override keeps the text.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void warn(SqlState /*state*/, std::string /*message*/) {}
  /// Called when text is compared under it: warns the client once if the library has changed since
  /// it was made.
  virtual void note_use(Oid /*collation*/) {}
  /// True if the table's policies decide which rows `role`, or the session's user (kNoOid), sees
  /// and may write. Throws 42501 if they would and row_security is off.
  virtual bool heeds_policies(const Table& /*table*/, Oid /*role*/) { return false; }
  /// True if the policy is for the role.
  virtual bool is_for(const Policy& /*policy*/, Oid /*role*/) { return false; }
  /// False for an index that was built later than the session's snapshot, whose rows it may lack.
  virtual bool may_read(const IndexAccess& /*index*/) { return true; }
};

/// Warns that a time's or interval's precision above 6 is 6.
void warn_of_precision(NameSource& names, TypeId type, std::int32_t precision);

}  // namespace swizzle::sql
