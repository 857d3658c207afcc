// swizzle-history-check FILE: reports the anomalies of a list-append history. Exit code 1 if there
// are any.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "base/programs/program_words.h"
#include "storage/testing/history_checker.h"

int main(int count, char** words) {
  using namespace swizzle::testing;
  constexpr std::string_view kName = "swizzle-history-check";
  if (swizzle::answers_program_words(count, words, kName, "swizzle-history-check FILE\n")) return 0;
  std::ifstream file{count == 2 ? words[1] : ""};
  if (!file) return swizzle::refuse_program_words(kName, "a file that can be read is needed");
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  try {
    const auto findings = check(from_text(text));
    for (const Finding& finding : findings)
      fmt::print("{}: {}\n", name(finding.anomaly), finding.what);
    return findings.empty() ? 0 : 1;
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "{}: {}\n", words[1], error.what());
    return 2;
  }
}
