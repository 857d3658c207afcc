#include "sql-lite-frontend/catalog/facts.h"

#include <algorithm>

#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

#include "sql-lite-frontend/catalog/facts.inc"

}  // namespace

std::span<const RelationFacts> relation_facts() noexcept {
  return kRelationFacts;
}

std::span<const ColumnFacts> columns_of(const RelationFacts& relation) noexcept {
  return std::span{kColumnFacts}.subspan(relation.first_column, relation.column_count);
}

const TypeFunctions* type_functions(TypeId type) noexcept {
  const auto* found = std::ranges::lower_bound(kTypeFunctions, type, {}, &TypeFunctions::type);
  return found != std::end(kTypeFunctions) && found->type == type ? found : nullptr;
}

std::span<const FunctionName> internal_function_names() noexcept {
  return kFunctionNames;
}

std::span<const OperatorClass> operator_classes() noexcept {
  return kOperatorClasses;
}

Oid operator_class(TypeId type, std::string_view name) noexcept {
  // varchar has no operator class of its own: it is compared as text.
  if (const TypeId other = value_type(type).operators_of; other != TypeId::none) type = other;
  if (name == "varchar_ops") name = "text_ops";
  for (const OperatorClass& candidate : kOperatorClasses) {
    if (name.empty() ? candidate.is_default && candidate.type == type : candidate.name == name) {
      return candidate.oid;
    }
  }
  return kNoOid;
}

}  // namespace swizzle::sql
