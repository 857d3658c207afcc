#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"

namespace swizzle::sql {

/// Returns the behaviour of a user-defined dictionary. Throws SqlError if its template does not
/// understand its options.
TextDictionary text_dictionary_of(const UserTextDictionary& made);

/// Returns the options as pg_ts_dict shows them: "language = 'english', accept = 1".
std::string shown_options(const UserTextDictionary& made);

/// "dictionary" and "configuration", as messages have it after "text search".
constexpr std::string_view text_search_kind(const UserTextDictionary*) noexcept {
  return "dictionary";
}
constexpr std::string_view text_search_kind(const UserTextConfig*) noexcept {
  return "configuration";
}

}  // namespace swizzle::sql
