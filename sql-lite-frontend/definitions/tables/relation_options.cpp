#include "sql-lite-frontend/definitions/tables/relation_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

bool boolean_of(std::string_view name, std::string_view value) {
  try {
    return parse_boolean(value);
  } catch (const SqlError&) {
    throw_error(sqlstate::invalid_parameter_value, "invalid value for boolean option \"{}\": {}",
                name, value);
  }
}

/// Bounds of a storage parameter of tables; of integers and of others.
struct NumberOption {
  std::string_view name;
  bool is_integer;
  double least;
  double most;
};
constexpr double kMostInteger = std::numeric_limits<std::int32_t>::max();
constexpr NumberOption kNumberOptions[] = {
    {"fillfactor", true, 10, 100},
    {"toast_tuple_target", true, 128, 8160},
    {"parallel_workers", true, 0, 1024},
    {"autovacuum_vacuum_threshold", true, 0, kMostInteger},
    {"autovacuum_vacuum_max_threshold", true, -1, kMostInteger},
    {"autovacuum_vacuum_insert_threshold", true, -1, kMostInteger},
    {"autovacuum_analyze_threshold", true, 0, kMostInteger},
    {"autovacuum_vacuum_cost_limit", true, 1, 10'000},
    {"autovacuum_freeze_min_age", true, 0, 1e9},
    {"autovacuum_multixact_freeze_min_age", true, 0, 1e9},
    {"autovacuum_freeze_max_age", true, 1e5, 2e9},
    {"autovacuum_multixact_freeze_max_age", true, 1e4, 2e9},
    {"autovacuum_freeze_table_age", true, 0, 2e9},
    {"autovacuum_multixact_freeze_table_age", true, 0, 2e9},
    {"log_autovacuum_min_duration", true, -1, kMostInteger},
    {"autovacuum_vacuum_cost_delay", false, -1, 100},
    {"autovacuum_vacuum_scale_factor", false, 0, 100},
    {"autovacuum_vacuum_insert_scale_factor", false, 0, 100},
    {"autovacuum_analyze_scale_factor", false, 0, 100},
    {"vacuum_max_eager_freeze_failure_rate", false, 0, 1},
};
constexpr std::string_view kBooleanOptions[] = {"autovacuum_enabled", "user_catalog_table",
                                                "vacuum_truncate"};

void check_number(const NumberOption& option, const std::string& value) {
  double number = 0;
  try {
    // Integers are rounded.
    number = parse_float8(value);
  } catch (const SqlError&) {
    throw_error(sqlstate::invalid_parameter_value, "invalid value for {} option \"{}\": {}",
                option.is_integer ? "integer" : "floating point", option.name, value);
  }
  const double rounded = option.is_integer ? std::nearbyint(number) : number;
  if (rounded >= option.least && rounded <= option.most) return;
  const int digits = option.is_integer ? 0 : 6;
  throw sql_error(sqlstate::invalid_parameter_value, "value {} out of bounds for option \"{}\"",
                  value, option.name)
      .with_detail(fmt::format("Valid values are between \"{:.{}f}\" and \"{:.{}f}\".",
                               option.least, digits, option.most, digits));
}

void check_storage_option(const ast::DefElem& option, const std::string& value) {
  const std::string_view name = option.defname;
  if (!option.defnamespace.empty() && option.defnamespace != "toast") {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter namespace \"{}\"",
                std::string_view{option.defnamespace});
  }
  constexpr std::string_view kOfTablesAlone[] = {
      "fillfactor",         "toast_tuple_target",           "parallel_workers",
      "user_catalog_table", "autovacuum_analyze_threshold", "autovacuum_analyze_scale_factor"};
  if (option.defnamespace == "toast" &&
      std::ranges::find(kOfTablesAlone, name) != std::end(kOfTablesAlone)) {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter \"{}\"", name);
  }
  if (const auto* const number = std::ranges::find(kNumberOptions, name, &NumberOption::name);
      number != std::end(kNumberOptions)) {
    return check_number(*number, value);
  }
  if (std::ranges::find(kBooleanOptions, name) != std::end(kBooleanOptions)) {
    static_cast<void>(boolean_of(name, value));
    return;
  }
  if (name != "vacuum_index_cleanup") {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter \"{}\"", name);
  }
  constexpr std::string_view kCleanups[] = {"auto", "on", "off", "true", "false",
                                            "yes",  "no", "1",   "0"};
  if (std::ranges::find(kCleanups, value) == std::end(kCleanups)) {
    throw sql_error(sqlstate::invalid_parameter_value,
                    "invalid value for enum option \"vacuum_index_cleanup\": {}", value)
        .with_detail("Valid values are \"on\", \"off\", and \"auto\".");
  }
}

