#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/rows/temporary_files.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Rows in a temporary file: appended one after the other, read as often as wanted. Throws SqlError
/// 53100 when the disk is full.
class RowFile {
 public:
  /// Size of its buffer, and of each reader's. Small, since a statement may write to dozens at
  /// once.
  static constexpr std::size_t kBufferBytes = 16384;

  explicit RowFile(TemporaryFiles& files) : RowFile(&files, kBufferBytes) {}
  /// The file is there only once the rows take more than that; null: there is none.
  RowFile(TemporaryFiles* files, std::size_t memory_bytes) noexcept
      : files_(files), memory_bytes_(memory_bytes) {}

  /// Returns where the row begins.
  std::uint64_t append(std::span<const Value> row);
  std::uint64_t append(const Execution& execution, std::span<const Slot> slots);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return written_ + pending_.size(); }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return pending_.capacity(); }
  [[nodiscard]] bool has_file() const noexcept { return file_ != nullptr; }

  /// Forgets the rows behind the first `rows`. Pre: those took `bytes`; no reader is beyond them.
  void cut(std::uint64_t bytes, std::uint64_t rows) noexcept;

  /// Reads from the first row on. The file outlives it, and may grow meanwhile.
  class Reader {
   public:
    explicit Reader(RowFile& file) noexcept : file_(&file) {}
    /// False at the end. Values refer to the reader's memory until its next call.
    bool next(std::span<Value> row);
    /// However many values it has.
    bool next_whole(std::vector<Value>& row);
    bool next(Execution& execution, std::span<const Slot> slots);
    /// Sets the place of the next row. Pre: append() returned it.
    void seek(std::uint64_t begin) noexcept;

   private:
    /// The bytes of the next row, or nothing at the end.
    std::optional<Bytes> next_bytes();
    /// The same of a row that is not written yet.
    std::optional<Bytes> next_pending(std::uint64_t at);
    /// False when the file ends before `size` bytes.
    bool require(std::size_t size);

    RowFile* file_;
    std::vector<std::byte> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t offset_ = 0;  ///< in the file, of the buffer's end
  };

 private:
  void begin_row();
  void put(const Value& value);
  std::uint64_t end_row();
  void flush();

  TemporaryFiles* files_;
  std::size_t memory_bytes_;
  std::unique_ptr<TemporaryFile> file_;
  std::string pending_;
  std::size_t row_begin_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace swizzle::sql
