#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/invariant.h"

namespace swizzle {

/// Doubly linked lists over frame indices: a frame is in one list at most. Not thread-safe.
class FrameLists {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t size = 0;
  };

  explicit FrameLists(std::uint32_t frames) : links_(frames) {}

  void push_back(List& list, std::uint32_t frame) noexcept {
    links_[frame] = {list.last, kNone, &list};
    (list.last == kNone ? list.first : links_[list.last].next) = frame;
    list.last = frame;
    ++list.size;
  }
  /// The list that has the frame, or null.
  [[nodiscard]] List* list_of(std::uint32_t frame) const noexcept { return links_[frame].list; }
  void remove(std::uint32_t frame) noexcept {
    Link& link = links_[frame];
    INVARIANT(link.list != nullptr);
    (link.previous == kNone ? link.list->first : links_[link.previous].next) = link.next;
    (link.next == kNone ? link.list->last : links_[link.next].previous) = link.previous;
    --link.list->size;
    link.list = nullptr;
  }

 private:
  struct Link {
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    List* list = nullptr;
  };
  std::vector<Link> links_;
};

/// FIFO history of page ids.
class PageHistory {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
  void push(PageId page) {
    if (!where_.contains(page)) where_.emplace(page, order_.insert(order_.end(), page));
  }
  void pop_oldest() {
    where_.erase(order_.front());
    order_.pop_front();
  }
  bool remove(PageId page) {
    const auto found = where_.find(page);
    if (found == where_.end()) return false;
    order_.erase(found->second);
    where_.erase(found);
    return true;
  }

 private:
  std::list<PageId> order_;
  std::unordered_map<PageId, std::list<PageId>::iterator> where_;
};

}  // namespace swizzle
