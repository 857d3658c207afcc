#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/query/parse/printed_statement.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
std::string view_query_text(const Statement& whole, const ast::RangeVar& name) {
  std::string text = printed_view_query(whole.text(), whole.location, name.location);
  if (text.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "this view's query cannot be stored"};
  }
  return text;
}

}  // namespace swizzle::sql
