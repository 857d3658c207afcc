#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "base/runtime/runtime.h"
#include "storage/engine.h"
#include "storage/statistics.h"

namespace swizzle::testing {

/// Rows of a tree that is used as a queue.
inline constexpr int kQueued = 3000;

inline std::string queue_key(int number) {
  return std::to_string(100'000 + number);
}

inline TreeId fill_queue(Engine& engine) {
  const auto transaction = engine.begin();
  const TreeId id = engine.create_tree(*transaction).value();
  Tree tree = engine.tree(id).value();
  for (int i = 0; i < kQueued; ++i)
    REQUIRE(
        tree.insert(*transaction, as_bytes(queue_key(i)), as_bytes(std::string(200, 'q'))).value());
  REQUIRE(transaction->commit());
  return id;
}

/// Removes what a consumer has taken, while a snapshot keeps the ghosts.
inline void consume(Engine& engine, TreeId id, int from, int to) {
  Tree tree = engine.tree(id).value();
  const auto transaction = engine.begin();
  for (int i = from; i < to; ++i)
    REQUIRE(tree.remove(*transaction, as_bytes(queue_key(i))).value());
  REQUIRE(transaction->commit());
}

/// Waits for a small database, reading nothing of the tree.
inline bool gets_small(const Engine& engine, std::uint64_t most_pages) {
  Runtime& runtime = Runtime::current();
  for (int i = 0; i < 600; ++i) {
    if (engine.statistics().pages_allocated <= most_pages) return true;
    runtime.sleep_until(runtime.now() + std::chrono::milliseconds{100});
  }
  return false;
}

}  // namespace swizzle::testing
