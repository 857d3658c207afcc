#include "sql-lite-frontend/types/regex/regex.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "base/fibers/fiber_runtime.h"
#include "sql-lite-frontend/types/regex/re2_form.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

bool are_determined(std::string_view pattern) {
  return determines_groups(parse_regex(pattern, {}));
}

bool is_exact(std::string_view pattern) {
  return re2_form(parse_regex(pattern, {}), Re2Length::longest).is_exact;
}

}  // namespace

TEST_CASE("RE2 is asked for groups that a text determines", "[types][regex]") {
  for (const char* pattern :
       {"(a)", "([a-z]+)@([a-z]+)", "^(\\d{4})-(\\d\\d)$", "(a*)(b*)c", "(?:(a)b)+", "a(b)?c"}) {
    CAPTURE(pattern);
    CHECK(are_determined(pattern));
  }
  for (const char* pattern : {"(a|ab)(c|bcd)(d*)", "(.*)x(.*)", "(a*)(ab)", "(?:(a)|b)*", "(a*)*",
                              "(|a)|(|b)", "(a{1,2})+"}) {
    CAPTURE(pattern);
    CHECK_FALSE(are_determined(pattern));
  }
}

TEST_CASE("RE2 only narrows down what it cannot say", "[types][regex]") {
  for (const char* pattern : {"a(b|c)*", "\\ya", "[^\\d]", "^a.b$", "(a)(?:b){2,}"}) {
    CAPTURE(pattern);
    CHECK(is_exact(pattern));
  }
  for (const char* pattern : {"(a)\\1", "a(?=b)", "(?<!a)b", "\\ma"}) {
    CAPTURE(pattern);
    CHECK_FALSE(is_exact(pattern));
  }
}

TEST_CASE("references that would grow without end are too complex", "[types][regex]") {
  std::string pattern = "(aaaaaaaa)";
  for (int group = 1; group < 30; ++group)
    pattern += "(\\" + std::to_string(group) + "\\" + std::to_string(group) + ")";
  CHECK_THROWS_AS(CompiledRegex(pattern, "").find(std::string(9, 'a')), SqlError);
  CHECK_THROWS_AS(CompiledRegex("((((a{255}){255}){255}){255})b", "").find("ab"), SqlError);
  CHECK_THROWS_AS(CompiledRegex(std::string(20'000, '('), ""), SqlError);
}

TEST_CASE("a search with references can be ended", "[types][regex]") {
  struct Ended : std::runtime_error {
    Ended() : std::runtime_error{"ended"} {}
  };
  class AtOnce final : public Overseer {
   public:
    void look() override { throw Ended{}; }
  } overseer;
  FiberRuntime runtime{{.reactors = 1}};
  std::atomic<bool> ended{false};
  runtime
      .spawn("search",
             [&] {
               const OversightScope scope{overseer};
               // An odd number of letters, which the text does not have.
               const CompiledRegex regex{"^(a*)(a*)(a*)(a*)\\4\\3\\2\\1a$", ""};
               try {
                 static_cast<void>(regex.matches(std::string(2'000, 'a')));
               } catch (const Ended&) {
                 ended = true;
               }
             })
      ->join();
  CHECK(ended);
}

}  // namespace swizzle::sql
