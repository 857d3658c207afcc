#pragma once

#include <cstdint>
#include <vector>

namespace swizzle::bench {

/// Doubly linked lists of page numbers in one array of links. A page is on at most one list.
class PageLists {
 public:
  PageLists(std::uint32_t pages, std::uint32_t lists)
      : links_(pages + lists), owner_(pages, kNone), first_(pages), sizes_(lists) {
    for (std::uint32_t list = 0; list < lists; ++list) {
      links_[first_ + list] = {first_ + list, first_ + list};
    }
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::uint32_t list_of(std::uint32_t page) const { return owner_[page]; }
  [[nodiscard]] std::uint32_t size(std::uint32_t list) const { return sizes_[list]; }
  /// Pre: the list is not empty.
  [[nodiscard]] std::uint32_t oldest(std::uint32_t list) const {
    return links_[first_ + list].next;
  }

  void append(std::uint32_t list, std::uint32_t page) {
    const std::uint32_t head = first_ + list;
    const std::uint32_t last = links_[head].previous;
    links_[page] = {last, head};
    links_[last].next = page;
    links_[head].previous = page;
    owner_[page] = list;
    ++sizes_[list];
  }
  void remove(std::uint32_t page) {
    const Link link = links_[page];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
    --sizes_[owner_[page]];
    owner_[page] = kNone;
  }
  std::uint32_t take_oldest(std::uint32_t list) {
    const std::uint32_t page = oldest(list);
    remove(page);
    return page;
  }

 private:
  struct Link {
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
  };
  std::vector<Link> links_;
  std::vector<std::uint32_t> owner_;
  std::uint32_t first_;
  std::vector<std::uint32_t> sizes_;
};

}  // namespace swizzle::bench
