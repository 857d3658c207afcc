#pragma once

#include <string_view>

#include "base/invariant.h"
#include "sql-lite-frontend/parse/ast_nodes.h"

namespace swizzle::sql::ast {

template <class T>
bool is(const Node* node) noexcept {
  return node != nullptr && node->node_kind == T::kKind;
}

/// Null when the node is of another kind, or null itself.
template <class T>
const T* try_as(const Node* node) noexcept {
  return is<T>(node) ? static_cast<const T*>(node) : nullptr;
}

/// Pre: the node is a T.
template <class T>
const T& as(const Node* node) noexcept {
  INVARIANT(is<T>(node));
  return *static_cast<const T*>(node);
}

/// The text of a String node.
inline std::string_view string_of(const Node* node) noexcept {
  return as<String>(node).sval;
}

}  // namespace swizzle::sql::ast
