#include "sql-lite-frontend/execution/rows/row_partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizzle::sql {

std::size_t partition_count(const WorkMemory& memory) noexcept {
  return std::bit_floor(
      std::clamp<std::size_t>(memory.work_bytes / (4 * RowFile::kBufferBytes), 4, 32));
}

void RowPartitions::add(const Execution& execution, std::span<const Slot> slots,
                        std::string_view key, unsigned depth) {
  if (open_.empty()) {
    open_.resize(partition_count(*execution.memory));
    open_depth_ = depth;
  }
  auto& file = open_[KeyTable::part_of(key, open_.size(), open_depth_)];
  if (!file) file = std::make_unique<RowFile>(*execution.memory->files);
  file->append(execution, slots);
}

void RowPartitions::close_open_parts() {
  for (auto& file : open_) {
    if (file) waiting_.push_front({std::move(file), open_depth_});
  }
  open_.clear();
}

std::optional<RowPartitions::Part> RowPartitions::take() {
  close_open_parts();
  if (waiting_.empty()) return std::nullopt;
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  RowFile& file = *next.file;
  return Part{std::move(next.file), RowFile::Reader{file}, next.depth};
}

void RowPartitions::clear() {
  open_.clear();
  waiting_.clear();
}

PlanMeasure HashUsage::measure() const {
  const std::uint64_t memory = (peak_bytes_ + 1023) / 1024;
  const std::uint64_t disk = (disk_bytes_ + 1023) / 1024;
  PlanMeasure measure{fmt::format("Batches: {}  Memory Usage: {}kB", parts_, memory),
                      {{"HashAgg Batches", parts_}, {"Peak Memory Usage", memory}}};
  measure.values.emplace_back("Disk Usage", disk);
  if (disk > 0) measure.line += fmt::format("  Disk Usage: {}kB", disk);
  return measure;
}

}  // namespace swizzle::sql
