#pragma once

#include <filesystem>
#include <vector>

#include "base/memory/aligned_buffer.h"
#include "base/random.h"
#include "storage/page/page.h"
#include "storage/space/page_image.h"

namespace swizzle::test {

inline const std::filesystem::path kDirectory = "/database";
inline constexpr std::uint64_t kDatabase = 0x5eed;

/// Fills a page with bytes derived from its id and `version`; the version is stored as its LSN.
inline void fill_page(std::byte* page, PageId id, std::uint64_t version) {
  Random bytes{raw(id) * 1'000'003 + version};
  for (std::size_t at = 0; at < kPageBytes; at += sizeof(std::uint64_t)) store(page + at, bytes());
  PageHeader header{};
  header.id = id;
  header.lsn = Lsn{version};
  header.kind = PageKind::node;
  store(page, header);
  seal_page(page);
}

/// Returns the version of a page made by fill_page(). Pre: its checksum has been verified.
inline std::uint64_t version_of(const std::byte* page) {
  return raw(load<PageHeader>(page).lsn);
}

/// A batch of filled pages of one version.
class Batch {
 public:
  Batch(std::vector<std::uint64_t> pages, std::uint64_t version)
      : memory_(pages.size() * kPageBytes) {
    for (std::size_t i = 0; i < pages.size(); ++i) {
      std::byte* page = memory_.data() + i * kPageBytes;
      fill_page(page, PageId{pages[i]}, version);
      images_.push_back({PageId{pages[i]}, page});
    }
  }
  [[nodiscard]] std::span<const PageImage> images() const { return images_; }

 private:
  AlignedBuffer memory_;
  std::vector<PageImage> images_;
};

}  // namespace swizzle::test
