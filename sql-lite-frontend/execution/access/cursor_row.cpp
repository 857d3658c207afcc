#include "sql-lite-frontend/execution/access/cursor_row.h"

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

bool CursorRow::next(Execution& execution) {
  if (done_) return false;
  done_ = true;
  std::string_view cursor = cursor_;
  if (parameter_) {
    STATEMENT_INVARIANT(*parameter_ < execution.parameters.size());
    const Value name = execution.parameters[*parameter_];
    if (name.is_null()) {
      throw_error(sqlstate::undefined_object, "no value found for parameter {}", *parameter_ + 1);
    }
    cursor = name.as_text();
  }
  key_ = execution.services.cursor_row_key(cursor, *table_);
  if (!value_of(tree_->get(*execution.transaction, key(), row_))) return false;
  found(execution, row_.bytes());
  return true;
}

PlanNote CursorRow::note(ExprPrinter::Columns /*columns*/) const {
  return {"Tid Scan " + table_title(), {{"TID Cond", "CURRENT OF " + quote_identifier(cursor_)}}};
}

}  // namespace swizzle::sql
