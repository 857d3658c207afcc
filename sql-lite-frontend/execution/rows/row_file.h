#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/rows/temporary_files.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Rows in a temporary file: appended in sequence, readable any number of times. Throws SqlError
/// 53100 if the disk is full.
class RowFile {
 public:
  /// Size of the write buffer, and of each reader's. Small, because a statement may write to dozens
  /// of files at once.
  static constexpr std::size_t kBufferBytes = 16384;

  explicit RowFile(TemporaryFiles& files) : RowFile(&files, kBufferBytes) {}
  /// The file is created only once the rows exceed `memory_bytes`. Null `files`: never.
  RowFile(TemporaryFiles* files, std::size_t memory_bytes) noexcept
      : files_(files), memory_bytes_(memory_bytes) {}

  /// Appends a row; returns its offset.
  std::uint64_t append(std::span<const Value> row);
  std::uint64_t append(const Execution& execution, std::span<const Slot> slots);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return written_ + pending_.size(); }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return pending_.capacity(); }
  [[nodiscard]] bool has_file() const noexcept { return file_ != nullptr; }

  /// Removes all rows after the first `rows`. Pre: those take `bytes`; no reader is beyond them.
  void cut(std::uint64_t bytes, std::uint64_t rows) noexcept;

  /// Reads from the first row on. The file outlives the reader, and rows may be appended meanwhile.
  class Reader {
   public:
    explicit Reader(RowFile& file) noexcept : file_(&file) {}
    /// Returns false at the end. Values refer to the reader's memory until its next call.
    bool next(std::span<Value> row);
    /// The same for a row with any number of values.
    bool next_whole(std::vector<Value>& row);
    bool next(Execution& execution, std::span<const Slot> slots);
    /// Positions the reader before a row. Pre: append() returned `begin`.
    void seek(std::uint64_t begin) noexcept;

   private:
    /// Returns the encoded next row, or nothing at the end.
    std::optional<Bytes> next_bytes();
    /// Returns the same for a row that is still in the file's write buffer.
    std::optional<Bytes> next_pending(std::uint64_t at);
    /// Buffers `size` bytes; false if the file has fewer.
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
