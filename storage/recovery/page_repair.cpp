#include "storage/recovery/page_repair.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <vector>

#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

PageEffect effect_on(const wal::Record& record, PageId page) {
  const auto effects = effects_of(record.header);
  if (!effects) return PageEffect::none;
  if (record.header.page == page) return effects->page;
  return record.header.page2 == page ? effects->page2 : PageEffect::none;
}

// Returns the newest record of the page after `base`; none if there is none.
Result<Lsn> newest_record(wal::Reader& reader, PageId page, Lsn base) {
  reader.seek(reader.end());
  while (true) {
    ASSIGN_OR_RETURN(const auto record, reader.previous());
    if (!record || record->lsn <= base) return Lsn::none;
    const PageEffect effect = effect_on(*record, page);
    if (effect == PageEffect::free)
      return fail(sqlstate::data_corrupted,
                  fmt::format("page {} is in no tree any more", raw(page)));
    if (effect != PageEffect::none) return record->lsn;
  }
}

// Returns the page's records, the newest first, down to an image or to the first one after `base`.
Result<std::vector<Lsn>> chain_down_to(wal::Reader& reader, PageId page, Lsn newest, Lsn base,
                                       Lsn oldest_kept) {
  std::vector<Lsn> chain;
  for (Lsn at = newest; at != base;) {
    if (at == Lsn::none || at < oldest_kept)
      return fail(Error{sqlstate::data_corrupted,
                        fmt::format("page {} is damaged and cannot be rebuilt: its records before "
                                    "{} are no longer in the log",
                                    raw(page), raw(oldest_kept))}
                      .with_hint("Restore the page's table from a backup."));
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(at));
    chain.push_back(at);
    if (effect_on(record, page) == PageEffect::image) break;
    at = record.header.page == page ? record.header.page_prev : record.header.page2_prev;
  }
  return chain;
}

}  // namespace

Result<> PageRepair::as_lost(PageId page, Result<> result) {
  if (result || result.error().state() != sqlstate::undefined_file) return result;
  return fail(
      Error{sqlstate::data_corrupted, fmt::format("page {} is damaged and cannot be rebuilt: {}",
                                                  raw(page), result.error().message())}
          .with_hint("Restore the page's table from a backup."));
}

Result<> PageRepair::apply(const std::vector<Lsn>& chain, PageId page, std::byte* into) {
  wal::Reader reader = log_.reader(wal::ReadPattern::random);
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(*at));
    RETURN_IF_ERROR(redo_on_page(record, page, into));
  }
  return {};
}

Result<> PageRepair::renew_from_log(PageId page, Lsn newest, std::byte* into) {
  Lsn base = load<PageHeader>(into).lsn;
  ASSIGN_OR_RETURN(const auto image, volume_.image_of(page));
  if (image && load<PageHeader>(image->data()).lsn > base) {
    std::memcpy(into, image->data(), kPageBytes);
    base = load<PageHeader>(into).lsn;
  }
  std::vector<Lsn> chain;
  if (base < newest) {
    wal::Reader reader = log_.reader(wal::ReadPattern::random);
    ASSIGN_OR_RETURN(chain, chain_down_to(reader, page, newest, base, log_.oldest()));
    RETURN_IF_ERROR(apply(chain, page, into));
  }
  repaired_.fetch_add(1, std::memory_order_relaxed);
  spdlog::warn(
      "page {} was older on disk than when it was written; brought it to LSN {} with {} "
      "log records",
      raw(page), raw(newest), chain.size());
  return {};
}

Result<> PageRepair::rebuild_from_log(PageId page, Lsn newest, std::byte* into) {
  Lsn base = Lsn::none;
  ASSIGN_OR_RETURN(const auto image, volume_.image_of(page));
  if (image) {
    std::memcpy(into, image->data(), kPageBytes);
    base = load<PageHeader>(into).lsn;
  } else {
    std::memset(into, 0, kPageBytes);
  }
  std::size_t applied = 0;
  if (log_.enabled()) {
    if (newest == Lsn::none) {
      wal::Reader search = log_.reader(wal::ReadPattern::sequential);
      ASSIGN_OR_RETURN(newest, newest_record(search, page, base));
    }
    if (newest == Lsn::none && !image)
      return fail(Error{sqlstate::data_corrupted,
                        fmt::format("page {} is damaged, and the log from {} on does not know it",
                                    raw(page), raw(log_.oldest()))}
                      .with_hint("Restore the page's table from a backup."));
    wal::Reader reader = log_.reader(wal::ReadPattern::random);
    std::vector<Lsn> chain;
    if (newest > base) {
      ASSIGN_OR_RETURN(chain, chain_down_to(reader, page, newest, base, log_.oldest()));
    }
    RETURN_IF_ERROR(apply(chain, page, into));
    applied = chain.size();
  } else if (!image) {
    return fail(
        sqlstate::data_corrupted,
        fmt::format("page {} is damaged, and there is no log to rebuild it from", raw(page)));
  }
  repaired_.fetch_add(1, std::memory_order_relaxed);
  spdlog::warn("page {} was damaged on disk; rebuilt it from {} and {} log records", raw(page),
               image ? "its double-write image" : "the log", applied);
  return {};
}

}  // namespace swizzle
