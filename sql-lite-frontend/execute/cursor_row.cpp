#include "sql-lite-frontend/execute/cursor_row.h"

#include "sql-lite-frontend/bound/session_services.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

bool CursorRow::next(Execution& execution) {
  if (done_) return false;
  done_ = true;
  key_ = cursor_row_key(execution.session, cursor_, *table_);
  if (!value_of(tree_.get(*execution.transaction, key(), row_))) return false;
  found(execution, row_.bytes());
  return true;
}

PlanNote CursorRow::note(ExprPrinter::Columns /*columns*/) const {
  return {"Tid Scan " + table_title(), {{"TID Cond", "CURRENT OF " + quote_identifier(cursor_)}}};
}

}  // namespace swizzle::sql
