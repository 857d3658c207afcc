#include "sql-lite-frontend/definitions/tables/relation_options.h"

#include <algorithm>
#include <optional>

#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

void check_storage_option(const ast::DefElem& option) {
  const std::string_view name = option.defname;
  const bool known = name == "fillfactor" || name == "parallel_workers" ||
                     name == "user_catalog_table" || name == "toast_tuple_target" ||
                     name.starts_with("autovacuum_") || name.starts_with("vacuum_") ||
                     name == "log_autovacuum_min_duration" || option.defnamespace == "toast";
  if (!known) {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter \"{}\"", name);
  }
  const auto* integer = ast::try_as<ast::Integer>(option.arg);
  if (name == "fillfactor" && integer != nullptr && (integer->ival < 10 || integer->ival > 100)) {
    throw sql_error(sqlstate::invalid_parameter_value,
                    "value {} out of bounds for option \"fillfactor\"", integer->ival)
        .with_detail("Valid values are between \"10\" and \"100\".");
  }
}

bool boolean_of(std::string_view name, std::string_view value) {
  try {
    return parse_boolean(value);
  } catch (const SqlError&) {
    throw_error(sqlstate::invalid_parameter_value, "invalid value for boolean option \"{}\": {}",
                name, value);
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
    check_storage_option(option);
    list.push_back(std::string{option.defname} + "=" + storage_option_text(option));
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
    const std::string_view name = ast::as<ast::DefElem>(node).defname;
    std::erase_if(options, [&](const std::string& old) { return name_of(old) == name; });
  }
}

}  // namespace swizzle::sql
