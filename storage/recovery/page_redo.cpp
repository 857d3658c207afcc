#include "storage/recovery/page_redo.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <optional>

#include "base/memory/aligned_buffer.h"
#include "base/runtime/long_work.h"
#include "storage/recovery/progress.h"
#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

// Approximate, in nanoseconds.
constexpr std::size_t kWorkPerChange = 500;

Lsn lsn_of_page(const std::byte* page) noexcept {
  return load<PageHeader>(page).lsn;
}

bool is_first_page(const wal::Record& record, PageId page) noexcept {
  return record.header.page == page;
}

Lsn lsn_before(const wal::Record& record, PageId page) noexcept {
  return is_first_page(record, page) ? record.header.page_prev : record.header.page2_prev;
}

Result<bool> is_image(const wal::Record& record, PageId page) {
  ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
  return (is_first_page(record, page) ? effects.page : effects.page2) == PageEffect::image;
}

Error ahead_of_the_log(PageId page, Lsn at, Lsn end) {
  return Error{sqlstate::data_corrupted,
               fmt::format("page {} is at LSN {}, but the log ends at {}: the log from there on is "
                           "missing, or the files are not of one time",
                           raw(page), raw(at), raw(end))}
      .with_hint("Put the missing log segments back, or restore a backup.");
}

Error older_than_the_log(PageId page, Lsn before) {
  return {sqlstate::data_corrupted,
          fmt::format("page {} is older on disk than LSN {}, where the log left it", raw(page),
                      raw(before))};
}

}  // namespace

PageRedo::PageRedo(Parts parts) noexcept
    : parts_(std::move(parts)),
      log_end_(parts_.log.begin()),
      began_(Runtime::current().now()),
      pages_at_start_(parts_.pending.count()) {
  if (pages_at_start_ == 0) done_us_.store(0, std::memory_order_relaxed);
}

void PageRedo::erase(PageId page) noexcept {
  if (parts_.absent != nullptr) parts_.absent->entered(page);
  if (!parts_.pending.erase(page)) return;
  const Duration took = Runtime::current().now() - began_;
  done_us_.store(std::chrono::duration_cast<std::chrono::microseconds>(took).count(),
                 std::memory_order_relaxed);
  if (!parts_.tells) return;
  spdlog::info("all {} pages that lacked changes are redone, {:.2f} s after the start, {} changes",
               pages_at_start_, std::chrono::duration<double>{took}.count(), changes_applied());
}

Result<Lsn> PageRedo::read(PageId page, std::byte* into) {
  PendingPages::Known known = parts_.pending.find(page);
  const bool is_pending = known.page != nullptr;
  const bool is_lacking = lacks_copy(page);
  // The page was redone meanwhile, for a reader that has no claim on it.
  if (!is_pending && !is_lacking) {
    RETURN_IF_ERROR(parts_.volume.read_page(page, into));
    return Lsn::none;
  }
  if (!is_pending)
    known = {std::make_shared<const PendingPage>(PendingPage{.is_complete = true}),
             std::make_shared<const PageRecords>()};
  ASSIGN_OR_RETURN(Lsn since, redo(page, known, into));
  if (is_pending) pages_.fetch_add(1, std::memory_order_relaxed);
  if (is_pending && parts_.redone) parts_.redone(into);
  // Unless it was written just now, it enters the pool dirty, so that it gets into the data file.
  // The next record of the page lies at the log's end or behind it.
  if (since == Lsn::none && is_lacking && parts_.absent->is_absent(page)) since = parts_.log.tail();
  if (since == Lsn::none) erase(page);
  return since;
}

Result<Lsn> PageRedo::redo(PageId page, const PendingPages::Known& known, std::byte* into) {
  std::optional<PageRecords> own;
  if (known.records == nullptr) {
    ASSIGN_OR_RETURN(own, read_records(page, *known.page));
  }
  const PageRecords& records = own ? *own : *known.records;
  const Lsn newest = known.page->newest;
  auto copy = read_copy(page, records, into);
  if (!copy) {
    if (copy.error().state() != sqlstate::data_corrupted) return copy;
    return rebuild(page, newest, Base::images, into, std::move(copy).error());
  }
  const Lsn at = *copy;
  if (at >= log_end_) return fail(ahead_of_the_log(page, at, log_end_));
  Lsn since = Lsn::none;
  for (std::size_t i = 0; i < records.count(); ++i) {
    const wal::Record record = records.at(i);
    if (record.lsn <= at) continue;
    // A page on disk has all changes before the first record that it may lack. If it is older than
    // the state that this record found, the device has lost a write.
    const Lsn before = lsn_before(record, page);
    if (since == Lsn::none && at != Lsn::none && at < before)
      return rebuild(page, newest, Base::copy, into, older_than_the_log(page, before));
    if (auto redone = redo_on_page(record, page, into); !redone) {
      if (redone.error().state() != sqlstate::data_corrupted)
        return fail(std::move(redone).error());
      return rebuild(page, newest, Base::images, into, std::move(redone).error());
    }
    if (since == Lsn::none) since = record.lsn;
    changes_.fetch_add(1, std::memory_order_relaxed);
    unending_yield_point(kWorkPerChange);
  }
  if (const Lsn written = parts_.volume.written_lsns().of(page); lsn_of_page(into) < written)
    return rebuild(page, written, Base::copy, into, older_than_the_log(page, written));
  // The page was given up, and records of a new owner have made it whole; readers must find it
  // written.
  if (parts_.given_up != nullptr && parts_.given_up->contains(page)) {
    RETURN_IF_ERROR(write_back(page, into));
    return Lsn::none;
  }
  return since;
}

