#include "sql-lite-frontend/types/functions/leakproof.h"

#include <algorithm>
#include <iterator>

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kLeakproofFunctions[] = {
#include "sql-lite-frontend/types/functions/leakproof.inc"
};
static_assert(std::is_sorted(std::begin(kLeakproofFunctions), std::end(kLeakproofFunctions)));

}  // namespace

bool is_leakproof(std::uint32_t function) noexcept {
  return std::ranges::binary_search(kLeakproofFunctions, function);
}

}  // namespace swizzle::sql
