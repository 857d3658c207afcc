#include "storage/buffer/compare/main_memory_pool.h"

namespace swizzle {

Result<> MainMemoryPool::resolve(Referrer& /*parent*/, ReadGuard& guard, PageRef* /*at*/,
                                 PageRef /*ref*/, Interest /*interest*/) {
  guard.release();
  return fail(sqlstate::internal_error, "a page of a main-memory tree is not in memory");
}

PageRef MainMemoryPool::adopt_new(Referrer& parent, Frame& child) noexcept {
  PageState::become_child(child, parent);
  return PageRef{&child};
}

Result<> MainMemoryPool::make_room(PageId /*incoming*/) {
  return fail(
      Error{sqlstate::out_of_memory, "the data does not fit in the main-memory pool"}.with_hint(
          "Enlarge the pool, or open the database with pool mode swizzling."));
}

Result<> MainMemoryPool::load_tree(RootHolder& holder) {
  return load(holder, &holder.reference);
}

Result<> MainMemoryPool::load(Referrer& parent, PageRef* at) {
  if (load_ref(at).is_swizzled()) return {};
  const PageId page = load_ref(at).page();
  ASSIGN_OR_RETURN(Frame* const frame, take_frame());
  auto since = store_.read_page(page, frame->page());
  if (!since) {
    give_frame(*frame);
    return fail(std::move(since).error());
  }
  PageState::assign(*frame, page);
  if (*since != Lsn::none) {
    frame->mark_dirty(*since);
    store_.entered(page);
  }
  {
    const ExclusiveGuard parent_hold(parent.latch);
    const ExclusiveGuard hold(frame->latch);
    store_ref(at, adopt_new(parent, *frame));
  }

  struct Children {
    std::vector<PageRef*> references;
  } children;
  layout_.visit_refs(
      frame->page(),
      [](void* into, PageRef* reference) {
        static_cast<Children*>(into)->references.push_back(reference);
      },
      &children);
  for (PageRef* reference : children.references) RETURN_IF_ERROR(load(*frame, reference));
  return {};
}

}  // namespace swizzle
