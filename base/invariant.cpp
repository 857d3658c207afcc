#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace swizzle::detail {

void invariant_failed(const char* condition, std::source_location at) noexcept {
  std::fprintf(stderr, "invariant violated: %s\n  at %s:%u in %s\n", condition, at.file_name(),
               at.line(), at.function_name());
  if (failing_seed != 0) {
    std::fprintf(stderr, "  simulation seed %llu\n", static_cast<unsigned long long>(failing_seed));
  }
  std::fflush(stderr);
  std::abort();
}

}  // namespace swizzle::detail
