#include "sql-lite-frontend/execution/rows/row_key_stream.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/rows/entry_sorter.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/key_codec.h"

namespace swizzle::sql {
namespace {

/// Rows with one element: neighbours in the index.
class ElementStream final : public RowKeyStream {
 public:
  ElementStream(const ElementEntries& entries, std::string prefix)
      : entries_(entries), prefix_(std::move(prefix)), end_(key_successor(prefix_)) {}

  bool next(Execution& execution) override {
    if (!cursor_) start(execution, prefix_);
    return advance(execution);
  }
  bool seek(Execution& execution, std::string_view key) override {
    // Step over near entries: a descent takes as long as some of them.
    constexpr int kNear = 6;
    for (int i = 0; i < kNear; ++i) {
      if (this->key() >= key) return true;
      if (!advance(execution)) return false;
    }
    if (this->key() >= key) return true;
    start(execution, prefix_ + std::string{key});
    return advance(execution);
  }
  [[nodiscard]] std::string_view key() const noexcept override {
    return as_text(cursor_->key()).substr(prefix_.size());
  }

 private:
  void start(Execution& execution, const std::string& low) {
    cursor_ = value_of(entries_.tree->scan(*execution.transaction,
                                           {.low = as_bytes(low), .high = as_bytes(end_)},
                                           Direction::forward, ReadMode::snapshot, entries_.wait));
  }
  bool advance(Execution& execution) {
    execution.tick();
    return value_of(cursor_->next());
  }

  ElementEntries entries_;
  std::string prefix_;
  std::string end_;
  std::optional<Cursor> cursor_;
};

/// Intersection of all parts: each in turn seeks the key of the farthest.
class CommonStream final : public RowKeyStream {
 public:
  explicit CommonStream(std::vector<RowKeyStreamPtr> parts) : parts_(std::move(parts)) {}

  bool next(Execution& execution) override {
    if (is_first_) {
      is_first_ = false;
      for (const RowKeyStreamPtr& part : parts_) {
        if (!part->next(execution)) return false;
      }
      return seek_common_key(execution);
    }
    return parts_.front()->next(execution) && seek_common_key(execution);
  }
  bool seek(Execution& execution, std::string_view key) override {
    if (this->key() >= key) return true;
    return parts_.front()->seek(execution, key) && seek_common_key(execution);
  }
  [[nodiscard]] std::string_view key() const noexcept override { return parts_.front()->key(); }

 private:
  bool seek_common_key(Execution& execution) {
    std::size_t agreeing = 1;
    target_ = parts_.front()->key();
    for (std::size_t i = 1 % parts_.size(); agreeing < parts_.size(); i = (i + 1) % parts_.size()) {
      if (!parts_[i]->seek(execution, target_)) return false;
      if (parts_[i]->key() == target_) {
        ++agreeing;
      } else {
        target_ = parts_[i]->key();
        agreeing = 1;
      }
    }
    return true;
  }

  std::vector<RowKeyStreamPtr> parts_;
  std::string target_;
  bool is_first_ = true;
};

/// Union of a few parts.
class EitherStream final : public RowKeyStream {
 public:
  explicit EitherStream(std::vector<RowKeyStreamPtr> parts) : parts_(std::move(parts)) {}

  bool next(Execution& execution) override {
    if (is_first_) {
      is_first_ = false;
      std::erase_if(parts_, [&](const RowKeyStreamPtr& part) { return !part->next(execution); });
      return choose();
    }
    last_ = key();
    std::erase_if(parts_, [&](const RowKeyStreamPtr& part) {
      return part->key() == last_ && !part->next(execution);
    });
    return choose();
  }
  bool seek(Execution& execution, std::string_view key) override {
    if (this->key() >= key) return true;
    std::erase_if(parts_, [&](const RowKeyStreamPtr& part) { return !part->seek(execution, key); });
    return choose();
  }
  [[nodiscard]] std::string_view key() const noexcept override { return parts_[lowest_]->key(); }

 private:
  bool choose() noexcept {
    lowest_ = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (parts_[i]->key() < parts_[lowest_]->key()) lowest_ = i;
    }
    return !parts_.empty();
  }

  std::vector<RowKeyStreamPtr> parts_;  ///< those that are not at their ends
  std::size_t lowest_ = 0;
  std::string last_;
  bool is_first_ = true;
};

/// Stream over keys that come unsorted and with duplicates: collects and sorts all of them first.
class SortedStream : public RowKeyStream {
 public:
  explicit SortedStream(WorkSpace space) : sorter_(space) {}

