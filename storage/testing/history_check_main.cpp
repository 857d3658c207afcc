// swizzle-history-check FILE: says which anomalies a list-append history shows. Ends with 1 if any.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "storage/testing/history_checker.h"

int main(int count, char** words) {
  using namespace swizzle::testing;
  std::ifstream file{count == 2 ? words[1] : ""};
  if (!file) {
    fmt::print(stderr, "swizzle-history-check FILE\n");
    return 2;
  }
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
