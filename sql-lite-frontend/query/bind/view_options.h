#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

/// Returns true if a view was made WITH (name) or (name = true).
inline bool has_view_option(const Relation& view, std::string_view name) {
  for (const std::string& option : view.options) {
    const std::string_view text = option;
    const std::size_t equals = text.find('=');
    if (text.substr(0, equals) == name) return parse_boolean(text.substr(equals + 1));
  }
  return false;
}

}  // namespace swizzle::sql
