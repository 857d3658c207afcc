#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Returns the number of parts into which rows are partitioned at a time; each part needs a buffer.
/// A power of two.
std::size_t partition_count(const WorkMemory& memory) noexcept;

/// Rows that exceed the memory limit, partitioned by the hashes of their keys into temporary files.
/// A part is read back when memory is free, and partitioned again, by other bits of the hash, if it
/// is still too large: depth counts these levels. Every part is smaller than the rows that it comes
/// from.
class RowPartitions {
 public:
  struct Part {
    std::unique_ptr<RowFile> file;
    RowFile::Reader reader;
    unsigned depth;
  };

  void add(const Execution& execution, std::span<const Slot> slots, std::string_view key,
           unsigned depth);
  /// Removes a part and returns it for reading. Rows added from now on go to other parts.
  std::optional<Part> take();
  void clear();

 private:
  struct Waiting {
    std::unique_ptr<RowFile> file;
    unsigned depth;
  };
  void close_open_parts();

  std::vector<std::unique_ptr<RowFile>> open_;
  unsigned open_depth_ = 0;
  std::deque<Waiting> waiting_;
};

/// EXPLAIN ANALYZE's figures about hashing.
class HashUsage {
 public:
  void note_memory(std::size_t bytes) noexcept { peak_bytes_ = std::max(peak_bytes_, bytes); }
  void note_part(std::uint64_t bytes) noexcept {
    ++parts_;
    disk_bytes_ += bytes;
  }
  [[nodiscard]] PlanMeasure measure() const;

 private:
  std::size_t peak_bytes_ = 0;
  std::uint64_t disk_bytes_ = 0;
  std::uint64_t parts_ = 1;
};

}  // namespace swizzle::sql
