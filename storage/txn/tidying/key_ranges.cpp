#include "storage/txn/tidying/key_ranges.h"

#include <iterator>

namespace swizzle {

void KeyRanges::add(TreeId tree, Bytes low_key, Bytes high_key) {
  const std::string_view low = as_text(low_key);
  const std::string_view high = as_text(high_key);
  auto at = ranges_.upper_bound(KeyView{tree, low});
  if (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->first.first == tree && std::string_view(before->second) >= low) {
      if (std::string_view(before->second) >= high) return;
      bytes_ += high.size() - before->second.size();
      before->second = high;
      at = before;
    } else {
      at = ranges_.emplace_hint(at, Key{tree, low}, high);
      bytes_ += low.size() + high.size();
    }
  } else {
    at = ranges_.emplace_hint(at, Key{tree, low}, high);
    bytes_ += low.size() + high.size();
  }
  // Merges the following ranges that overlap it.
  for (auto next = std::next(at);
       next != ranges_.end() && next->first.first == tree && next->first.second <= at->second;) {
    bytes_ -= next->first.second.size() + next->second.size();
    if (next->second > at->second) {
      bytes_ += next->second.size() - at->second.size();
      at->second = std::move(next->second);
    }
    next = ranges_.erase(next);
  }
  if (is_full()) make_coarser();
}

void KeyRanges::make_coarser() {
  for (auto at = ranges_.begin(); at != ranges_.end(); ++at) {
    const auto next = std::next(at);
    if (next == ranges_.end() || next->first.first != at->first.first) continue;
    bytes_ -= next->first.second.size() + at->second.size();
    at->second = std::move(next->second);
    ranges_.erase(next);
  }
  while (is_full()) drop_last();
}

void KeyRanges::drop_last() noexcept {
  const auto last = std::prev(ranges_.end());
  bytes_ -= last->first.second.size() + last->second.size();
  ranges_.erase(last);
  ++lost_;
}

std::optional<KeyRanges::Range> KeyRanges::take_from(TreeId tree, std::string_view key) {
  if (ranges_.empty()) return std::nullopt;
  const auto at = ranges_.lower_bound(KeyView{tree, key});
  auto node = ranges_.extract(at == ranges_.end() ? ranges_.begin() : at);
  bytes_ -= node.key().second.size() + node.mapped().size();
  return Range{node.key().first, std::move(node.key().second), std::move(node.mapped())};
}

void KeyRanges::remove(TreeId tree, std::string_view low, std::optional<std::string_view> below) {
  auto at = ranges_.lower_bound(KeyView{tree, low});
  while (at != ranges_.end() && at->first.first == tree && (!below || at->first.second < *below)) {
    auto node = ranges_.extract(at++);
    bytes_ -= node.key().second.size() + node.mapped().size();
    if (!below || node.mapped() < *below) continue;
    // The rest of the removed range stays in the set.
    add(tree, as_bytes(*below), as_bytes(node.mapped()));
    return;
  }
}

void KeyRanges::clear() noexcept {
  ranges_.clear();
  bytes_ = 0;
}

}  // namespace swizzle
