#include "base/simulation/volatile_bytes.h"

#include <algorithm>
#include <utility>

namespace swizzle {
namespace {

using Image = std::vector<std::byte>;

void copy_into(Image& image, std::uint64_t offset, Bytes data) {
  if (image.size() < offset + data.size()) image.resize(offset + data.size());
  std::ranges::copy(data, image.begin() + static_cast<std::ptrdiff_t>(offset));
}

void apply_change(Image& image, const VolatileBytes::Change& change) {
  if (change.is_resize()) {
    image.resize(change.size);
  } else {
    copy_into(image, change.offset, change.data);
  }
}

// Applies some of the blocks that a write touches: any, the first ones, or the last ones.
void apply_torn(Image& image, const VolatileBytes::Change& change, std::uint64_t block_bytes,
                Random& random) {
  const std::uint64_t first = change.offset / block_bytes;
  const std::uint64_t last = (change.offset + change.data.size() - 1) / block_bytes;
  const std::uint64_t way = random.below(3);
  const std::uint64_t cut = random.between(first, last);
  for (std::uint64_t block = first; block <= last; ++block) {
    const bool kept = way == 0 ? random.one_in(2) : (way == 1 ? block < cut : block >= cut);
    if (!kept) continue;
    const std::uint64_t from = std::max(block * block_bytes, change.offset);
    const std::uint64_t to =
        std::min((block + 1) * block_bytes, change.offset + change.data.size());
    copy_into(image, from, Bytes{change.data}.subspan(from - change.offset, to - from));
  }
}

void apply_by_chance(Image& image, const VolatileBytes::Change& change, Random& random) {
  constexpr std::uint64_t kSectorBytes = 512;
  constexpr std::uint64_t kBlockBytes = 4096;
  switch (random.below(8)) {
    case 0:
    case 1:
      return;
    case 2:
      // The file has grown, but the data has not arrived: zeros.
      if (!change.is_resize() && image.size() < change.offset + change.data.size()) {
        image.resize(change.offset + change.data.size());
      }
      return;
    case 3:
    case 4:
      if (!change.is_resize()) return apply_torn(image, change, kSectorBytes, random);
      break;
    case 5:
      if (!change.is_resize()) return apply_torn(image, change, kBlockBytes, random);
      break;
    default:
      break;
  }
  apply_change(image, change);
}

}  // namespace

CrashStyle draw_crash_style(Random& random) noexcept {
  switch (random.below(6)) {
    case 0:
      return CrashStyle::keep_all;
    case 1:
      return CrashStyle::lose_all;
    default:
      return CrashStyle::mixed;
  }
}

VolatileBytes::Handle VolatileBytes::begin(Change change) {
  return changes_.insert(changes_.end(), std::move(change));
}

void VolatileBytes::complete(Handle change) {
  apply_change(seen_, *change);
  change->state = State::done;
  change->done_at = ++clock_;
}

void VolatileBytes::complete_durably(Handle change) {
  complete(change);
  change->state = State::durable;
  apply_durable();
}

void VolatileBytes::cancel(Handle change) {
  changes_.erase(change);
  apply_durable();
}

void VolatileBytes::mark(std::uint64_t horizon, State state) {
  for (auto& change : changes_) {
    if (change.state == State::done && change.done_at <= horizon) change.state = state;
  }
  apply_durable();
}

void VolatileBytes::sync(std::uint64_t horizon) {
  mark(horizon, State::durable);
}
void VolatileBytes::fail_sync(std::uint64_t horizon) {
  mark(horizon, State::lost);
}

// Changes reach `durable_` only in their order: a later one may overlap an earlier one that may
// still be lost.
void VolatileBytes::apply_durable() {
  while (!changes_.empty() && changes_.front().state == State::durable) {
    apply_change(durable_, changes_.front());
    changes_.pop_front();
  }
}

void VolatileBytes::crash(Random& random) {
  const CrashStyle style = draw_crash_style(random);
  for (const auto& change : changes_) {
    if (change.state == State::durable) {
      apply_change(durable_, change);
    } else if (change.state == State::lost) {
      // Linux marks such pages clean: most often they are never written.
      if (random.one_in(4)) apply_change(durable_, change);
    } else if (style == CrashStyle::keep_all) {
      apply_change(durable_, change);
    } else if (style == CrashStyle::mixed) {
      apply_by_chance(durable_, change, random);
    }
  }
  changes_.clear();
  seen_ = durable_;
}

void VolatileBytes::overwrite(std::uint64_t offset, Bytes data) {
  copy_into(seen_, offset, data);
  copy_into(durable_, offset, data);
}

}  // namespace swizzle
