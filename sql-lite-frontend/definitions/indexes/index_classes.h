#pragma once

#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/type_id.h"

/// Operator classes in definitions of indexes and partition keys. A class orders as the default
/// class of its type, except for the pattern classes, so its name is only checked.
namespace swizzle::sql {

/// Throws 42704 if btree has no class of that name, 42804 if the class is not for the type.
void require_btree_class(std::string_view name, TypeId type);
/// Throws 0A000 for a pattern class over a nondeterministic collation: it compares by bytes.
void refuse_pattern_class(const IndexColumn& column);
/// Throws 22023 for options of the class: no class has options.
void refuse_class_options(const ast::IndexElem& element, TypeId type);

}  // namespace swizzle::sql