/// Returns the records that the copy on disk may lack: those of the page's list, and the ones
/// before the list from the runs or the page's chain.
Result<PageRecords> PageRedo::read_records(PageId page, const PendingPage& pending) const {
  if (pending.is_complete) {
    PageRecords records;
    RETURN_IF_ERROR(read_listed(pending, records));
    return records;
  }
  // Acquire: as use_runs() says.
  const RecordRuns* const runs = runs_.load(std::memory_order_acquire);
  if (runs != nullptr) {
    if (auto old = runs->read(page, pending.since)) {
      RETURN_IF_ERROR(read_listed(pending, *old));
      return std::move(*old);
    }
    spdlog::warn("the records of page {} are read from the log, since its run is damaged",
                 raw(page));
  }
  return read_chain(page, pending);
}

Result<> PageRedo::read_listed(const PendingPage& pending, PageRecords& into) const {
  wal::Reader reader = parts_.log.reader(wal::ReadPattern::random);
  for (const Lsn at : pending.records) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(at));
    into.add(record);
  }
  return {};
}

Result<PageRecords> PageRedo::read_chain(PageId page, const PendingPage& pending) const {
  wal::Reader reader = parts_.log.reader(wal::ReadPattern::random);
  PageRecords records;
  Lsn at = pending.newest;
  while (at != Lsn::none && at >= pending.since) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(at));
    records.add(record);
    ASSIGN_OR_RETURN(const bool is_whole, is_image(record, page));
    if (is_whole) break;
    at = lsn_before(record, page);
  }
  records.reverse();
  return records;
}

/// Reads the copy on disk, unless the records have the whole page. Returns its LSN.
Result<Lsn> PageRedo::read_copy(PageId page, const PageRecords& records, std::byte* into) {
  if (records.count() > 0) {
    ASSIGN_OR_RETURN(const bool is_whole, is_image(records.at(0), page));
    if (is_whole) {
      std::memset(into, 0, kPageBytes);
      return Lsn::none;
    }
  }
  RETURN_IF_ERROR(parts_.volume.read_page(page, into));
  return lsn_of_page(into);
}

Result<Lsn> PageRedo::rebuild(PageId page, Lsn newest, Base base, std::byte* into, Error&& why) {
  if (parts_.given_up != nullptr)
    if (auto known = parts_.given_up->find(page)) return give_up(page, newest, std::move(*known));
  auto rebuilt = base == Base::copy ? parts_.repair.renew(page, newest, into)
                                    : parts_.repair.rebuild(page, newest, into);
  if (!rebuilt && rebuilt.error().state() != sqlstate::data_corrupted)
    return fail(std::move(rebuilt).error());
  if (!rebuilt)
    return give_up(
        page, newest,
        std::move(why).with_detail(rebuilt.error().message()).with_hint(rebuilt.error().hint()));
  if (lsn_of_page(into) < parts_.volume.written_lsns().of(page))
    return give_up(page, newest,
                   std::move(why).with_detail("What it could be rebuilt from is older, too."));
  RETURN_IF_ERROR(write_back(page, into));
  return Lsn::none;
}

Result<> PageRedo::write_back(PageId page, std::byte* into) {
  seal_page(into);
  // No other write of the page can be in progress: it is in no frame, and the reader's claim
  // excludes others.
  const PageImage image{page, into};
  return parts_.volume.write_pages({&image, 1});
}

std::unexpected<Error> PageRedo::give_up(PageId page, Lsn newest, Error&& why) {
  if (parts_.given_up != nullptr) {
    // In this order, since a checkpoint that no longer finds the page pending must have it in the
    // file of pages that were given up.
    parts_.given_up->give_up(page, newest, why);
    erase(page);
  }
  return fail(std::move(why));
}

Result<> PageRedo::write_all(Lsn listed_from, const RecoveryObserver& observer,
                             const RedoBatches::GoesOn& goes_on) {
  AlignedBuffer memory(DoubleWrite::kBatchPages * kPageBytes);
  std::vector<PageImage> images;
  const auto write = [&]() -> Result<> {
    RETURN_IF_ERROR(parts_.volume.write_pages(images));
    for (const PageImage& image : images) erase(image.page);
    images.clear();
    return {};
  };
  RedoBatches batches({parts_.pending, parts_.log, listed_from});
  Progress progress("redo", batches.count(), observer);
  std::uint64_t done = 0;
  for (auto batch = batches.next(goes_on); !batch.empty(); batch = batches.next(goes_on)) {
    for (const PageId page : batch) {
      if (!goes_on()) break;
      progress.set_pages(++done);
      progress.reached(done, log_end_);
      std::byte* const bytes = memory.data() + images.size() * kPageBytes;
      auto since = read(page, bytes);
      if (!since && since.error().state() == sqlstate::data_corrupted) continue;
      if (!since) return fail(std::move(since).error());
      if (*since == Lsn::none) continue;
      seal_page(bytes);
      images.push_back({page, bytes});
      if (images.size() == DoubleWrite::kBatchPages) RETURN_IF_ERROR(write());
    }
  }
  return write();
}

}  // namespace swizzle
