#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"

namespace swizzle::sql {

/// What a statement in a routine's body can name besides relations and their columns.
struct BodyNames {
  RoutinePtr routine;
  /// By parameter number from 1; empty where it has no name. Columns of that name come first.
  std::vector<std::string> parameters;
  /// Of an atomic body, what its names meant when it was made; only the `view_…` lists are set.
  std::unique_ptr<const Relation> meanings;
};
using BodyNamesPtr = std::shared_ptr<const BodyNames>;

}  // namespace swizzle::sql
