// pg_largeobject and pg_largeobject_metadata.
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/large_objects.h"

namespace swizzle::sql {

void large_object_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const LargeObject& object : large_objects_of(session).all(*session.transaction)) {
    const Value row[] = {Value::from_oid(object.oid), Value::from_oid(object.owner),
                         acl_value(execution, object.grants)};
    emit(row);
  }
}

void large_object_page_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  large_objects_of(session).visit_pages(*session.transaction, [&](const LargeObjects::Page& page) {
    const Value row[] = {Value::from_oid(page.object), Value::from_int(page.number),
                         Value::from_bytes(page.data)};
    emit(row);
  });
}

}  // namespace swizzle::sql
