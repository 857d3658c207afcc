#include "storage/recovery/redo.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "base/runtime/runtime.h"
#include "storage/recovery/progress.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/recovery/redo_pages.h"

namespace swizzle {
namespace {

/// One record's effect on one page.
struct Work {
  std::size_t record;
  PageId page;
};

/// A stretch of the log: its records, copied, and the pages that they need.
class Window {
 public:
  Window(std::uint64_t bytes, std::size_t most_pages) : most_pages_(most_pages) {
    payloads_.reserve(bytes + wal::kMaxPayloadBytes);
    most_bytes_ = bytes;
  }

  void clear() noexcept {
    payloads_.clear();
    records_.clear();
    work_.clear();
    needs_.clear();
    pages_.clear();
  }
  [[nodiscard]] bool is_full() const noexcept {
    return payloads_.size() >= most_bytes_ || needs_.size() + 2 > most_pages_;
  }
  [[nodiscard]] bool empty() const noexcept { return work_.empty(); }

  /// Takes the record if redo is to look at one of its pages.
  Result<> add(const wal::Record& record, const Analysis& analysis) {
    ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
    const std::size_t before = work_.size();
    add_page(record, record.header.page, effects.page, analysis);
    add_page(record, record.header.page2, effects.page2, analysis);
    if (work_.size() == before) return {};
    wal::Record copy = record;
    const std::size_t at = payloads_.size();
    payloads_.insert(payloads_.end(), record.payload.begin(), record.payload.end());
    copy.payload = {payloads_.data() + at, record.payload.size()};
    records_.push_back(copy);
    return {};
  }

  [[nodiscard]] std::span<const RedoPages::Need> needs() const noexcept { return needs_; }
  [[nodiscard]] std::span<const Work> work() const noexcept { return work_; }
  [[nodiscard]] const wal::Record& record(const Work& work) const noexcept {
    return records_[work.record];
  }

 private:
  void add_page(const wal::Record& record, PageId page, PageEffect effect,
                const Analysis& analysis) {
    if (effect != PageEffect::change && effect != PageEffect::image) return;
    const auto dirty = analysis.dirty.find(page);
    if (dirty == analysis.dirty.end() || record.lsn < dirty->second) return;
    work_.push_back({records_.size(), page});
    if (!pages_.emplace(page, true).second) return;
    using Content = RedoPages::Need::Content;
    needs_.push_back({page, effect == PageEffect::image ? Content::blank : Content::read});
  }

  const std::size_t most_pages_;
  std::uint64_t most_bytes_;
  std::vector<std::byte> payloads_;  // reserved once: records point into it
  std::vector<wal::Record> records_;
  std::vector<Work> work_;
  std::vector<RedoPages::Need> needs_;
  std::unordered_map<PageId, bool> pages_;
};

/// Applies a window's records, in order for each page, from several tasks.
class Applier {
 public:
  Applier(const Window& window, RedoPages& pages, Lsn log_end, std::uint32_t workers)
      : window_(window), pages_(pages), log_end_(log_end), workers_(workers) {}

  Result<std::uint64_t> run() {
    // A short window is not worth the tasks.
    constexpr std::size_t kWorthIt = 512;
    if (workers_ == 1 || window_.work().size() < kWorthIt) {
      apply_share(0, 1);
    } else {
      std::vector<std::unique_ptr<Task>> tasks;
      for (std::uint32_t i = 1; i < workers_; ++i)
        tasks.push_back(Runtime::current().spawn("redo", [this, i] { apply_share(i, workers_); }));
      apply_share(0, workers_);
      for (auto& task : tasks) task->join();
    }
    if (error_) return fail(std::move(*error_));
    return applied_;
  }

 private:
  void apply_share(std::uint32_t share, std::uint32_t shares) {
    std::uint64_t applied = 0;
    std::optional<Error> error;
    for (const Work& work : window_.work()) {
      if (raw(work.page) % shares != share) continue;
      auto done = apply(work);
      if (!done) {
        error = std::move(done).error();
        break;
      }
      applied += *done;
    }
    const std::lock_guard hold(mutex_);
    applied_ += applied;
    if (error && !error_) error_ = std::move(error);
  }

