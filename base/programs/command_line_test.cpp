#include "base/programs/command_line.h"

#include <catch2/catch.hpp>

using swizzle::CommandLine;

namespace {

CommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  return {static_cast<int>(words.size()), words.data(), {"quick"}};
}

}  // namespace

TEST_CASE("options come as two words, as one, and as flags", "[base]") {
  CommandLine options = parse({"L0", "--records", "12", "--pool=3MiB", "--quick", "--skew=0,0.5"});
  CHECK(options.positional() == std::vector<std::string>{"L0"});
  CHECK(options.number("records", 1) == 12);
  CHECK(options.bytes("pool", 1) == 3U << 20U);
  CHECK(options.flag("quick"));
  CHECK(options.reals("skew", "") == std::vector<double>{0, 0.5});
  CHECK(options.number("threads", 7) == 7);
  CHECK(options.finish());
}

TEST_CASE("what nobody reads is refused by name", "[base]") {
  CommandLine options = parse({"--recrods", "12"});
  CHECK(options.number("records", 1) == 1);
  const auto result = options.finish();
  REQUIRE_FALSE(result);
  CHECK(result.error().message() == "no such option here: --recrods");
}

TEST_CASE("a bad value is refused", "[base]") {
  CommandLine options = parse({"--records", "12x"});
  CHECK(options.number("records", 5) == 5);
  CHECK_FALSE(options.finish());
  CHECK_FALSE(parse({"--records"}).finish());
}
