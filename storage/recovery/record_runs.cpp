#include "storage/recovery/record_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/runtime/long_work.h"
#include "storage/recovery/records/record_effects.h"
#include "wal/record.h"

namespace swizzle {
namespace {

// Approximate nanoseconds that the copy of a record takes.
constexpr std::size_t kWorkPerRecord = 500;

std::filesystem::path runs_in(const std::filesystem::path& directory) {
  return directory / RecordRuns::kDirectoryName;
}

}  // namespace

/// Collects records, and writes them as a run when there are enough.
class RecordRuns::Writer {
 public:
  Writer(FileSystem& files, std::filesystem::path directory, RecordRuns& runs,
         std::uint64_t memory_bytes)
      : files_(files), directory_(std::move(directory)), runs_(runs), memory_bytes_(memory_bytes) {}

  Result<> add(const wal::Record& record) {
    ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
    const bool is_of_first = is_of_use(record.header.page, effects.page);
    const bool is_of_second = is_of_use(record.header.page2, effects.page2);
    if (!is_of_first && !is_of_second) return {};
    const std::size_t at = bytes_.size();
    append(record);
    const std::size_t size = bytes_.size() - at;
    if (is_of_first) places_.push_back({record.header.page, at, size, effects.page});
    if (is_of_second) places_.push_back({record.header.page2, at, size, effects.page2});
    if (bytes_.size() + places_.size() * sizeof(Place) >= memory_bytes_) return write();
    return {};
  }

  Result<> write() {
    if (places_.empty()) return {};
    // The order of the log stays within a page.
    std::ranges::stable_sort(places_, {}, &Place::page);
    const auto path = directory_ / fmt::format("run-{}", runs_.runs_.size());
    Run run;
    ASSIGN_OR_RETURN(run.file, files_.open(path, OpenMode::create_new, {}));
    std::vector<Entry> index;
    std::vector<std::byte> out;
    std::uint64_t written = 0;
    const auto flush = [&]() -> Result<> {
      RETURN_IF_ERROR(run.file->write_at(written, out));
      written += out.size();
      out.clear();
      return {};
    };
    for (auto at = places_.begin(); at != places_.end();) {
      const auto end = std::find_if(at, places_.end(),
                                    [&](const Place& other) { return other.page != at->page; });
      Entry entry{at->page, written + out.size(), 0};
      for (auto place = last_image(at, end); place != end; ++place) {
        const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(place->offset);
        out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(place->size));
        entry.bytes += place->size;
      }
      if (index.size() % kBlockEntries == 0) run.blocks.push_back(entry.page);
      index.push_back(entry);
      if (out.size() >= kPortion) RETURN_IF_ERROR(flush());
      at = end;
    }
    RETURN_IF_ERROR(flush());
    run.index_at = written;
    run.entries = index.size();
    RETURN_IF_ERROR(run.file->write_at(run.index_at, std::as_bytes(std::span{index})));
    runs_.runs_.push_back(std::move(run));
    bytes_.clear();
    places_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kPortion = std::size_t{1} << 20U;
  struct Place {
    PageId page;
    std::size_t offset;
    std::size_t size;
    PageEffect effect;
  };
  using At = std::vector<Place>::const_iterator;

  static bool is_of_use(PageId page, PageEffect effect) noexcept {
    return page != PageId::none && (effect == PageEffect::change || effect == PageEffect::image);
  }

  /// Nothing before an image matters.
  static At last_image(At begin, At end) noexcept {
    At from = begin;
    for (At at = begin; at != end; ++at)
      if (at->effect == PageEffect::image) from = at;
    return from;
  }

  /// Appends the record's LSN and the record as it is in the log, whose checksum it keeps.
  void append(const wal::Record& record) {
    wal::EncodedHeader header;
    wal::encode_header(record.header, header);
    const std::size_t size = wal::record_bytes(header, record.payload.size());
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(Lsn) + size);
    store(bytes_.data() + at, record.lsn);
    std::byte* const to = bytes_.data() + at + sizeof(Lsn);
    const std::uint64_t head =
        wal::write_body(to, header, {&record.payload, 1}, size, record.lsn, runs_.database_id_);
    store(to, head);
  }

