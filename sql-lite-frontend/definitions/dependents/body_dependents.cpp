#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/routines/routine_builder.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Columns that atomic bodies of routines use.
namespace swizzle::sql {
namespace {

/// Estimated cost of parsing and binding a body; there may be thousands of routines.
constexpr std::size_t kWorkOfBody = 100'000;

}  // namespace

std::vector<BodyColumn> columns_of_body(StatementContext& session, const RoutinePtr& routine) {
  std::vector<BodyColumn> found;
  if (routine->form != BodyForm::atomic) return found;
  yield_point(kWorkOfBody);
  const auto add = [&](const Table& table, std::span<const std::size_t> positions) {
    for (const std::size_t position : positions) {
      const BodyColumn column{table.relation.oid, position};
      if (std::ranges::find(found, column) == found.end()) found.push_back(column);
    }
  };
  try {
    bind_body(session, *routine, body_names(routine), [&](const BodyPart&, Binder& binder) {
      for (const RelationAccess& access : binder.accesses()) {
        // Relations behind a view are the view's.
        if (access.as_role != kNoOid) continue;
        for (const auto& positions : {access.read, access.inserted, access.updated}) {
          add(*access.table, positions);
        }
      }
    });
  } catch (const SqlError&) {
    // The text is not valid at present.
  }
  return found;
}

void add_routines_over_column(StatementContext& session, const Table& table, std::size_t position,
                              const std::string& on, std::vector<Dependent>& list) {
  const BodyColumn column{table.relation.oid, position};
  for (const RoutinePtr& routine : session.catalog.naming<Routine>({column.relation})) {
    const std::vector<BodyColumn> used = columns_of_body(session, routine);
    if (std::ranges::find(used, column) != used.end()) add_routine(session, *routine, on, list);
  }
}

}  // namespace swizzle::sql
