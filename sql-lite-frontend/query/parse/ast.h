#pragma once

#include <string_view>

#include "sql-lite-frontend/query/parse/ast_nodes.h"

namespace swizzle::sql::ast {

template <class T>
bool is(const Node* node) noexcept {
  return node != nullptr && node->node_kind == T::kKind;
}

/// Returns null when the node is of another kind, or null itself.
template <class T>
const T* try_as(const Node* node) noexcept {
  return is<T>(node) ? static_cast<const T*>(node) : nullptr;
}

/// Pre: there is a node; otherwise throws SqlError XX000.
inline NodeKind kind_of(const Node* node) {
  return Link<Node> {
    node
  } -> node_kind;
}

/// Throws SqlError 42601 for a node that PostgreSQL's grammar does not allow there.
[[noreturn]] void throw_unexpected(const Node* node);

/// Returns the node as a T, which PostgreSQL's grammar guarantees. libpg_query's takes parameters
/// in more places, so it is checked.
template <class T>
const T& as(const Node* node) {
  if (!is<T>(node)) [[unlikely]]
    throw_unexpected(node);
  return *static_cast<const T*>(node);
}

/// Returns the text of a String node.
inline std::string_view string_of(const Node* node) {
  return as<String>(node).sval;
}

}  // namespace swizzle::sql::ast