  FileSystem& files_;
  const std::filesystem::path directory_;
  RecordRuns& runs_;
  const std::uint64_t memory_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<Place> places_;
};

Result<> RecordRuns::remove(FileSystem& files, const std::filesystem::path& directory) {
  const auto runs = runs_in(directory);
  ASSIGN_OR_RETURN(const bool is_there, files.exists(runs));
  if (!is_there) return {};
  ASSIGN_OR_RETURN(const auto names, files.list(runs));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(runs / name));
  return files.remove(runs);
}

Result<std::unique_ptr<RecordRuns>> RecordRuns::make(FileSystem& files,
                                                     const std::filesystem::path& directory,
                                                     wal::Reader reader, Lsn from, Lsn end,
                                                     std::uint64_t memory_bytes,
                                                     const GoesOn& goes_on) {
  RETURN_IF_ERROR(remove(files, directory));
  RETURN_IF_ERROR(files.create_directory(runs_in(directory)));
  std::unique_ptr<RecordRuns> runs(new RecordRuns(Runtime::current().random()));
  Writer writer(files, runs_in(directory), *runs, memory_bytes);
  reader.seek(from);
  while (true) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record || record->lsn >= end) break;
    RETURN_IF_ERROR(writer.add(*record));
    unending_yield_point(kWorkPerRecord);
    if (!goes_on()) return nullptr;
  }
  RETURN_IF_ERROR(writer.write());
  return runs;
}

Result<std::optional<RecordRuns::Entry>> RecordRuns::find(const Run& run, PageId page) {
  const auto behind = std::ranges::upper_bound(run.blocks, page);
  if (behind == run.blocks.begin()) return std::optional<Entry>{};
  const auto block = static_cast<std::uint64_t>(behind - run.blocks.begin()) - 1;
  const std::uint64_t first = block * kBlockEntries;
  std::vector<Entry> entries(std::min<std::uint64_t>(kBlockEntries, run.entries - first));
  RETURN_IF_ERROR(run.file->read_at(run.index_at + first * sizeof(Entry),
                                    std::as_writable_bytes(std::span{entries})));
  const auto found = std::ranges::lower_bound(entries, page, {}, &Entry::page);
  if (found == entries.end() || found->page != page) return std::optional<Entry>{};
  return std::optional{*found};
}

Result<PageRecords> RecordRuns::read(PageId page, Lsn since) const {
  PageRecords records;
  const auto damaged = [&](const Run& run) {
    return fail(sqlstate::data_corrupted,
                fmt::format("the records of page {} in \"{}\" are damaged", raw(page),
                            run.file->path().native()));
  };
  std::vector<std::byte> bytes;
  for (const Run& run : runs_) {
    ASSIGN_OR_RETURN(const auto entry, find(run, page));
    if (!entry) continue;
    if (entry->offset > run.index_at || entry->bytes > run.index_at - entry->offset)
      return damaged(run);
    bytes.resize(entry->bytes);
    RETURN_IF_ERROR(run.file->read_at(entry->offset, bytes));
    for (Bytes rest{bytes}; !rest.empty();) {
      if (rest.size() < sizeof(Lsn)) return damaged(run);
      const auto lsn = load<Lsn>(rest.data());
      rest = rest.subspan(sizeof(Lsn));
      wal::Record record;
      if (wal::decode(rest, lsn, database_id_, record) != wal::Decoding::record)
        return damaged(run);
      rest = rest.subspan(raw(record.end) - raw(lsn));
      if (lsn < since) continue;
      ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
      const PageEffect effect = record.header.page == page ? effects.page : effects.page2;
      if (effect == PageEffect::image) records = PageRecords{};
      records.add(record);
    }
  }
  return records;
}

}  // namespace swizzle
