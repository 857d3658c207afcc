#include "storage/space/data_file.h"

namespace swizzle {

Result<> DataFile::read_page(PageId page, std::byte* into) {
  auto read = volume_.read_page(page, into);
  const bool is_damaged = !read && read.error().state() == sqlstate::data_corrupted;
  if (!is_damaged || !rebuild_) return read;
  if (auto rebuilt = rebuild_(page, into); !rebuilt)
    return fail(std::move(read).error().with_detail(rebuilt.error().message()));
  seal_page(into);
  // Nobody else has the page: the reader's claim keeps others out, so no write of it is under way.
  const PageImage image{page, into};
  return volume_.write_pages({&image, 1});
}

}  // namespace swizzle
