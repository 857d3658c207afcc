#include "storage/buffer/page_layout.h"

#include "storage/buffer/frame.h"

namespace swizzle {

void unswizzle_copy(const PageLayout& layout, std::byte* copy) noexcept {
  layout.visit_refs(
      copy,
      [](void* /*context*/, PageRef* reference) {
        const PageRef ref = load_ref(reference);
        if (ref.is_swizzled()) store_ref(reference, PageRef{ref.frame()->page_id()});
      },
      nullptr);
}

}  // namespace swizzle
