#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/execution/rows/row_file.h"

namespace swizzle::sql {

/// Sorts the entries of a new tree: added in any order, returned in key order. Entries beyond the
/// memory limit are spilled as sorted runs, which are merged.
///
/// In memory, keys and values are in large chunks. Pointers to them are sorted together with the
/// first eight bytes of each key, so that most comparisons are of integers.
class EntrySorter {
 public:
  struct Entry {
    std::string_view key;
    std::string_view value;
  };

  explicit EntrySorter(WorkSpace space) noexcept : space_(space) {}

  /// Pre: key and value are shorter than 4 GB.
  void add(std::string_view key, std::string_view value);
  /// Ends the input.
  void finish();
  /// Returns the next entry in key order (equal keys in any order), or nothing at the end. Pre:
  /// finish(). Valid until the next call.
  std::optional<Entry> next();

  /// Returns the entry that next() will return after `calls` further calls, if it is in memory.
  [[nodiscard]] std::optional<Entry> ahead(std::size_t calls) const noexcept;

  /// Removes all entries but keeps the memory. Pre: nothing was spilled.
  void restart();

  [[nodiscard]] std::size_t runs_in_files() const noexcept { return runs_.size(); }

 private:
  struct Item {
    std::uint64_t head;  ///< big-endian, so that it compares as the key does
    const char* at;      ///< the sizes, then the bytes
  };
  struct Run {
    explicit Run(TemporaryFiles& in) : file(std::make_unique<RowFile>(in)), reader(*file) {}
    std::unique_ptr<RowFile> file;
    RowFile::Reader reader;
    std::array<Value, 2> record;  ///< the next one
  };
  static Entry entry_at(const char* at) noexcept;
  static bool less(const Item& a, const Item& b) noexcept;
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  char* take(std::size_t bytes);
  void grow_items();
  void sort_items();
  void sort_in_memory();
  void sort_by_heads();
  void forget_items() noexcept;
  void write_run();
  void merge_runs();
  void begin_merge();
  void advance(std::size_t run);
  [[nodiscard]] bool later(std::size_t left, std::size_t right) const;

  WorkSpace space_;
  std::vector<Item> items_;
  std::vector<Item> scratch_;
  struct Chunk {
    std::unique_ptr<char[]> memory;
    std::size_t size;
  };
  std::vector<Chunk> chunks_;
  std::size_t chunks_used_ = 0;  ///< chunks from here on are kept for the next run
  std::size_t chunk_bytes_ = 0;
  std::size_t left_in_chunk_ = 0;
  char* next_ = nullptr;
  bool is_sorted_ = true;
  std::size_t position_ = 0;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;  ///< of runs_, the one with the lowest key in front
  bool has_handed_out_ = false;    ///< the record of the run in front
};

}  // namespace swizzle::sql
