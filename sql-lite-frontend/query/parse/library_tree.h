#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "sql-lite-frontend/query/parse/ast_nodes.h"
#include "sql-lite-frontend/query/parse/links.h"
#include "sql-lite-frontend/types/arena.h"

// The parser library's headers, which define PostgreSQL's nodes. Include this after all other
// headers, because they define macros.
// clang-format off: postgres.h must come first.
extern "C" {
#include <pg_query.h>
#include <pg_query_internal.h>
#include <nodes/parsenodes.h>
}
// clang-format on
// A macro of theirs that is an enumerator of ours.
#undef restrict

namespace swizzle::sql::ast {

/// Copies the parser library's nodes into an arena as our nodes. The generated ast_copy.cpp copies
/// each kind field by field.
class TreeCopy {
 public:
  explicit TreeCopy(Arena& arena) noexcept : arena_(arena) {}

  /// Throws SqlError 54001 when the tree is nested too deeply for the stack.
  Items<RawStmt> statements(const ::List* list) { return children<RawStmt>(list); }
  /// Nesting depth of the copied tree.
  [[nodiscard]] std::size_t levels() const noexcept { return levels_; }

 private:
  auto one_deeper(auto copying) {
    levels_ = std::max(levels_, ++depth_);
    const auto* const made = copying();
    --depth_;
    return made;
  }

  const Node* node(const void* from) {
    if (from == nullptr) return nullptr;
    return one_deeper([&] { return copy_of_kind(from); });
  }
  const Node* copy_of_kind(const void* from);

  /// `part`: a node, or a pointer to one.
  template <class T>
  const T* nested(const auto& part) {
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(part)>>) {
      return part == nullptr ? nullptr : one_deeper([&] { return copy<T>(*part); });
    } else {
      return copy<T>(part);
    }
  }

  template <class T>
  Items<T> children(const ::List* list) {
    if (list == nullptr) return {};
    const auto count = static_cast<std::size_t>(list->length);
    const T** const items = arena_.allocate_array<const T*>(count);
    for (std::size_t i = 0; i < count; ++i) {
      items[i] = static_cast<const T*>(node(list->elements[i].ptr_value));
    }
    return {items, count};
  }

  std::string_view text(const char* from) {
    return from == nullptr ? std::string_view{} : arena_.copy(std::string_view{from});
  }
  std::string_view text(char letter) {
    return letter == '\0' ? std::string_view{} : arena_.copy(std::string_view{&letter, 1});
  }

  template <class T>
  T* create() {
    T* const made = new (arena_.allocate(sizeof(T), alignof(T))) T{};
    if constexpr (requires { T::kKind; }) made->node_kind = T::kKind;
    return made;
  }

  /// Specialized in ast_copy.cpp for each kind of node that the grammar makes.
  template <class T, class From>
  const T* copy(const From& from);

  Arena& arena_;
  std::size_t depth_ = 0;
  std::size_t levels_ = 0;
};

}  // namespace swizzle::sql::ast
