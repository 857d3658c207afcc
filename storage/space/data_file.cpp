#include "storage/space/data_file.h"

#include <fmt/format.h>

#include "base/runtime/runtime.h"

namespace swizzle {
namespace {

Lsn lsn_of(const std::byte* page) noexcept {
  return load<PageHeader>(page).lsn;
}

}  // namespace

Result<Lsn> DataFile::read_page(PageId page, std::byte* into) {
  if (lacks_changes(page)) [[unlikely]]
    return lacking_->read(page, into);
  RETURN_IF_ERROR(read_whole(page, into));
  return Lsn::none;
}

Result<> DataFile::read_whole(PageId page, std::byte* into) {
  auto read = volume_.read_page(page, into);
  if (read && is_older_than_written(page, into)) {
    const Lsn newest = volume_.written_lsns().of(page);
    return rebuild(page, newest, into,
                   Error{sqlstate::data_corrupted,
                         fmt::format("page {} is on disk as it was at LSN {}; its last write, at "
                                     "LSN {}, was lost",
                                     raw(page), raw(lsn_of(into)), raw(newest))});
  }
  if (read) return log_end_ ? require_known(page, into) : std::move(read);
  if (read.error().state() != sqlstate::data_corrupted) return read;
  checksum_failures_.fetch_add(1, std::memory_order_relaxed);
  last_checksum_failure_us_.store(Runtime::current().wall_clock_us(), std::memory_order_relaxed);
  return rebuild(page, Lsn::none, into, std::move(read).error());
}

bool DataFile::is_older_than_written(PageId page, const std::byte* bytes) const noexcept {
  return lsn_of(bytes) < volume_.written_lsns().of(page);
}

Result<> DataFile::rebuild(PageId page, Lsn newest, std::byte* into, Error&& why) {
  if (!rebuild_) return fail(std::move(why));
  if (auto known = given_up(page)) return fail(std::move(*known));
  if (auto rebuilt = rebuild_(page, newest, into); !rebuilt) {
    why = std::move(why).with_detail(rebuilt.error().message()).with_hint(rebuilt.error().hint());
    // After a device error a retry may succeed.
    if (rebuilt.error().state() != sqlstate::data_corrupted) return fail(std::move(why));
    return give_up(page, std::move(why));
  }
  if (is_older_than_written(page, into))
    return give_up(page,
                   std::move(why).with_detail("What it could be rebuilt from is older, too."));
  seal_page(into);
  // No other write of the page is under way: the reader's claim excludes it.
  const PageImage image{page, into};
  return volume_.write_pages({&image, 1});
}

bool DataFile::renew_doubted(PageId page, Lsn at, std::byte* into) {
  constexpr std::size_t kMostDoubted = 4096;
  if (!rebuild_) return false;
  {
    const std::lock_guard hold(doubted_mutex_);
    const auto known = doubted_.find(page);
    if (known != doubted_.end() && known->second == at) return false;
    if (doubted_.size() >= kMostDoubted) doubted_.clear();
    doubted_.insert_or_assign(page, at);
  }
  if (!rebuild_(page, Lsn::none, into) || lsn_of(into) <= at) return false;
  seal_page(into);
  const PageImage image{page, into};
  return volume_.write_pages({&image, 1}).has_value();
}

std::unexpected<Error> DataFile::give_up(PageId page, Error&& why) {
  if (given_up_ != nullptr) given_up_->give_up(page, volume_.written_lsns().of(page), why);
  return fail(std::move(why));
}

Result<> DataFile::require_known(PageId page, const std::byte* bytes) const {
  const Lsn lsn = lsn_of(bytes);
  const Lsn end = log_end_();
  if (lsn < end) return {};
  return fail(Error{sqlstate::data_corrupted,
                    fmt::format("page {} is at LSN {}, but the log ends at {}: the log from there "
                                "on is missing, or the files are not of one time",
                                raw(page), raw(lsn), raw(end))}
                  .with_hint("Put the missing log segments back, or restore a backup."));
}

}  // namespace swizzle
