#include "sql-lite-frontend/definitions/indexes/index_classes.h"

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// True if the class is for the type, or for the kind or base that the type is compared as.
bool is_class_for(const OperatorClass& known, TypeId type) {
  switch (known.type) {
    case TypeId::anyarray:
      return is_array(type);
    case TypeId::anyenum:
      return is_enum(type);
    case TypeId::anyrange:
      return range_subtype(type) != TypeId::none;
    case TypeId::anymultirange:
      return range_of_multirange(type) != TypeId::none;
    case TypeId::bpchar:
      // A text is a character value without padding.
      return type == TypeId::bpchar || type == TypeId::text || type == TypeId::varchar;
    case TypeId::record:
      return value_type(type).shape == Shape::record;
    default:
      return known.type == type || known.type == value_type(type).operators_of;
  }
}

}  // namespace

void require_btree_class(std::string_view name, TypeId type) {
  const TypeId plain = without_collation(type);
  bool is_known = false;
  for (const OperatorClass& known : operator_classes()) {
    if (known.name != name) continue;
    is_known = true;
    if (is_class_for(known, base_type(plain))) return;
  }
  if (is_known) {
    throw_error(sqlstate::datatype_mismatch, "operator class \"{}\" does not accept data type {}",
                name, format_type(plain));
  }
  throw_error(sqlstate::undefined_object,
              "operator class \"{}\" does not exist for access method \"btree\"", name);
}

void refuse_pattern_class(const IndexColumn& column) {
  if (!column.operator_class.ends_with("_pattern_ops") || !is_nondeterministic(column.collation))
    return;
  throw_error(sqlstate::feature_not_supported,
              "nondeterministic collations are not supported for operator class \"{}\"",
              column.operator_class);
}

void refuse_class_options(const ast::IndexElem& element, TypeId type) {
  if (element.opclassopts.empty()) return;
  std::string_view name;
  if (!element.opclass.empty()) name = ast::string_of(element.opclass.back());
  for (const OperatorClass& known : operator_classes()) {
    const bool is_default = known.is_default && is_class_for(known, base_type(type));
    if (name.empty() && is_default) name = known.name;
  }
  throw_error(sqlstate::invalid_parameter_value, "operator class {} has no options", name);
}

}  // namespace swizzle::sql
