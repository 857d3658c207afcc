#include "storage/recovery/page_repair.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
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

// Returns the newest record of the page after `base` and before the reader's position; none if
// there is none, or none that can be read.
Result<Lsn> newest_record(wal::Reader& reader, PageId page, Lsn base) {
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

// Returns the page's records, the newest first, down to an image or to the first one after `base`;
// nothing if there is one before `oldest`.
Result<std::optional<std::vector<Lsn>>> find_chain(wal::Reader& reader, PageId page, Lsn newest,
                                                   Lsn base, Lsn oldest) {
  std::vector<Lsn> chain;
  for (Lsn at = newest; at != base;) {
    if (at == Lsn::none || at < oldest) return std::nullopt;
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(at));
    chain.push_back(at);
    if (effect_on(record, page) == PageEffect::image) break;
    at = record.header.page == page ? record.header.page_prev : record.header.page2_prev;
  }
  return chain;
}

Result<std::vector<Lsn>> chain_down_to(wal::Reader& reader, PageId page, Lsn newest, Lsn base,
                                       Lsn oldest_kept) {
  ASSIGN_OR_RETURN(auto chain, find_chain(reader, page, newest, base, oldest_kept));
  if (chain) return *std::move(chain);
  return fail(Error{sqlstate::data_corrupted,
                    fmt::format("page {} is damaged and cannot be rebuilt: its records before {} "
                                "are no longer in the log",
                                raw(page), raw(oldest_kept))}
                  .with_hint("Restore the page's table from a backup."));
}

Result<> apply(wal::Reader& reader, const std::vector<Lsn>& chain, PageId page, std::byte* into) {
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(*at));
    RETURN_IF_ERROR(redo_on_page(record, page, into));
  }
  return {};
}

/// Searches the log that the archive has for the page's newest record, or returns none if its copy
/// is the newest. 58P01 if a part of it is missing.
Result<Lsn> newest_since_copy(wal::Reader& reader, PageId page, const OlderCopies::Copy& copy,
                              Lsn searched_to) {
  const Lsn base = std::max(copy.lsn, Lsn{raw(copy.complete_to) - 1});
  reader.seek(searched_to);
  ASSIGN_OR_RETURN(const Lsn newest, newest_record(reader, page, base));
  if (newest != Lsn::none || raw(reader.position()) <= raw(base) + 1) return newest;
  return fail(sqlstate::undefined_file,
              fmt::format("the log before LSN {} is missing", raw(reader.position())));
}

}  // namespace

Result<> PageRepair::as_lost(PageId page, Result<> result) {
  if (result || result.error().state() != sqlstate::undefined_file) return result;
  return fail(
      Error{sqlstate::data_corrupted, fmt::format("page {} is damaged and cannot be rebuilt: {}",
                                                  raw(page), result.error().message())}
          .with_hint("Restore the page's table from a backup."));
}

Result<> PageRepair::rebuild(PageId page, Lsn newest, std::byte* into) {
  Newest known{.lsn = newest};
  auto rebuilt = as_lost(page, rebuild_from_log(page, known, into));
  return or_from_copy(page, known, into, std::move(rebuilt));
}

Result<> PageRepair::renew(PageId page, Lsn newest, std::byte* into) {
  auto renewed = as_lost(page, renew_from_log(page, newest, into));
  return or_from_copy(page, {.lsn = newest}, into, std::move(renewed));
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
    RETURN_IF_ERROR(apply(reader, chain, page, into));
  }
  repaired_.fetch_add(1, std::memory_order_relaxed);
  spdlog::warn(
      "page {} was older on disk than when it was written; brought it to LSN {} with {} "
      "log records",
      raw(page), raw(newest), chain.size());
  return {};
}

Result<> PageRepair::rebuild_from_log(PageId page, Newest& newest, std::byte* into) {
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
    if (newest.lsn == Lsn::none) {
      wal::Reader search = log_.reader(wal::ReadPattern::sequential);
      search.seek(search.end());
      ASSIGN_OR_RETURN(newest.lsn, newest_record(search, page, base));
      newest.searched_to = search.position();
    }
    if (newest.lsn == Lsn::none && !image)
      return fail(Error{sqlstate::data_corrupted,
                        fmt::format("page {} is damaged, and the log from {} on does not know it",
                                    raw(page), raw(log_.oldest()))}
                      .with_hint("Restore the page's table from a backup."));
    wal::Reader reader = log_.reader(wal::ReadPattern::random);
    std::vector<Lsn> chain;
    if (newest.lsn > base) {
      ASSIGN_OR_RETURN(chain, chain_down_to(reader, page, newest.lsn, base, log_.oldest()));
    }
    RETURN_IF_ERROR(apply(reader, chain, page, into));
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

/// Returns the outcome, or what the copy in the backup makes of it.
Result<> PageRepair::or_from_copy(PageId page, const Newest& newest, std::byte* into,
                                  Result<> from_log) {
  const bool is_lost = !from_log && from_log.error().state() == sqlstate::data_corrupted;
  const bool is_known = newest.lsn != Lsn::none || newest.searched_to != Lsn::none;
  if (!is_lost || !is_known || copies_ == nullptr) return from_log;
  auto rebuilt = rebuild_from_copy(page, newest, into);
  // The log may have lost a segment to the archive meanwhile.
  if (!rebuilt && rebuilt.error().state() == sqlstate::undefined_file)
    rebuilt = rebuild_from_copy(page, newest, into);
  if (rebuilt) return rebuilt;
  const SqlState state = rebuilt.error().state() == sqlstate::undefined_file
                             ? sqlstate::data_corrupted
                             : rebuilt.error().state();
  return fail(Error{
      state, fmt::format("{}; nor can it be from backup \"{}\": {}", from_log.error().message(),
                         copies_->name(), rebuilt.error().message())}
                  .with_hint(state == sqlstate::data_corrupted ? from_log.error().hint()
                                                               : rebuilt.error().hint()));
}

Result<> PageRepair::rebuild_from_copy(PageId page, const Newest& newest, std::byte* into) {
  ASSIGN_OR_RETURN(const OlderCopies::Copy copy, copies_->read(page, into));
  Lsn end = newest.lsn;
  // The log does not know the page, so that its last write was before what the log has.
  if (end == Lsn::none) end = volume_.written_lsns().of(page);
  if (end == Lsn::none) {
    ASSIGN_OR_RETURN(wal::Reader search, copies_->reader(wal::ReadPattern::sequential));
    ASSIGN_OR_RETURN(end, newest_since_copy(search, page, copy, newest.searched_to));
  }
  if (end == Lsn::none) end = copy.lsn;
  if (end == Lsn::none)
    return fail(sqlstate::data_corrupted, "it has no copy of the page that is whole");
  std::vector<Lsn> chain;
  if (end != copy.lsn) {
    ASSIGN_OR_RETURN(wal::Reader reader, copies_->reader(wal::ReadPattern::random));
    ASSIGN_OR_RETURN(auto found, find_chain(reader, page, end, copy.lsn, copy.lsn));
    if (!found)
      return fail(
          sqlstate::data_corrupted,
          fmt::format("no record of the page follows its copy, which is of LSN {}", raw(copy.lsn)));
    chain = *std::move(found);
    RETURN_IF_ERROR(apply(reader, chain, page, into));
  }
  repaired_.fetch_add(1, std::memory_order_relaxed);
  spdlog::warn("page {} was damaged on disk; rebuilt it from backup \"{}\" and {} log records",
               raw(page), copies_->name(), chain.size());
  return {};
}

}  // namespace swizzle
