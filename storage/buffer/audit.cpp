#include <fmt/format.h>

#include "storage/buffer/swizzling_pool.h"

namespace swizzle {
namespace {

struct Audit {
  Referrer* referrer;
  PageId page;
  std::vector<std::string>* violations;
  std::uint64_t* references;

  void check(PageRef ref) const {
    if (!ref.is_swizzled()) return;
    ++*references;
    const Frame& child = *ref.frame();
    const auto report = [&](const char* rule, const char* what) {
      violations->push_back(fmt::format("{} violated on page {}: {} (child {})", rule, raw(page),
                                        what, raw(child.page_id.load())));
    };
    if (child.state.load() != FrameState::swizzled)
      report("F1", "it refers by address to a page that is not swizzled");
    if (child.parent.load() != referrer) report("F2", "its child's frame names another parent");
    if (!SwizzlingPool::may_hold_addresses(*referrer))
      report("F3", "it is unswizzled and has a swizzled child");
    if (load<PageHeader>(child.page()).id != child.page_id.load())
      report("F1", "the frame holds another page than it says");
  }
};

}  // namespace

std::vector<std::string> SwizzlingPool::audit() {
  std::vector<std::string> violations;
  std::uint64_t references = 0;
  std::uint64_t swizzled_frames = 0;
  for (RootHolder* root : roots_)
    Audit{root, root->page, &violations, &references}.check(load_ref(&root->reference));
  arena_.for_each_used([&](Frame& frame) {
    const FrameState state = frame.state.load();
    if (state == FrameState::free) return;
    if (state == FrameState::swizzled) ++swizzled_frames;
    Audit audit{&frame, frame.page_id.load(), &violations, &references};
    layout_.visit_refs(
        frame.page(),
        [](void* self, PageRef* reference) {
          static_cast<Audit*>(self)->check(load_ref(reference));
        },
        &audit);
  });
  if (references != swizzled_frames)
    violations.push_back(
        fmt::format("F1 violated: {} frames are swizzled, {} references lead to them",
                    swizzled_frames, references));
  return violations;
}

}  // namespace swizzle
