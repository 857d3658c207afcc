#pragma once

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// Conditions under which a session found a plan valid or permitted: the state of the catalog, and
/// the role that the session acted as. SECURITY DEFINER routines and the actions of foreign keys
/// change the role in the middle of a statement. Every cache that remembers a permission, or what
/// a name meant, compares the whole stamp.
struct RoleStamp {
  CatalogView::Stamp catalog;
  Oid role = kNoOid;
  friend bool operator==(const RoleStamp&, const RoleStamp&) = default;
};

}  // namespace swizzle::sql
