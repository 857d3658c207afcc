#pragma once

#include <string>

#include "sql-lite-frontend/types/regex/regex_tree.h"

namespace swizzle::sql {

/// An expression in RE2's form.
struct Re2Form {
  std::string text;
  /// It matches the same texts. Otherwise it matches more: RE2 knows neither references to groups
  /// nor looks around, nor the two edges of a word apart.
  bool is_exact = true;
};

enum class Re2Length : bool { longest, shortest };

/// `length`: which match RE2 is to end at, if the expression has several from one place.
Re2Form re2_form(const RegexTree& tree, Re2Length length);

/// True if a text that matches determines where each group is. Then RE2 tells what PostgreSQL does.
bool determines_groups(const RegexTree& tree);

}  // namespace swizzle::sql
