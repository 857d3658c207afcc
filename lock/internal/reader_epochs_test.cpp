#include "lock/internal/reader_epochs.h"

#include <catch2/catch.hpp>
#include <memory>

namespace swizzle::lock {
namespace {

void advance_as_far_as_it_goes(ReaderEpochs& epochs) {
  for (int i = 0; i < 10; ++i) epochs.try_advance();
}

}  // namespace

TEST_CASE("P3 what is unlinked is reused once all who could see it have left", "[lock]") {
  ReaderEpochs epochs;
  std::unique_ptr<ReaderEpochs::Reading> first;
  std::unique_ptr<ReaderEpochs::Reading> second;
  // A reader of the same stripe, and of another one.
  const std::uint32_t other = GENERATE(0U, 7U);
  first.reset(new ReaderEpochs::Reading(epochs.enter(0)));
  const std::uint64_t stamp = epochs.now();
  CHECK_FALSE(epochs.is_past(stamp));
  // A reader that enters after the stamp cannot see an unlinked entry, no more than a reader
  // outside.
  epochs.try_advance();
  second.reset(new ReaderEpochs::Reading(epochs.enter(other)));
  advance_as_far_as_it_goes(epochs);
  CHECK_FALSE(epochs.is_past(stamp));
  first.reset();
  advance_as_far_as_it_goes(epochs);
  CHECK(epochs.is_past(stamp));
  const std::uint64_t later = epochs.now();
  CHECK_FALSE(epochs.is_past(later));
  second.reset();
  advance_as_far_as_it_goes(epochs);
  CHECK(epochs.is_past(later));
}

}  // namespace swizzle::lock
