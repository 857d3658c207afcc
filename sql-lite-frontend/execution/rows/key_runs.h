#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Keys beyond a hash table's memory limit, in sorted temporary files. Every n-th key of a file is
/// also in memory, so that a look-up reads only a short section of each file. Files of equal size
/// are merged once there are a few.
class KeyRuns {
 public:
  [[nodiscard]] bool empty() const noexcept { return levels_.empty() && !gathered_; }

  void add(Execution& execution, std::string_view key) {
    if (!gathered_) gathered_ = std::make_unique<Gathered>(*execution.memory);
    gathered_->keys.push_back(gathered_->bytes.copy(key));
    const std::size_t held =
        gathered_->bytes.reserved_bytes() + gathered_->keys.capacity() * sizeof(std::string_view);
    if (held > execution.memory->work_bytes) write_gathered(execution);
  }
  /// Ends the input.
  void finish(Execution& execution) {
    if (gathered_) write_gathered(execution);
  }
  [[nodiscard]] bool contains(std::string_view key) {
    return std::ranges::any_of(levels_, [&](auto& level) {
      return std::ranges::any_of(level, [&](auto& run) { return run->contains(key); });
    });
  }
  void clear() noexcept {
    gathered_.reset();
    levels_.clear();
  }

 private:
  static constexpr std::uint64_t kKeysPerGuide = 64;
  static constexpr std::size_t kMergedRuns = 8;
  static constexpr std::size_t kWorkOfComparison = 10;

  struct Gathered {
    explicit Gathered(WorkMemory& memory) : keys(CountedAllocator<std::string_view>{&memory}) {
      bytes.count_in(&memory);
    }
    CountedVector<std::string_view> keys;
    Arena bytes;
  };

  class Run {
   public:
    explicit Run(WorkMemory& memory)
        : file_(*memory.files), reader_(file_), guides_(CountedAllocator<Guide>{&memory}) {
      bytes_.count_in(&memory);
    }
    /// Adds a key. Pre: keys come in ascending order.
    void append(std::string_view key) {
      const bool is_guide = file_.rows() % kKeysPerGuide == 0;
      const Value row = Value::from_bytes(as_bytes(key));
      const std::uint64_t place = file_.append(std::span{&row, 1});
      if (is_guide) guides_.push_back({bytes_.copy(key), place});
    }
    [[nodiscard]] bool contains(std::string_view key) {
      const auto above = std::ranges::upper_bound(guides_, key, {}, &Guide::key);
      if (above == guides_.begin()) return false;
      reader_.seek(std::prev(above)->place);
      Value found;
      for (std::uint64_t i = 0; i < kKeysPerGuide && reader_.next(std::span{&found, 1}); ++i) {
        const int order = found.as_text().compare(key);
        if (order >= 0) return order == 0;
      }
      return false;
    }
    [[nodiscard]] RowFile& file() noexcept { return file_; }

   private:
    struct Guide {
      std::string_view key;
      std::uint64_t place;
    };
    RowFile file_;
    RowFile::Reader reader_;
    CountedVector<Guide> guides_;
    Arena bytes_;
  };
  using Level = std::vector<std::unique_ptr<Run>>;

  void write_gathered(Execution& execution) {
    std::ranges::sort(gathered_->keys, [](std::string_view left, std::string_view right) {
      yield_point(kWorkOfComparison);
      return left < right;
    });
    auto run = std::make_unique<Run>(*execution.memory);
    std::string_view last;
    for (const std::string_view key : gathered_->keys) {
      execution.tick();
      if (key != last || run->file().rows() == 0) run->append(key);
      last = key;
    }
    gathered_.reset();
    keep(execution, std::move(run), 0);
  }

  void keep(Execution& execution, std::unique_ptr<Run> run, std::size_t level) {
    while (true) {
      if (levels_.size() <= level) levels_.resize(level + 1);
      levels_[level].push_back(std::move(run));
      if (levels_[level].size() < kMergedRuns) return;
      run = merge(execution, levels_[level]);
      levels_[level].clear();
      ++level;
    }
  }

  static std::unique_ptr<Run> merge(Execution& execution, Level& runs) {
    struct Input {
      explicit Input(RowFile& file) : reader(file) { advance(); }
      void advance() { is_at_end = !reader.next(std::span{&key, 1}); }
      RowFile::Reader reader;
      Value key;
      bool is_at_end = false;
    };
    std::vector<std::unique_ptr<Input>> inputs;
    for (auto& run : runs) inputs.push_back(std::make_unique<Input>(run->file()));
    auto merged = std::make_unique<Run>(*execution.memory);
    while (true) {
      execution.tick();
      std::erase_if(inputs, [](const auto& input) { return input->is_at_end; });
      if (inputs.empty()) return merged;
      const auto least = std::ranges::min_element(
          inputs, {}, [](const auto& input) { return input->key.as_text(); });
      const std::string key{(*least)->key.as_text()};
      merged->append(key);
      for (auto& input : inputs)
        if (input->key.as_text() == key) input->advance();
    }
  }

  std::unique_ptr<Gathered> gathered_;
  std::vector<Level> levels_;
};

}  // namespace swizzle::sql