  bool next(Execution& execution) final {
    if (is_first_) {
      is_first_ = false;
      take_all(execution, sorter_);
      sorter_.finish();
    }
    while (const auto entry = sorter_.next()) {
      execution.tick();
      if (has_key_ && entry->key == key_) continue;
      key_ = entry->key;
      has_key_ = true;
      return true;
    }
    return false;
  }
  bool seek(Execution& execution, std::string_view key) final {
    while (key_ < key) {
      if (!next(execution)) return false;
    }
    return true;
  }
  [[nodiscard]] std::string_view key() const noexcept final { return key_; }

 protected:
  virtual void take_all(Execution& execution, EntrySorter& into) = 0;

 private:
  EntrySorter sorter_;
  std::string key_;
  bool has_key_ = false;
  bool is_first_ = true;
};

/// Returns the rest of an entry after a text element, which ends with a zero byte.
std::string_view behind_text(std::string_view entry) {
  return entry.substr(std::min(entry.find('\0', 1) + 1, entry.size()));
}

/// Rows with an element that begins with something.
class PrefixStream final : public SortedStream {
 public:
  PrefixStream(const ElementEntries& entries, std::string prefix, WorkSpace space)
      : SortedStream(space), entries_(entries), prefix_(std::move(prefix)) {}

 private:
  void take_all(Execution& execution, EntrySorter& into) override {
    const std::string end = key_successor(prefix_);
    Cursor cursor = value_of(entries_.tree->scan(
        *execution.transaction, {.low = as_bytes(prefix_), .high = as_bytes(end)},
        Direction::forward, ReadMode::snapshot, entries_.wait));
    while (value_of(cursor.next())) {
      execution.tick();
      into.add(behind_text(as_text(cursor.key())), {});
    }
  }

  ElementEntries entries_;
  std::string prefix_;
};

/// Union of many parts: they are read one after the other.
class ManyStream final : public SortedStream {
 public:
  ManyStream(const ElementEntries& entries, std::size_t column, const ElementQuery& query,
             WorkSpace space)
      : SortedStream(space), entries_(entries), column_(column), query_(query) {}

 private:
  void take_all(Execution& execution, EntrySorter& into) override {
    for (const ElementQuery& part : query_.parts) {
      const ColumnQuery one{column_, &part};
      const RowKeyStreamPtr keys = row_keys_of(entries_, {&one, 1}, execution);
      while (keys->next(execution)) into.add(keys->key(), {});
    }
  }

  ElementEntries entries_;
  std::size_t column_;
  const ElementQuery& query_;
};

class NoKeys final : public RowKeyStream {
 public:
  bool next(Execution& /*execution*/) override { return false; }
  bool seek(Execution& /*execution*/, std::string_view /*key*/) override { return false; }
  [[nodiscard]] std::string_view key() const noexcept override { return {}; }
};

WorkSpace space_of(const Execution& execution) {
  return {.memory_bytes = execution.memory->work_bytes, .files = execution.memory->files};
}

/// Returns the first bytes of a column's entries with an element.
std::string prefix_of(std::size_t column, const ElementQuery& element) {
  std::string prefix(1, column_byte(column));
  return prefix += element.bytes;
}

/// Number of rows with an element, counted up to a limit.
class ElementCount {
 public:
  ElementCount(const ElementEntries& entries, std::string prefix, Execution& execution)
      : prefix_(std::move(prefix)), end_(key_successor(prefix_)) {
    cursor_ = value_of(entries.tree->scan(*execution.transaction,
                                          {.low = as_bytes(prefix_), .high = as_bytes(end_)},
                                          Direction::forward, ReadMode::snapshot, entries.wait));
  }
  /// Continues counting up to `limit`.
  void count_to(std::size_t limit, Execution& execution) {
    while (cursor_ && count_ < limit) {
      execution.tick();
      const std::size_t passed = value_of(cursor_->pass());
      count_ += passed;
      if (passed == 0) cursor_.reset();
    }
  }
  [[nodiscard]] bool is_all() const noexcept { return !cursor_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 private:
  std::string prefix_;
  std::string end_;
  std::optional<Cursor> cursor_;
  std::size_t count_ = 0;
};

/// Rows that contain several elements: reads those of the rarest element and looks up the others
/// for each.
class RarestStream final : public RowKeyStream {
 public:
  RarestStream(const ElementEntries& entries, std::vector<std::string> prefixes)
      : entries_(entries), others_(std::move(prefixes)) {}

  bool next(Execution& execution) override {
    if (!rarest_) choose(execution);
    while (rarest_->next(execution)) {
      if (has_others(execution)) return true;
    }
    return false;
  }
  bool seek(Execution& execution, std::string_view key) override {
    if (this->key() >= key) return true;
    if (!rarest_->seek(execution, key)) return false;
    return has_others(execution) || next(execution);
  }
  [[nodiscard]] std::string_view key() const noexcept override { return rarest_->key(); }

