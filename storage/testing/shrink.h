#pragma once

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace swizzle::testing {

/// Runs `run(campaign)`. If that throws, searches for a smaller campaign that still does, and
/// throws with its description: `smaller(campaign)` returns some to try, `describe` returns the
/// description.
template <class Campaign>
void run_and_shrink(Campaign campaign, const std::function<void(const Campaign&)>& run,
                    const std::function<std::vector<Campaign>(const Campaign&)>& smaller,
                    const std::function<std::string(const Campaign&)>& describe) {
  const auto complaint = [&run](const Campaign& of) -> std::string {
    try {
      run(of);
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  std::string why = complaint(campaign);
  if (why.empty()) return;
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const Campaign& candidate : smaller(campaign)) {
      std::string again = complaint(candidate);
      if (again.empty()) continue;
      campaign = candidate;
      why = std::move(again);
      shrunk = true;
      break;
    }
  }
  throw std::logic_error{describe(campaign) + ": " + why};
}

}  // namespace swizzle::testing
