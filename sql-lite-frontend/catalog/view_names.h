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

/// The same for a type that a user made, or a collation, whose number is below kCollations.
struct ViewType {
  std::string schema;  ///< as written, perhaps empty
  std::string name;
  Oid type = kNoOid;
};

/// And for a routine, under whose name there may be several; for an operator or a cast that users
/// made, and for what a constant of regconfig or regdictionary names, behind a word that says so.
struct ViewRoutine {
  std::string schema;  ///< as written, perhaps empty
  std::string name;
  Oid routine = kNoOid;
};

}  // namespace swizzle::sql
