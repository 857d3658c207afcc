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
                                        what, raw(child.page_id())));
    };
    if (child.state() != FrameState::swizzled)
      report("F1", "it refers by address to a page that is not swizzled");
    if (child.parent() != referrer) report("F2", "its child's frame names another parent");
    if (!SwizzlingPool::may_hold_addresses(*referrer))
      report("F3", "it is unswizzled and has a swizzled child");
    if (load<PageHeader>(child.page()).id != child.page_id())
      report("F1", "the frame holds another page than it says");
  }
};

}  // namespace

/// F8: each free frame is in one queue, each other frame in the cooling queue or in none.
void SwizzlingPool::audit_queues(std::vector<std::string>& violations) {
  std::vector<std::uint8_t> met(arena_.count(), 0);
  const auto visit = [&](const Frame& frame, bool must_be_free) {
    const FrameState state = frame.state();
    if (must_be_free && state != FrameState::free)
      violations.push_back(
          fmt::format("F8 violated: the frame of page {} waits to be taken", raw(frame.page_id())));
    // Stops at the second visit: damaged queues may be linked to a cycle.
    return ++met[arena_.index_of(&frame)] == 1;
  };
  free_.look_through([&](const Frame& frame) { return visit(frame, true); });
  cooling_.look_through([&](const Frame& frame) {
    if (!frame.is_queued())
      violations.push_back(fmt::format("F8 violated: frame {} is queued and does not say so",
                                       arena_.index_of(&frame)));
    return visit(frame, false);
  });
  arena_.for_each_used([&](const Frame& frame) {
    const std::uint32_t index = arena_.index_of(&frame);
    if (met[index] > 1)
      violations.push_back(fmt::format("F8 violated: frame {} is in two queues", index));
    if (met[index] == 0 && (frame.state() == FrameState::free || frame.is_queued()))
      violations.push_back(fmt::format("F8 violated: frame {} is in no queue", index));
  });
}

std::vector<std::string> SwizzlingPool::audit() {
  std::vector<std::string> violations;
  audit_queues(violations);
  std::uint64_t references = 0;
  std::uint64_t swizzled_frames = 0;
  for (RootHolder* root : roots_)
    Audit{root, root->page, &violations, &references}.check(load_ref(&root->reference));
  arena_.for_each_used([&](Frame& frame) {
    const FrameState state = frame.state();
    if (state == FrameState::free) return;
    if (state == FrameState::swizzled) ++swizzled_frames;
    Audit audit{&frame, frame.page_id(), &violations, &references};
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
