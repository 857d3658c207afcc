#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

/// Tables that a session's running statements read and write, whether started by a message, a
/// cursor, a trigger or a function. Definitions of these tables must not change meanwhile.
class TablesInUse {
 public:
  using Tables = std::vector<TablePtr>;

  /// Keeps the tables, which outlive it, in use for its lifetime.
  class Entry {
   public:
    Entry() = default;
    Entry(TablesInUse& of, const Tables& tables) : of_(&of), tables_(&tables) {
      of.entries_.push_back(&tables);
    }
    Entry(Entry&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), tables_(other.tables_) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(tables_, other.tables_);
      other.leave();
      return *this;
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { leave(); }

   private:
    void leave() noexcept {
      if (of_ == nullptr) return;
      auto& entries = std::exchange(of_, nullptr)->entries_;
      // Mostly it is the newest entry.
      const auto found = std::find(entries.rbegin(), entries.rend(), tables_);
      entries.erase(std::next(found).base());
    }

    TablesInUse* of_ = nullptr;
    const Tables* tables_ = nullptr;
  };

  /// True if one statement runs, and reads no table.
  [[nodiscard]] bool is_of_one_run_without_tables() const noexcept {
    return entries_.size() == 1 && entries_.front()->empty();
  }
  [[nodiscard]] bool contain(Oid relation) const {
    return std::ranges::any_of(entries_, [&](const Tables* tables) {
      return std::ranges::any_of(
          *tables, [&](const TablePtr& table) { return table->relation.oid == relation; });
    });
  }

 private:
  std::vector<const Tables*> entries_;
};

}  // namespace swizzle::sql
