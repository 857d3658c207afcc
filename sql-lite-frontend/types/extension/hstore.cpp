#include "sql-lite-frontend/types/extension/hstore.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kNullFlag = 1U << 31U;
constexpr std::size_t kCountBytes = 4;
constexpr std::size_t kEndsBytes = 8;  ///< for both ends of a pair

[[noreturn]] void corrupt_hstore() {
  throw SqlError{sqlstate::data_corrupted, "a stored hstore does not have an hstore's form"};
}

}  // namespace

HstoreView::HstoreView(const Value& value) : bytes_(value.as_bytes()) {
  if (bytes_.size() < kCountBytes) corrupt_hstore();
  count_ = load<std::uint32_t>(bytes_.data());
  const std::size_t head = kCountBytes + std::size_t{count_} * kEndsBytes;
  if (head > bytes_.size()) corrupt_hstore();
  texts_ = as_text(bytes_.subspan(head));
}

/// Keys have even indexes, values odd ones.
std::uint32_t HstoreView::end_of(std::size_t text) const {
  return load<std::uint32_t>(bytes_.data() + kCountBytes + text * (kEndsBytes / 2));
}

HstorePair HstoreView::pair(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : end_of(2 * index - 1) & ~kNullFlag;
  const std::size_t middle = end_of(2 * index);
  const std::uint32_t last = end_of(2 * index + 1);
  const std::size_t end = last & ~kNullFlag;
  if (begin > middle || middle > end || end > texts_.size()) corrupt_hstore();
  HstorePair pair{texts_.substr(begin, middle - begin), std::nullopt};
  if ((last & kNullFlag) == 0) pair.value = texts_.substr(middle, end - middle);
  return pair;
}

std::vector<HstorePair> HstoreView::pairs() const {
  std::vector<HstorePair> all;
  all.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) all.push_back(pair(i));
  return all;
}

std::optional<std::size_t> HstoreView::find(std::string_view key) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::string_view found = pair(middle).key;
    if (found == key) return middle;
    if (hstore_key_before(found, key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

bool hstore_key_before(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Value make_hstore(Arena& arena, std::vector<HstorePair> pairs) {
  constexpr std::size_t kWorkOfPair = 16;
  yield_point(pairs.size() * kWorkOfPair);
  const auto before = [](const HstorePair& a, const HstorePair& b) {
    return hstore_key_before(a.key, b.key);
  };
  if (!std::ranges::is_sorted(pairs, before)) std::ranges::stable_sort(pairs, before);
  const auto repeated = std::ranges::unique(pairs, {}, &HstorePair::key);
  pairs.erase(repeated.begin(), repeated.end());
  std::size_t texts = 0;
  for (const HstorePair& pair : pairs) {
    texts += pair.key.size() + pair.value.value_or(std::string_view{}).size();
  }
  const std::size_t head = kCountBytes + pairs.size() * kEndsBytes;
  std::byte* const out = arena.allocate(head + texts);
  store(out, static_cast<std::uint32_t>(pairs.size()));
  std::byte* ends = out + kCountBytes;
  std::size_t end = 0;
  const auto put = [&](std::string_view text, std::uint32_t flag) {
    if (!text.empty()) std::memcpy(out + head + end, text.data(), text.size());
    end += text.size();
    store(ends, static_cast<std::uint32_t>(end) | flag);
    ends += kEndsBytes / 2;
  };
  for (const HstorePair& pair : pairs) {
    put(pair.key, 0);
    put(pair.value.value_or(std::string_view{}), pair.value ? 0 : kNullFlag);
  }
  return Value::from_bytes({out, head + texts});
}

int compare_hstores(const Value& a, const Value& b) {
  const HstoreView left{a};
  const HstoreView right{b};
  if (left.size() == 0 || right.size() == 0) return order_of(left.size(), right.size());
  if (const int order = left.texts_.compare(right.texts_); order != 0) return order < 0 ? -1 : 1;
  if (left.size() != right.size()) return order_of(left.size(), right.size());
  for (std::size_t i = 0; i < left.size() * 2; ++i) {
    const std::uint32_t one = left.end_of(i);
    const std::uint32_t other = right.end_of(i);
    if (const int order = order_of(one & ~kNullFlag, other & ~kNullFlag); order != 0) return order;
    if (const int order = order_of(one & kNullFlag, other & kNullFlag); order != 0) return order;
  }
  return 0;
}

}  // namespace swizzle::sql
