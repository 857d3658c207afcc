#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/ast.h"

/// WITH (…) of tables, indexes and views, as pg_class shows it: "fillfactor=90".
namespace swizzle::sql {

enum class OptionsOf : std::uint8_t { anything, new_table };
/// Storage parameters are checked, stored and shown, but have no effect; those of a TOAST table,
/// which does not exist, are checked alone. Throws 22023 for unknown ones.
std::vector<std::string> storage_options(ast::NodeList options,
                                         OptionsOf what = OptionsOf::anything);

/// Throws 42704 unless the name is empty or that of the only tablespace or table access method.
void require_known_tablespace(std::string_view name);
void require_heap(std::string_view access_method);

std::vector<std::string> view_options(ast::NodeList options);

/// Returns a parameter's value as written; "true" if it has none.
std::string storage_option_text(const ast::DefElem& option);
/// Throws 22023 if the value is not a boolean.
bool boolean_option(const ast::DefElem& option);

/// ALTER … SET: each option replaces the one with the same name.
void set_options(std::vector<std::string>& options, std::vector<std::string> changed);
/// ALTER … RESET.
void reset_options(std::vector<std::string>& options, ast::NodeList names);

}  // namespace swizzle::sql
