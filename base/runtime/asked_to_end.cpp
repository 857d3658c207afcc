#include "base/runtime/asked_to_end.h"

#include <chrono>
#include <utility>

namespace swizzle {
namespace {

constexpr Duration kBetweenQuestions = std::chrono::milliseconds{10};

}  // namespace

bool is_asked_to_end() noexcept {
  Overseer* const overseer = Runtime::current().parker().overseer;
  if (overseer == nullptr) return false;
  try {
    overseer->look();
  } catch (...) {
    return true;
  }
  return false;
}

void park_overseen() noexcept {
  Runtime& runtime = Runtime::current();
  Parker& parker = runtime.parker();
  if (parker.overseer == nullptr) return parker.park();
  parker.park_until(runtime.now() + kBetweenQuestions);
}

UnendedScope::UnendedScope() noexcept
    : parker_(Runtime::current().parker()), previous_(std::exchange(parker_.overseer, nullptr)) {}

}  // namespace swizzle
