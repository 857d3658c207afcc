// swizzle-budget <operation> <count>: runs an operation `count` times after a fixed set-up.
// scripts/instruction-budgets lets callgrind count the instructions inside counted() for two
// counts, and divides the difference.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "base/invariant.h"
#include "base/programs/program_words.h"
#include "bench/budget/operation.h"

namespace swizzle::bench {

/// Function whose instructions callgrind counts, by its name.
[[gnu::noinline]] bool counted(BudgetOperation& operation, std::uint64_t times) {
  bool all_done = true;
  for (std::uint64_t i = 0; i < times; ++i) all_done = operation.run(i) && all_done;
  return all_done;
}

namespace {

constexpr std::string_view kName = "swizzle-budget";

int run(int count, char** words) {
  const std::string usage =
      fmt::format("swizzle-budget list | <operation> <count up to {}>\n", BudgetOperation::kMost);
  if (answers_program_words(count, words, kName, usage)) return 0;
  BudgetOperations operations;
  add_tree_operations(operations);
  add_lock_operations(operations);
  add_engine_operations(operations);
  add_sql_operations(operations);
  if (count == 2 && std::string_view{words[1]} == "list") {
    for (const auto& [name, make] : operations) fmt::print("{}\n", name);
    return 0;
  }
  const auto chosen = operations.find(count == 3 ? words[1] : "");
  std::uint64_t times = 0;
  if (chosen != operations.end()) {
    std::from_chars(words[2], words[2] + std::strlen(words[2]), times);
  }
  if (times == 0 || times > BudgetOperation::kMost) {
    return refuse_program_words(kName, "an operation that there is and a count are needed");
  }
  const auto operation = chosen->second();
  const bool all_done = counted(*operation, times);
  INVARIANT(all_done);
  return 0;
}

}  // namespace
}  // namespace swizzle::bench

int main(int count, char** words) {
  return swizzle::bench::run(count, words);
}
