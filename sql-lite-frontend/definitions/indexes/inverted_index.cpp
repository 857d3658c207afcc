#include "sql-lite-frontend/definitions/indexes/inverted_index.h"

#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw_error(sqlstate::feature_not_supported, "access method \"gin\" does not support {}", what);
}

void check_inverted_option(const ast::DefElem& option) {
  if (option.defname == "fastupdate") {
    static_cast<void>(boolean_option(option));
    return;
  }
  if (option.defname != "gin_pending_list_limit") {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter \"{}\"", option.defname);
  }
  const auto* integer = ast::try_as<ast::Integer>(option.arg);
  if (integer == nullptr) {
    throw_error(sqlstate::invalid_parameter_value, "invalid value for integer option \"{}\": {}",
                option.defname, storage_option_text(option));
  }
  if (integer->ival < 64) {
    throw sql_error(sqlstate::invalid_parameter_value, "value {} out of bounds for option \"{}\"",
                    integer->ival, option.defname)
        .with_detail("Valid values are between \"64\" and \"2147483647\".");
  }
}

}  // namespace

void check_inverted_index(const ast::IndexStmt& statement) {
  if (statement.unique) refuse("unique indexes");
  if (!statement.index_including_params.empty()) refuse("included columns");
}

void check_inverted_column(const ast::IndexElem& element) {
  if (element.ordering != ast::SortByDir::default_) refuse("ASC/DESC options");
  if (element.nulls_ordering != ast::SortByNulls::default_) refuse("NULLS FIRST/LAST options");
}

std::string element_class_name(StatementContext& session, TypeId type, std::string_view name) {
  const ElementClassInfo* found = find_element_class(type, name);
  const bool is_here = found == nullptr || found->extension.empty() ||
                       session.catalog.extension(found->extension) != nullptr;
  if (!is_here) found = nullptr;
  if (found == nullptr && !name.empty()) {
    throw_error(sqlstate::undefined_object,
                "operator class \"{}\" does not exist for access method \"gin\"", name);
  }
  if (found == nullptr) {
    throw sql_error(sqlstate::undefined_object,
                    "data type {} has no default operator class for access method \"gin\"",
                    format_type(type))
        .with_hint(
            "You must specify an operator class for the index or define a default operator class "
            "for the data type.");
  }
  if (!takes_apart(*found, type)) {
    throw_error(sqlstate::datatype_mismatch, "operator class \"{}\" does not accept data type {}",
                name, format_type(type));
  }
  const TypeId element = element_type(base_type(type));
  if (found->id == ElementClass::array && !is_indexable(element)) {
    throw_error(sqlstate::undefined_function,
                "could not identify a comparison function for type {}", format_type(element));
  }
  return found->is_default ? std::string{} : std::string{name};
}

void check_index_options(IndexMethod method, ast::NodeList options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = ast::as<ast::DefElem>(options[i]);
    if (method == IndexMethod::inverted) {
      check_inverted_option(option);
    } else if (method == IndexMethod::tree && option.defname == "deduplicate_items") {
      static_cast<void>(boolean_option(option));
    } else {
      static_cast<void>(storage_options(options.subspan(i, 1)));
    }
  }
}

}  // namespace swizzle::sql
