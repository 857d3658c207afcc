#pragma once

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// Conditions under which a session found a plan valid or permitted: the catalog's state and the
/// current role. SECURITY DEFINER routines and actions of foreign keys change the role in the
/// middle of a statement. Every cache of permissions or name meanings compares the whole stamp.
struct RoleStamp {
  CatalogView::Stamp catalog;
  Oid role = kNoOid;
  friend bool operator==(const RoleStamp&, const RoleStamp&) = default;
};

}  // namespace swizzle::sql
