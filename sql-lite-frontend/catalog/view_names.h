#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/oid.h"

/// Meanings of the names in a stored query when it was stored: of a view, a policy, an atomic body.
namespace swizzle::sql {

/// Meaning of a name in a view's text when the view was made: that relation, under the names that
/// its columns had then. Thus renaming below the view, or adding columns, does not change the view.
struct ViewColumn {
  std::int16_t number = 0;
  std::string name;
};
struct ViewName {
  std::string schema;  ///< as written, perhaps empty
  std::string name;
  Oid relation = kNoOid;
  std::vector<ViewColumn> columns;
};

/// The same for a user-defined type, or a collation; numbers below kCollations are collations.
struct ViewType {
  std::string schema;  ///< as written, perhaps empty
  std::string name;
  Oid type = kNoOid;
};

/// The same for a routine, since several may have one name. Also for a user-defined operator or
/// cast, and for the object of a constant of regconfig or regdictionary, whose names begin with a
/// mark (kNoRoutine).
struct ViewRoutine {
  std::string schema;  ///< as written, perhaps empty
  std::string name;
  Oid routine = kNoOid;
};

}  // namespace swizzle::sql
