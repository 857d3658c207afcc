#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "base/random.h"
#include "base/runtime/runtime.h"
#include "storage/engine.h"
#include "storage/statistics.h"

namespace swizzle::testing {

using Rows = std::map<std::string, std::string>;

/// A table and an index of it that are churned as applications do, beside a model of both.
class Churn {
 public:
  enum class Kind : std::uint8_t {
    queue,     ///< inserts at one end, removals by key at the other
    window,    ///< random keys; the oldest go
    sessions,  ///< random keys; any goes
    counters,  ///< values change in place, in length as well
    hot_index  ///< rows stay, their index entries move
  };
  Churn(Engine& engine, Kind kind, std::uint64_t seed)
      : engine_(engine), kind_(kind), random_(seed) {
    const auto transaction = engine_.begin();
    table_ = engine_.create_tree(*transaction).value();
    index_ = engine_.create_tree(*transaction).value();
    INVARIANT(transaction->commit().has_value());
    while (live_.size() < kLive) {
      const auto filling = engine_.begin();
      for (int i = 0; i < 50; ++i) insert(*filling);
      INVARIANT(filling->commit(Transaction::Durability::asynchronous).has_value());
    }
  }

  /// One transaction of a few changes.
  void run_transaction() {
    const auto transaction = engine_.begin();
    for (int i = 0; i < 4; ++i) change(*transaction);
    INVARIANT(transaction->commit(Transaction::Durability::asynchronous).has_value());
    // Some are taken back.
    if (!random_.one_in(16)) return;
    const auto taken_back = engine_.begin();
    Tree rows = table();
    for (int i = 0; i < 4; ++i)
      INVARIANT(rows.insert(*taken_back, as_bytes("~" + token()), as_bytes(value())).value());
    taken_back->rollback();
  }

  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  [[nodiscard]] const Rows& entries() const noexcept { return entries_; }
  [[nodiscard]] TreeId table_id() const noexcept { return table_; }
  [[nodiscard]] TreeId index_id() const noexcept { return index_; }

  Rows read(Transaction& transaction, TreeId tree) const {
    Rows all;
    Cursor cursor = engine_.tree(tree).value().scan(transaction, {}).value();
    while (cursor.next().value()) all.emplace(as_text(cursor.key()), as_text(cursor.value()));
    return all;
  }
  [[nodiscard]] std::uint64_t pages() const {
    return engine_.size_of(table_).value().pages + engine_.size_of(index_).value().pages;
  }
  /// Counts the pages of the same rows when loaded into new trees.
  std::uint64_t fresh_pages() {
    std::uint64_t pages = 0;
    for (const Rows* const content : {&rows_, &entries_}) {
      const auto transaction = engine_.begin();
      const TreeId tree = engine_.create_tree(*transaction).value();
      auto at = content->begin();
      INVARIANT(engine_
                    .bulk_load(*transaction, tree,
                               [&]() -> Result<std::optional<Engine::Record>> {
                                 if (at == content->end()) return std::nullopt;
                                 const Engine::Record record{as_bytes(at->first),
                                                             as_bytes(at->second)};
                                 ++at;
                                 return record;
                               })
                    .has_value());
      pages += engine_.size_of(tree).value().pages;
      transaction->rollback();
    }
    return pages;
  }

 private:
  static constexpr std::size_t kLive = 3000;

  [[nodiscard]] Tree table() const { return engine_.tree(table_).value(); }
  std::string token() { return std::to_string(random_() % 1'000'000'000'000); }
  std::string value() { return std::string(20 + random_.below(60), 'v'); }
  static std::string padded(std::uint64_t number) {
    const std::string text = std::to_string(number);
    return std::string(12 - text.size(), '0') + text;
  }

  void insert(Transaction& transaction) {
    const bool ascending = kind_ == Kind::queue || kind_ == Kind::hot_index;
    std::string key = ascending ? padded(++last_) : token();
    if (rows_.contains(key)) return;
    put_entry(transaction, padded(++moment_), key);
    put_row(transaction, key);
    live_.push_back(std::move(key));
  }
  void put_row(Transaction& transaction, const std::string& key) {
    std::string text = value();
    Tree rows = table();
    INVARIANT(rows.insert(transaction, as_bytes(key), as_bytes(text)).value());
    rows_.emplace(key, std::move(text));
  }
  void put_entry(Transaction& transaction, const std::string& moment, const std::string& key) {
    std::string entry = moment;
    entry += ' ';
    entry += key;
    Tree index = engine_.tree(index_).value();
    INVARIANT(index.insert(transaction, as_bytes(entry), {}).value());
    entries_.emplace(entry, "");
    entry_of_[key] = std::move(entry);
  }
  void take_entry(Transaction& transaction, const std::string& key) {
    const auto at = entry_of_.find(key);
    Tree index = engine_.tree(index_).value();
    INVARIANT(index.remove(transaction, as_bytes(at->second)).value());
    entries_.erase(at->second);
    entry_of_.erase(at);
  }
  void remove(Transaction& transaction, const std::string& key) {
    take_entry(transaction, key);
    Tree rows = table();
    INVARIANT(rows.remove(transaction, as_bytes(key)).value());
    rows_.erase(key);
  }
  void change(Transaction& transaction) {
    const std::size_t any = random_.below(live_.size());
    switch (kind_) {
      case Kind::queue:
      case Kind::window:
        insert(transaction);
        remove(transaction, live_.front());
        live_.pop_front();
        return;
      case Kind::sessions:
        insert(transaction);
        remove(transaction, live_[any]);
        live_[any] = std::move(live_.back());
        live_.pop_back();
        return;
      case Kind::counters: {
        std::string text = value();
        Tree rows = table();
        INVARIANT(rows.update(transaction, as_bytes(live_[any]), as_bytes(text)).value());
        rows_[live_[any]] = std::move(text);
        return;
      }
      case Kind::hot_index:
        take_entry(transaction, live_[any]);
        put_entry(transaction, padded(++moment_), live_[any]);
        return;
    }
  }

  Engine& engine_;
  const Kind kind_;
  Random random_;
  TreeId table_{};
  TreeId index_{};
  std::uint64_t last_ = 0;
  std::uint64_t moment_ = 0;
  std::deque<std::string> live_;
  Rows rows_;
  Rows entries_;
  std::map<std::string, std::string> entry_of_;
};

}  // namespace swizzle::testing
