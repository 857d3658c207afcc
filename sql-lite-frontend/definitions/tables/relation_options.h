#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/ast.h"

/// WITH (…) of tables, indexes and views, as pg_class shows it: "fillfactor=90".
namespace swizzle::sql {

enum class OptionsOf : std::uint8_t { anything, new_table };
/// Storage parameters are checked, kept and shown; nothing acts on them. 22023 for unknown ones.
std::vector<std::string> storage_options(ast::NodeList options,
                                         OptionsOf what = OptionsOf::anything);

/// There is one tablespace and one access method of tables: 42704 for others. Empty names are none.
void require_known_tablespace(std::string_view name);
void require_heap(std::string_view access_method);

std::vector<std::string> view_options(ast::NodeList options);

/// A parameter's value as it was written; "true" where there is none.
std::string storage_option_text(const ast::DefElem& option);
/// 22023 where it is no boolean.
bool boolean_option(const ast::DefElem& option);

/// ALTER … SET: each replaces the one of its name.
void set_options(std::vector<std::string>& options, std::vector<std::string> changed);
/// ALTER … RESET.
void reset_options(std::vector<std::string>& options, ast::NodeList names);

}  // namespace swizzle::sql
