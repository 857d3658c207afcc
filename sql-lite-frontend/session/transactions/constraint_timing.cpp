#include <algorithm>

#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"

/// When constraints are checked: SET CONSTRAINTS, and the checks that were put off.
namespace swizzle::sql {

void SessionTransaction::defer(const DeferredCheck& check) {
  require_unrestricted(session_, "fire deferred trigger");
  deferred_.add(session_.memory, check);
}

void SessionTransaction::run_deferred_checks(std::span<const Oid> constraints) {
  if (deferred_.empty()) return;
  const auto check_one = [&](const DeferredCheck& check) {
    run_deferred_check(session_, session_.names, check);
  };
  // A trigger's function may have deferred more checks.
  while (deferred_.run(constraints, check_one)) {
  }
}

void SessionTransaction::forget_deferred_checks() noexcept {
  deferred_.clear();
  constraint_modes_ = {};
}

namespace {

/// Adds those that partitions have because of constraints in the list.
void add_those_of_partitions(std::span<const TablePtr> tables, std::vector<Oid>& constraints) {
  const auto has = [&](Oid constraint) {
    return std::ranges::find(constraints, constraint) != constraints.end();
  };
  for (bool grew = !constraints.empty(); grew;) {
    grew = false;
    for (const TablePtr& table : tables) {
      if (!table->relation.is_partition()) continue;
      for (const Constraint& constraint : table->relation.constraints) {
        if (!has(constraint.parent) || has(constraint.oid)) continue;
        constraints.push_back(constraint.oid);
        grew = true;
      }
    }
  }
}

/// Returns the deferrable constraints of that name: those of the given schema, or of the first
/// schema of the search path that has any.
std::vector<Oid> constraints_named(Session::State& session, const ast::RangeVar& name,
                                   bool to_be_deferred) {
  if (!name.catalogname.empty() && name.catalogname != session.names.current_database()) {
    throw_error(sqlstate::feature_not_supported,
                "cross-database references are not implemented: \"{}.{}.{}\"", name.catalogname,
                name.schemaname, name.relname);
  }
  std::vector<Oid> schemas = session.names.search_path();
  if (!name.schemaname.empty()) schemas = {session.names.schema_named(name.schemaname)};
  // Reads all relations: there is no index of constraints by name.
  const std::vector<TablePtr> tables = session.catalog.tables();
  for (const Oid schema : schemas) {
    bool found = false;
    std::vector<Oid> deferrable;
    for (const TablePtr& table : tables) {
      if (table->relation.schema != schema) continue;
      const auto take = [&](bool is_deferrable, Oid constraint) {
        if (!is_deferrable && to_be_deferred) {
          throw_error(sqlstate::wrong_object_type, "constraint \"{}\" is not deferrable",
                      name.relname);
        }
        found = true;
        if (is_deferrable) deferrable.push_back(constraint);
      };
      if (const Constraint* constraint = table->constraint_named(name.relname)) {
        take(constraint->deferrable, constraint->oid);
      }
      for (const Trigger& trigger : table->relation.triggers) {
        if (trigger.constraint == kNoOid || trigger.name != name.relname) continue;
        take(trigger.deferrable, trigger.constraint);
      }
    }
    if (!found) continue;
    add_those_of_partitions(tables, deferrable);
    return deferrable;
  }
  throw_error(sqlstate::undefined_object, "constraint \"{}\" does not exist", name.relname);
}

}  // namespace

void SessionTransaction::set_constraints(const ast::ConstraintsSetStmt& modes, ResultSink& sink) {
  if (!in_block()) {
    session_.notice(sink, Severity::warning, SqlState{"25P01"},
                    "SET CONSTRAINTS can only be used in transaction blocks");
  }
  std::vector<Oid> named;
  for (const ast::Node* name : modes.constraints) {
    const auto found = constraints_named(session_, ast::as<ast::RangeVar>(name), modes.deferred);
    named.insert(named.end(), found.begin(), found.end());
  }
  if (modes.constraints.empty()) {
    constraint_modes_ = {.all_deferred = modes.deferred, .deferred = {}};
  }
  for (const Oid constraint : named) constraint_modes_.deferred[constraint] = modes.deferred;
  const bool checks = !modes.deferred && (modes.constraints.empty() || !named.empty());
  if (checks) run_deferred_checks(named);
}

}  // namespace swizzle::sql
