#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "server/auth/login_limiter.h"

namespace swizzle::server {
namespace {

constexpr std::size_t kSets = 2048;
/// Failures beyond the longest wait are not counted, so that they are soon forgotten.
constexpr std::uint32_t kMostDoublings = 8;

}  // namespace

FailureTable::FailureTable(FailurePace pace, std::uint64_t seed)
    : pace_(pace), seed_(seed), sets_(kSets) {}

// The seed is secret, so that a guesser cannot choose whose record is evicted.
std::uint64_t FailureTable::key_of(std::string_view one, std::string_view two) const {
  return checksum(as_bytes(two), checksum(as_bytes(one), seed_));
}

const FailureTable::Record* FailureTable::find(std::uint64_t key) const {
  const Set& set = sets_[key % kSets];
  const auto found = std::ranges::find_if(
      set, [&](const Record& record) { return record.key == key && record.failures != 0; });
  return found == set.end() ? nullptr : &*found;
}

FailureTable::Record* FailureTable::find(std::uint64_t key) {
  return const_cast<Record*>(std::as_const(*this).find(key));
}

std::uint32_t FailureTable::remembered(const Record& record, TimePoint now) const {
  const auto forgotten = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((now - record.last) / pace_.forget_each, 0, 1'000'000));
  return record.failures - std::min(record.failures, forgotten);
}

Duration FailureTable::cost_of(std::uint32_t failures) const {
  if (failures <= pace_.free) return Duration::zero();
  const std::uint32_t doublings = std::min(failures - pace_.free - 1, kMostDoublings);
  return std::min(pace_.first * (1U << doublings), pace_.longest);
}

Duration FailureTable::wait_for(std::uint64_t key, TimePoint now) const {
  const Record* record = find(key);
  if (record == nullptr || remembered(*record, now) <= pace_.free) return Duration::zero();
  return std::max(record->next - now, Duration::zero());
}

bool FailureTable::has_failed(std::uint64_t key, TimePoint now) const {
  const Record* record = find(key);
  return record != nullptr && now - record->last < kRemembered;
}

void FailureTable::note_attempt(std::uint64_t key, TimePoint now) {
  if (Record* record = find(key)) record->next = now + cost_of(remembered(*record, now));
}

void FailureTable::forget_attempt(std::uint64_t key, TimePoint now) {
  if (Record* record = find(key)) record->next = now;
}

void FailureTable::note_failure(std::uint64_t key, TimePoint now) {
  Record* record = find(key);
  if (record == nullptr) {
    // Compare by failures first: otherwise a guesser could evict its record by failing under other
    // names.
    const auto worth_keeping = [&](const Record& kept) {
      return std::pair{remembered(kept, now), kept.last};
    };
    record = &*std::ranges::min_element(sets_[key % kSets], {}, worth_keeping);
    *record = {.key = key, .failures = 0, .last = now, .next = now};
  }
  record->failures = std::min(remembered(*record, now) + 1, pace_.free + kMostDoublings);
  record->last = now;
  record->next = now + cost_of(record->failures);
}

}  // namespace swizzle::server
