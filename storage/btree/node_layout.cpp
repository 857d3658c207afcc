#include "storage/btree/node_layout.h"

#include "storage/btree/node.h"

namespace swizzle {

PageLayout node_layout() noexcept {
  return {[](std::byte* page, PageLayout::RefVisitor visit, void* context) {
    Node::of(page).for_each_ref([&](PageRef* reference) { visit(context, reference); });
  }};
}

}  // namespace swizzle
