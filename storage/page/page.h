#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace swizzle {

inline constexpr std::size_t kPageBytes = 8192;

enum class PageKind : std::uint8_t { free = 0, node = 1 };

/// The first bytes of every page. docs/on-disk-format.md lists the offsets.
struct PageHeader {
  std::uint64_t checksum;
  PageId id;
  /// The newest log record that changed the page: the head of its chain.
  Lsn lsn;
  /// The newest record that changed the page's records or children (splits and moves do not).
  Lsn logical_lsn;
  TreeId tree;
  std::uint8_t level;  ///< 0 is a leaf
  PageKind kind;
  /// Part of a leaf's free room that may not be used, see Node::owed_bytes().
  std::uint16_t owed_bytes;
};
static_assert(sizeof(PageHeader) == 40);
static_assert(offsetof(PageHeader, lsn) == 16);
static_assert(offsetof(PageHeader, tree) == 32);
static_assert(offsetof(PageHeader, level) == 36);

/// Stamps the checksum of a page image that is about to be written.
void seal_page(std::byte* page) noexcept;

/// XX001 unless the image is whole and is page `expected`.
Result<> check_page(const std::byte* page, PageId expected);

}  // namespace swizzle