void check_view_option(std::string_view name, std::string_view value) {
  if (name == "check_option") {
    if (value == "local" || value == "cascaded") return;
    throw sql_error(sqlstate::invalid_parameter_value,
                    "invalid value for enum option \"check_option\": {}", value)
        .with_detail("Valid values are \"local\" and \"cascaded\".");
  }
  if (name != "security_invoker" && name != "security_barrier") {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter \"{}\"", name);
  }
  static_cast<void>(boolean_of(name, value));
}

std::string_view name_of(std::string_view option) {
  return option.substr(0, option.find('='));
}

}  // namespace

std::string storage_option_text(const ast::DefElem& option) {
  return option.arg == nullptr ? "true" : option_text(option);
}

bool boolean_option(const ast::DefElem& option) {
  return boolean_of(option.defname, storage_option_text(option));
}

std::vector<std::string> storage_options(ast::NodeList options, OptionsOf what) {
  std::vector<std::string> list;
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (what == OptionsOf::new_table && option.defname == "oids" && option.defnamespace.empty()) {
      // Old dumps contain oids=false, which is accepted and ignored.
      if (!boolean_option(option)) continue;
      throw SqlError{sqlstate::feature_not_supported,
                     "tables declared WITH OIDS are not supported"};
    }
    std::string value = storage_option_text(option);
    check_storage_option(option, value);
    // There is no TOAST table to have these.
    if (option.defnamespace == "toast") continue;
    const std::string_view name = option.defname;
    if (std::ranges::find(list, name, &name_of) != list.end()) {
      throw_error(sqlstate::invalid_parameter_value, "parameter \"{}\" specified more than once",
                  name);
    }
    list.push_back(std::string{name} + "=" + value);
  }
  return list;
}

void require_known_tablespace(std::string_view name) {
  if (name.empty() || name == "pg_default") return;
  throw_error(sqlstate::undefined_object, "tablespace \"{}\" does not exist", name);
}

void require_heap(std::string_view access_method) {
  if (access_method.empty() || access_method == "heap") return;
  throw_error(sqlstate::undefined_object, "access method \"{}\" does not exist", access_method);
}

std::vector<std::string> view_options(ast::NodeList options) {
  std::vector<std::string> list;
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    const std::string name{option.defname};
    const std::string value = storage_option_text(option);
    check_view_option(name, value);
    if (std::ranges::find(list, name, &name_of) != list.end()) {
      throw_error(sqlstate::invalid_parameter_value, "parameter \"{}\" specified more than once",
                  name);
    }
    list.push_back(name + "=" + value);
  }
  return list;
}

void set_options(std::vector<std::string>& options, std::vector<std::string> changed) {
  for (std::string& option : changed) {
    std::erase_if(options, [&](const std::string& old) { return name_of(old) == name_of(option); });
    options.push_back(std::move(option));
  }
}

void reset_options(std::vector<std::string>& options, ast::NodeList names) {
  for (const ast::Node* node : names) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.arg != nullptr) {
      throw SqlError{sqlstate::syntax_error, "RESET must not include values for parameters"};
    }
    const std::string_view name = option.defname;
    std::erase_if(options, [&](const std::string& old) { return name_of(old) == name; });
  }
}

}  // namespace swizzle::sql
