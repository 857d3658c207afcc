#include "wal/internal/archiver.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "base/checksum.h"

namespace swizzle::wal {
namespace {

// The state file: the next segment's number, bound to the database by its checksum.
struct StoredState {
  std::uint64_t next_segment;
  std::uint64_t checksum;
};
static_assert(sizeof(StoredState) == 16);

std::uint64_t checksum_of(std::uint64_t next, std::uint64_t database_id) {
  return checksum(std::as_bytes(std::span{&next, 1}), database_id);
}

}  // namespace

Result<> store_archived_position(FileSystem& files, const std::filesystem::path& directory,
                                 std::uint64_t database_id, std::uint64_t next) {
  const auto path = directory / "archived";
  const auto temporary = directory / "archived.tmp";
  const StoredState state{next, checksum_of(next, database_id)};
  ASSIGN_OR_RETURN(auto file, files.open(temporary, OpenMode::open_or_create, {}));
  RETURN_IF_ERROR(file->write_at(0, std::as_bytes(std::span{&state, 1})));
  RETURN_IF_ERROR(file->sync());
  RETURN_IF_ERROR(files.rename(temporary, path));
  return files.sync_directory(directory);
}

Archiver::Archiver(SegmentStore& store, const LogOptions& options,
                   std::function<std::uint64_t()> durable, std::function<void()> on_archived)
    : store_(store),
      options_(options),
      durable_(std::move(durable)),
      on_archived_(std::move(on_archived)) {}

Result<> Archiver::start() {
  RETURN_IF_ERROR(load_state());
  task_.start("log archiver", [this] { run(); });
  return {};
}

std::uint64_t Archiver::backlog() const noexcept {
  const std::uint64_t finished_below = store_.geometry().number_of(durable_());
  const std::uint64_t next = next_segment();
  return finished_below > next ? finished_below - next : 0;
}

ArchiveStatistics Archiver::statistics() const {
  const std::lock_guard lock{statistics_mutex_};
  return statistics_;
}

void Archiver::run() {
  while (!task_.is_stopping()) {
    if (backlog() == 0) {
      task_.wait();
      continue;
    }
    const std::uint64_t number = next_segment();
    if (auto archived = archive_one(number); !archived) {
      note(number, false);
      spdlog::warn("log: segment \"{}\" is not archived yet: {}", segment_name(number),
                   archived.error().message());
      task_.pause_until(Runtime::current().now() + options_.retry_delay);
    }
  }
}

void Archiver::note(std::uint64_t number, bool is_archived) {
  const std::int64_t now = Runtime::current().wall_clock_us();
  const std::lock_guard lock{statistics_mutex_};
  ++(is_archived ? statistics_.archived : statistics_.failed);
  (is_archived ? statistics_.last_archived : statistics_.last_failed) = segment_name(number);
  (is_archived ? statistics_.last_archived_us : statistics_.last_failed_us) = now;
}

Result<> Archiver::archive_one(std::uint64_t number) {
  RETURN_IF_ERROR(options_.archive(store_.path_of(number), segment_name(number)));
  RETURN_IF_ERROR(store_archived_position(store_.files(), store_.directory(), store_.database_id(),
                                          number + 1));
  note(number, true);
  next_ = number + 1;
  on_archived_();
  return {};
}

Result<> Archiver::load_state() {
  next_ = store_.first();
  const auto path = store_.directory() / "archived";
  ASSIGN_OR_RETURN(const bool exists, store_.files().exists(path));
  if (!exists) return {};
  ASSIGN_OR_RETURN(auto file, store_.files().open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  if (size < sizeof(StoredState)) return {};
  std::array<std::byte, sizeof(StoredState)> bytes{};
  RETURN_IF_ERROR(file->read_at(0, bytes));
  const auto stored = load<StoredState>(bytes.data());
  if (stored.checksum == checksum_of(stored.next_segment, store_.database_id())) {
    next_ = std::max(stored.next_segment, store_.first());
  }
  return {};
}

}  // namespace swizzle::wal
