#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Returns the result of `show`, or the stored text if the definition cannot be read or bound, so
/// that a list of definitions does not fail because of one.
template <class Show>
std::string or_stored_text(std::string_view stored, const Show& show) {
  try {
    return show();
  } catch (const SqlError& error) {
    if (!is_about_definition(error.state())) throw;
    return std::string{stored};
  }
}

}  // namespace swizzle::sql
