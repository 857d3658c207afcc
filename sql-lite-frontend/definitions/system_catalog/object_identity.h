#pragma once

#include <optional>
#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// An object as pg_identify_object() describes it.
struct ObjectIdentity {
  std::string type;
  std::optional<std::string> schema;
  std::string identity;  ///< empty: there is no such object
};
ObjectIdentity identity_of(StatementContext& session, Oid catalog, Oid object, std::int32_t part);

}  // namespace swizzle::sql
