#pragma once

#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/type_id.h"

/// Operator classes that definitions of indexes and partition keys name. Classes order as their
/// types do, so naming one changes nothing but for those of patterns; it has to be one that fits.
namespace swizzle::sql {

/// 42704 where btree has no class of that name, 42804 where it is not for the type.
void require_btree_class(std::string_view name, TypeId type);
/// 22023 where options are given to the class: none of ours has any.
void refuse_class_options(const ast::IndexElem& element, TypeId type);

}  // namespace swizzle::sql
