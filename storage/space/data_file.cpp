#include "storage/space/data_file.h"

#include <fmt/format.h>

namespace swizzle {

Result<> DataFile::read_page(PageId page, std::byte* into) {
  auto read = volume_.read_page(page, into);
  const bool is_damaged = !read && read.error().state() == sqlstate::data_corrupted;
  if (read && log_end_) return require_known(page, into);
  if (!is_damaged || !rebuild_) return read;
  if (auto rebuilt = rebuild_(page, into); !rebuilt)
    return fail(std::move(read).error().with_detail(rebuilt.error().message()));
  seal_page(into);
  // Nobody else has the page: the reader's claim keeps others out, so no write of it is under way.
  const PageImage image{page, into};
  return volume_.write_pages({&image, 1});
}

Result<> DataFile::require_known(PageId page, const std::byte* bytes) const {
  const Lsn lsn = load<PageHeader>(bytes).lsn;
  const Lsn end = log_end_();
  if (lsn < end) return {};
  return fail(Error{sqlstate::data_corrupted,
                    fmt::format("page {} is at LSN {}, but the log ends at {}: the log from there "
                                "on is missing, or the files are not of one time",
                                raw(page), raw(lsn), raw(end))}
                  .with_hint("Put the missing log segments back, or restore a backup."));
}

}  // namespace swizzle
