#include "sql-lite-frontend/types/long_values.h"

#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>

#include "base/fibers/fiber_runtime.h"
#include "sql-lite-frontend/types/numeric/numeric_product.h"
#include "sql-lite-frontend/types/regex/regex.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

std::string any_text(std::mt19937_64& random, std::size_t size) {
  std::string out(size, ' ');
  for (char& letter : out) letter = random() % 2 == 0 ? 'a' : 'b';
  return out;
}

std::vector<std::uint16_t> any_digits(std::mt19937_64& random, std::size_t size) {
  std::vector<std::uint16_t> out(size);
  // Mostly the largest digit, which gives the largest sums.
  for (auto& digit : out) {
    digit = random() % 4 == 0 ? static_cast<std::uint16_t>(random() % 10000) : std::uint16_t{9999};
  }
  return out;
}

}  // namespace

TEST_CASE("long texts are searched as std::string_view searches them", "[types][long]") {
  std::mt19937_64 random{17};
  INFO("seed 17");
  for (int round = 0; round < 300; ++round) {
    const std::string text = any_text(random, random() % 200'000);
    const std::string part = any_text(random, 1 + random() % 18);
    const std::size_t from = text.empty() ? 0 : random() % text.size();
    REQUIRE(find_long(text, part, from) == text.find(part, from));
  }
  // Across pieces, at the ends, and a missing one.
  std::string text(300'000, 'x');
  for (const std::size_t at : {std::size_t{0}, std::size_t{65'530}, std::size_t{65'536},
                               std::size_t{131'070}, std::size_t{299'990}}) {
    std::string with = text;
    with.replace(at, 10, "needleneed");
    CHECK(find_long(with, "needleneed") == at);
    CHECK(find_long(with, "needleneex") == std::string_view::npos);
  }
  CHECK(find_long("abc", "", 2) == 2);
  CHECK(find_long("abc", "abcd") == std::string_view::npos);
  CHECK(find_long("", "a") == std::string_view::npos);
}

TEST_CASE("characters of long texts are counted in pieces", "[types][long]") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += i % 3 == 0 ? "ä" : i % 3 == 1 ? "x" : "€";
  CHECK(count_long_characters(text) == 100'000);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{65'535}, std::size_t{65'537},
        std::size_t{100'000}, std::size_t{200'000}}) {
    CHECK(bytes_of_long_characters(text, count) == bytes_of_characters(text, count));
  }
}

TEST_CASE("a text is built in chunks", "[types][long]") {
  std::mt19937_64 random{3};
  INFO("seed 3");
  for (int round = 0; round < 50; ++round) {
    Arena arena;
    TextBuilder builder{arena};
    std::string expected;
    for (std::size_t i = 0; i < 200; ++i) {
      const std::string part = any_text(random, random() % (i % 50 == 0 ? 400'000 : 300));
      builder += part;
      expected += part;
      if (i % 7 == 0) {
        builder.append(i, 'z');
        expected.append(i, 'z');
      }
    }
    CHECK(builder.size() == expected.size());
    REQUIRE(builder.finish().as_text() == expected);
  }
  Arena arena;
  TextBuilder empty{arena};
  CHECK(empty.finish().as_text().empty());
}

#ifndef SWIZZLE_ASAN  // its shadow memory is long work as well
namespace {

std::size_t huge_bytes_of_the_process() {
  std::ifstream summary{"/proc/self/smaps_rollup"};
  std::size_t kilobytes = 0;
  for (std::string word; summary >> word;) {
    if (word == "AnonHugePages:") summary >> kilobytes;
  }
  return kilobytes << 10U;
}

/// True if an allocation of that size would now be mostly in huge pages.
bool has_huge_pages_for(std::size_t bytes) {
  const std::size_t before = huge_bytes_of_the_process();
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 'x', bytes);
  const std::size_t after = huge_bytes_of_the_process();
  ::munmap(memory, bytes);
  return after > before && after - before > bytes / 10 * 9;
}

}  // namespace

TEST_CASE("large memory is given back without keeping others waiting", "[types][long]") {
  // Half a gigabyte of small pages takes 50 ms.
  constexpr std::size_t kBytes = std::size_t{512} << 20U;
  constexpr double kMostSeconds = 0.02;
  const std::filesystem::path pages = "/sys/kernel/mm/transparent_hugepage/enabled";
  std::string choice;
  std::getline(std::ifstream{pages}, choice);
  if (choice.empty() || choice.contains("[never]")) return;
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  // The system grants huge pages while it has some, so the best of a few attempts counts, and
  // attempts without them are ignored.
  const auto least_seconds_of = [&now](const auto& prepare) {
    double least = 0;
    for (int attempt = 0; attempt < 8 && (least == 0 || least >= kMostSeconds); ++attempt) {
      // A growing text has two buffers for a while.
      if (!has_huge_pages_for(2 * kBytes)) continue;
      auto give_back = prepare();
      const double begin = now();
      give_back();
      const double seconds = now() - begin;
      if (!has_huge_pages_for(2 * kBytes)) continue;
      least = least == 0 ? seconds : std::min(least, seconds);
    }
    if (least == 0) WARN("the system has no huge pages at the moment");
    return least;
  };
  const auto filled = [] {
    auto arena = std::make_shared<Arena>();
    std::memset(arena->allocate(kBytes), 'x', kBytes);
    return arena;
  };

  CHECK(least_seconds_of([&] { return [arena = filled()] { arena->reset(); }; }) < kMostSeconds);
  CHECK(least_seconds_of([&] { return [arena = filled()]() mutable { arena.reset(); }; }) <
        kMostSeconds);
  Arena none;
  CHECK(least_seconds_of([&] {
          auto builder = std::make_shared<TextBuilder>(none);
          builder->append(kBytes, 'x');
          return [builder]() mutable { builder.reset(); };
        }) < kMostSeconds);
}
#endif

TEST_CASE("a finished text is nowhere else", "[types][long]") {
  Arena arena;
  TextBuilder builder{arena};
  builder.append(10'000'000, 'x');
  CHECK(builder.finish().as_text().size() == 10'000'000);
  CHECK(builder.size() == 0);
  builder += "again";
  CHECK(builder.finish().as_text() == "again");
}

TEST_CASE("no value is longer than a gigabyte", "[types][long]") {
  MemoryAccount account;
  Arena arena;
  arena.count_in(&account);
  TextBuilder builder{arena};
  builder += "abc";
  CHECK_THROWS_AS(builder.append(kMaxFieldBytes, ' '), SqlError);
  CHECK_THROWS_AS(arena.allocate(kMaxFieldBytes + 1), SqlError);
  account.set_limit(1 << 20);
  CHECK_NOTHROW(arena.allocate(1000));
  CHECK_THROWS_AS(arena.allocate(2 << 20), SqlError);
  CHECK_NOTHROW(arena.allocate(1000));
}

TEST_CASE("long products are what the way taught at school gives", "[types][numeric]") {
  std::mt19937_64 random{11};
  INFO("seed 11");
  for (const auto& [left_size, right_size] :
       {std::pair{1, 1}, {1, 700}, {2, 2}, {256, 256}, {257, 255}, {1000, 300}, {4096, 4096}}) {
    const auto left = any_digits(random, static_cast<std::size_t>(left_size));
    const auto right = any_digits(random, static_cast<std::size_t>(right_size));
    std::vector<std::uint64_t> expected(left.size() + right.size() - 1, 0);
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = 0; j < right.size(); ++j) {
        expected[i + j] += std::uint64_t{left[i]} * right[j];
      }
    }
    REQUIRE(convolve(left, right) == expected);
  }
}