 private:
  /// Elements that most rows have are left to the check of the rows; of a few rows all elements
  /// are.
  void choose(Execution& execution) {
    std::vector<ElementCount> counts;
    for (std::string& prefix : others_) counts.emplace_back(entries_, std::move(prefix), execution);
    others_.clear();
    constexpr std::size_t kFirst = 64;
    constexpr std::size_t kGrowth = 4;
    const auto is_all = [](const ElementCount& one) { return one.is_all(); };
    for (std::size_t limit = kFirst; std::ranges::none_of(counts, is_all); limit *= kGrowth) {
      for (ElementCount& one : counts) one.count_to(limit, execution);
    }
    const auto by_count = [](const ElementCount& one) {
      return one.is_all() ? one.count() : SIZE_MAX;
    };
    const auto rarest = std::ranges::min_element(counts, {}, by_count);
    constexpr std::size_t kFew = 8;
    constexpr std::size_t kTimes = 16;
    const std::size_t least = rarest->count();
    const auto share = static_cast<std::size_t>(std::max(entries_.rows / 4, 0.0));
    for (ElementCount& one : counts) {
      if (&one == &*rarest || least <= kFew) continue;
      const std::size_t most = std::min(least * kTimes, share);
      one.count_to(most, execution);
      if (one.is_all()) others_.push_back(one.prefix());
    }
    rarest_ = std::make_unique<ElementStream>(entries_, rarest->prefix());
  }
  bool has_others(Execution& execution) {
    for (const std::string& prefix : others_) {
      execution.tick();
      entry_ = prefix;
      entry_ += rarest_->key();
      if (!value_of(entries_.tree->get(*execution.transaction, as_bytes(entry_), ignored_,
                                       ReadMode::snapshot, entries_.wait))) {
        return false;
      }
    }
    return true;
  }

  ElementEntries entries_;
  std::vector<std::string> others_;  ///< before the choice all of them
  std::unique_ptr<ElementStream> rarest_;
  std::string entry_;
  ValueBuffer ignored_;
};

/// Splits queries into the elements that rows must have and the remaining conditions.
class Requirements {
 public:
  Requirements(const ElementEntries& entries, Execution& execution)
      : entries_(entries), execution_(execution) {}

  void add(std::size_t column, const ElementQuery& query) {
    check_stack();
    switch (query.kind) {
      case ElementQuery::Kind::element:
        elements_.push_back(prefix_of(column, query));
        return;
      case ElementQuery::Kind::all:
        for (const ElementQuery& part : query.parts) add(column, part);
        return;
      default:
        if (auto stream = stream_of(column, query)) others_.push_back(std::move(stream));
    }
  }
  /// Null: nothing is required.
  RowKeyStreamPtr stream() && {
    // Rows are asked anyway, so that some of many are enough.
    constexpr std::size_t kMost = 16;
    if (elements_.size() > kMost) elements_.resize(kMost);
    if (elements_.size() == 1) {
      others_.push_back(std::make_unique<ElementStream>(entries_, std::move(elements_[0])));
    } else if (!elements_.empty()) {
      others_.push_back(std::make_unique<RarestStream>(entries_, std::move(elements_)));
    }
    if (others_.empty()) return nullptr;
    if (others_.size() == 1) return std::move(others_.front());
    return std::make_unique<CommonStream>(std::move(others_));
  }

 private:
  RowKeyStreamPtr stream_of(std::size_t column, const ElementQuery& query);

  const ElementEntries& entries_;
  Execution& execution_;
  std::vector<std::string> elements_;
  std::vector<RowKeyStreamPtr> others_;
};

RowKeyStreamPtr Requirements::stream_of(std::size_t column, const ElementQuery& query) {
  using Kind = ElementQuery::Kind;
  constexpr std::size_t kFew = 16;
  switch (query.kind) {
    case Kind::everything:
      return nullptr;
    case Kind::prefix:
      return std::make_unique<PrefixStream>(entries_, prefix_of(column, query),
                                            space_of(execution_));
    case Kind::any: {
      if (query.parts.size() > kFew) {
        return std::make_unique<ManyStream>(entries_, column, query, space_of(execution_));
      }
      std::vector<RowKeyStreamPtr> parts;
      for (const ElementQuery& part : query.parts) {
        const ColumnQuery one{column, &part};
        parts.push_back(row_keys_of(entries_, {&one, 1}, execution_));
      }
      return std::make_unique<EitherStream>(std::move(parts));
    }
    default:
      return std::make_unique<NoKeys>();
  }
}

}  // namespace

RowKeyStreamPtr row_keys_of(const ElementEntries& entries, std::span<const ColumnQuery> queries,
                            Execution& execution) {
  Requirements required{entries, execution};
  for (const ColumnQuery& one : queries) required.add(one.column, *one.query);
  return std::move(required).stream();
}

}  // namespace swizzle::sql
