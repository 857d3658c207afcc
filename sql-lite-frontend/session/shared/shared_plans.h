#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sql-lite-frontend/session/shared/statement_cache.h"
#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

struct ParsedText;
using ParsedTextPtr = CheckedShared<const ParsedText>;
struct SharedPlan;
using SharedPlanPtr = std::shared_ptr<const SharedPlan>;

/// Bounded cache of parsed texts and plans, shared by all sessions. Thread-safe; lookups never
/// wait. A session uses it only for statements that its own caches lack, so repeated statements
/// touch nothing shared.
///
/// Plans carry no rights. The key of a plan includes everything that its meaning depends on (role,
/// meaning of names, settings), and each session checks the privileges of the accessed objects when
/// it runs the plan.
class SharedPlans {
 public:
  /// Returns null if the text is not cached. Only texts with at most one statement are.
  ParsedTextPtr find_text(std::string_view text) { return texts_.find(text); }
  /// `limit`: maximum number of cached texts from now on.
  void put(ParsedTextPtr text, std::size_t limit);
  /// Returns null if the plan is not cached.
  SharedPlanPtr find_plan(std::string_view key) { return plans_.find(key); }
  /// `bytes`: memory of the plan.
  void put(std::string_view key, SharedPlanPtr plan, std::size_t bytes, std::size_t limit);
  void clear();

  struct Counts {
    std::uint64_t plans = 0;  ///< cached now
    std::uint64_t taken = 0;  ///< used by sessions that had not made them
    std::uint64_t made = 0;   ///< made and cached
  };
  [[nodiscard]] Counts counts() const;
  void note_taken() noexcept { taken_.fetch_add(1, std::memory_order_relaxed); }

 private:
  /// Partitioned by the key's hash, so that sessions seldom contend.
  template <class Entry>
  class Parted {
   public:
    Entry find(std::string_view key);
    void put(std::string_view key, Entry entry, std::size_t bytes, std::size_t limit);
    void clear();
    [[nodiscard]] std::size_t size() const;

   private:
    static constexpr std::size_t kParts = 16;
    struct Part {
      mutable std::mutex mutex;
      TextCache<Entry> entries{0};
    };
    Part& part_of(std::string_view key) { return parts_[NameHash{}(key) % kParts]; }
    std::array<Part, kParts> parts_;
  };

  Parted<ParsedTextPtr> texts_;
  Parted<SharedPlanPtr> plans_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> made_{0};
};

}  // namespace swizzle::sql