  Result<std::uint64_t> apply(const Work& work) {
    const wal::Record& record = window_.record(work);
    RedoPages::Page& page = pages_.find(work.page);
    ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
    const bool is_first = record.header.page == work.page;
    const PageEffect effect = is_first ? effects.page : effects.page2;
    if (page.given_up != nullptr) [[unlikely]] {
      if (effect != PageEffect::image) {
        page.given_up->needed = record.lsn;
        return std::uint64_t{0};
      }
      pages_.begin_anew(page);
    }
    const Lsn at = load<PageHeader>(page.bytes).lsn;
    if (at >= log_end_) return newer_than_the_log(work.page, at);
    if (at >= record.lsn) return std::uint64_t{0};
    // A page on disk lacks nothing before the oldest record that it may lack. Where it is older
    // than what that one came after, the device has lost a write.
    const Lsn before = is_first ? record.header.page_prev : record.header.page2_prev;
    if (effect == PageEffect::change && at < before) {
      RETURN_IF_ERROR(pages_.rebuild_or_give_up(page, before, older_than_the_log(page.id, before)));
    } else if (auto redone = redo_on_page(record, work.page, page.bytes); redone) {
      page.is_dirty = true;
      return std::uint64_t{1};
    } else {
      if (redone.error().state() != sqlstate::data_corrupted)
        return fail(std::move(redone).error());
      RETURN_IF_ERROR(pages_.rebuild_or_give_up(page, Lsn::none, std::move(redone).error()));
    }
    return redo_after_rebuilding(record, page);
  }

  Result<std::uint64_t> redo_after_rebuilding(const wal::Record& record, RedoPages::Page& page) {
    if (page.given_up == nullptr && load<PageHeader>(page.bytes).lsn < record.lsn) {
      if (auto redone = redo_on_page(record, page.id, page.bytes); !redone) {
        if (redone.error().state() != sqlstate::data_corrupted)
          return fail(std::move(redone).error());
        pages_.give_up(page, std::move(redone).error());
      }
    }
    if (page.given_up == nullptr) return std::uint64_t{1};
    page.given_up->needed = record.lsn;
    return std::uint64_t{0};
  }

  static Error older_than_the_log(PageId page, Lsn before) {
    return {sqlstate::data_corrupted,
            fmt::format("page {} is older on disk than LSN {}, where the log left it", raw(page),
                        raw(before))};
  }

  // Returns the error for a page with changes whose log records are missing.
  [[nodiscard]] std::unexpected<Error> newer_than_the_log(PageId page, Lsn at) const {
    return fail(
        Error{sqlstate::data_corrupted,
              fmt::format("page {} is at LSN {}, but the log ends at {}: the log from {} on "
                          "is missing, or the files are not of one time",
                          raw(page), raw(at), raw(log_end_), raw(log_end_))}
            .with_hint("Put the missing log segments back, or restore a backup."));
  }

  const Window& window_;
  RedoPages& pages_;
  const Lsn log_end_;
  const std::uint32_t workers_;
  std::mutex mutex_;
  std::uint64_t applied_ = 0;
  std::optional<Error> error_;
};

std::uint32_t workers_for(const RedoOptions& options) noexcept {
  constexpr std::uint32_t kMost = 8;
  if (options.workers != 0) return options.workers;
  return std::clamp(static_cast<std::uint32_t>(std::thread::hardware_concurrency()), 1U, kMost);
}

}  // namespace

Result<RedoOutcome> redo(Volume& volume, const Analysis& analysis, wal::Reader& reader,
                         const RedoOptions& options, const RecoveryObserver& observer) {
  RedoOutcome outcome;
  if (analysis.dirty.empty() || analysis.redo_from >= analysis.end) return outcome;
  Progress progress("redo", raw(analysis.end) - raw(analysis.redo_from), observer);
  progress.set_transactions(analysis.losers.size());
  RedoPages pages(volume, options.memory_bytes, options.repair);
  Window window(options.window_bytes, pages.window_pages());
  const std::uint32_t workers = workers_for(options);
  reader.seek(analysis.redo_from);
  for (bool at_end = false; !at_end;) {
    window.clear();
    while (!window.is_full()) {
      ASSIGN_OR_RETURN(const auto record, reader.next());
      if (!record) {
        at_end = true;
        break;
      }
      ++outcome.records_read;
      RETURN_IF_ERROR(window.add(*record, analysis));
      progress.reached(raw(record->end) - raw(analysis.redo_from), record->end);
    }
    if (window.empty()) continue;
    RETURN_IF_ERROR(pages.gather(window.needs()));
    progress.set_pages(pages.counters().read + pages.counters().blank);
    Applier applier(window, pages, analysis.end, workers);
    ASSIGN_OR_RETURN(const std::uint64_t applied, applier.run());
    outcome.changes_applied += applied;
  }
  RETURN_IF_ERROR(pages.write_all());
  outcome.pages_read = pages.counters().read;
  outcome.pages_written = pages.counters().written;
  outcome.pages_repaired = pages.counters().repaired;
  outcome.given_up = pages.take_given_up();
  return outcome;
}

}  // namespace swizzle