TEST_CASE("a pattern finds the same in a long text as in a short one", "[types][long]") {
  const CompiledRegex regex{"(a+)(b?)", ""};
  std::mt19937_64 random{8};
  INFO("seed 8");
  const auto text = std::make_shared<const std::string>(any_text(random, 20'000));
  std::vector<CompiledRegex::Match> one_by_one;
  for (std::size_t at = 0; at <= text->size();) {
    auto match = regex.find(*text, at);
    if (!match) break;
    at = CompiledRegex::behind(*text, match->front());
    one_by_one.push_back(std::move(*match));
  }
  std::vector<CompiledRegex::Match> in_lots;
  for (std::size_t next = 0; next <= text->size();) {
    for (auto& match : regex.find_some(text, next)) in_lots.push_back(std::move(match));
  }
  REQUIRE(one_by_one.size() > 1000);
  REQUIRE(in_lots.size() == one_by_one.size());
  for (std::size_t i = 0; i < in_lots.size(); ++i) {
    for (std::size_t part = 0; part < in_lots[i].size(); ++part) {
      REQUIRE(in_lots[i][part].begin == one_by_one[i][part].begin);
      REQUIRE(in_lots[i][part].end == one_by_one[i][part].end);
      REQUIRE(in_lots[i][part].matched == one_by_one[i][part].matched);
    }
  }
}

TEST_CASE("counted repeats end where PostgreSQL's do", "[types][long]") {
  CHECK_NOTHROW(CompiledRegex("a{255}", ""));
  CHECK_NOTHROW(CompiledRegex("a{0,255}", ""));
  CHECK_NOTHROW(CompiledRegex("[{300}]", ""));
  for (const char* pattern : {"a{256}", "(a?){500}", "a{1,256}", "a{99999999999999999999}"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(CompiledRegex(pattern, ""), SqlError);
  }
}

TEST_CASE("a search that is left to itself does not keep its caller", "[types][long]") {
  struct Ended : std::runtime_error {
    Ended() : std::runtime_error{"ended"} {}
  };
  class AtOnce final : public Overseer {
   public:
    void look() override { throw Ended{}; }
  } overseer;
  FiberRuntime runtime{{.reactors = 1}};
  std::atomic<bool> ended{false};
  const auto begin = std::chrono::steady_clock::now();
  runtime
      .spawn("search",
             [&] {
               const OversightScope scope{overseer};
               const CompiledRegex regex{"(a?){200}a{200}b", ""};
               try {
                 const std::string text(200'000, 'a');
                 static_cast<void>(regex.matches(text));
               } catch (const Ended&) {
                 ended = true;
               }
             })
      ->join();
  CHECK(ended);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{2});
}

}  // namespace swizzle::sql
