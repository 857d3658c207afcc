#pragma once

#include <cstddef>

#include "storage/buffer/page_ref.h"

namespace swizzle {

/// The pool's knowledge of its pages' references, independent of trees.
struct PageLayout {
  using RefVisitor = void (*)(void* context, PageRef* reference);
  /// Calls `visit` for every reference in the page. Pre: the page is held.
  void (*visit_refs)(std::byte* page, RefVisitor visit, void* context);
};

/// Replaces the addresses in a copied page by page ids. Pre: the original is held, so that the
/// frames it refers to do not change their page.
void unswizzle_copy(const PageLayout& layout, std::byte* copy) noexcept;

}  // namespace swizzle
