#include "storage/logical/change_buffer.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace swizzle {

ChangeBuffer::ChangeBuffer(ChangeBuffer&& other) noexcept
    : memory_(other.memory_),
      tail_(std::exchange(other.tail_, {})),
      spill_(std::move(other.spill_)),
      in_file_(std::exchange(other.in_file_, 0)),
      pieces_(std::move(other.pieces_)),
      count_(std::exchange(other.count_, 0)),
      read_from_file_(other.read_from_file_),
      window_(std::move(other.window_)),
      at_(other.at_),
      reads_tail_(other.reads_tail_) {}

void ChangeBuffer::add(Lsn lsn, std::uint64_t undo_position, Bytes body) {
  const std::size_t at = tail_.size();
  const std::size_t bytes = kEntryBytes + body.size();
  // Doubles the capacity, as push_back() would; resize() need not on every library.
  if (tail_.capacity() < at + bytes) tail_.reserve(std::max(at + bytes, tail_.capacity() * 2));
  tail_.resize(at + bytes);
  std::byte* const to = tail_.data() + at;
  store(to, static_cast<std::uint32_t>(body.size()));
  store(to + 4, lsn);
  store(to + 12, undo_position);
  std::ranges::copy(body, to + kHeadBytes);
  store(to + kHeadBytes + body.size(), static_cast<std::uint32_t>(bytes));
  memory_->used += bytes;
  ++count_;
}

Result<> ChangeBuffer::take_back(std::uint64_t above) {
  while (count_ != 0) {
    if (tail_.empty()) RETURN_IF_ERROR(load_last());
    const auto bytes = load<std::uint32_t>(tail_.data() + tail_.size() - 4);
    INVARIANT(bytes >= kEntryBytes && bytes <= tail_.size());
    const std::byte* const entry = tail_.data() + tail_.size() - bytes;
    if (load<std::uint64_t>(entry + 12) <= above) break;
    // The sanitizers' compiler warns that resize() might grow.
    tail_.erase(tail_.end() - bytes, tail_.end());
    memory_->used -= bytes;
    --count_;
  }
  return {};
}

Result<> ChangeBuffer::spill(SpillFiles& files) {
  if (tail_.empty()) return {};
  if (spill_ == nullptr) {
    ASSIGN_OR_RETURN(spill_, files.create());
  }
  RETURN_IF_ERROR(spill_->file().write_at(in_file_, tail_));
  pieces_.push_back(in_file_);
  in_file_ += tail_.size();
  memory_->used -= tail_.size();
  tail_ = {};
  return {};
}

Result<ChangeBuffer> ChangeBuffer::hand_out(SpillFiles& files) {
  ChangeBuffer copy(*memory_);
  copy.tail_ = tail_;
  memory_->used += tail_.size();
  copy.count_ = tail_.empty() ? 0 : 1;
  RETURN_IF_ERROR(spill(files));
  return copy;
}

ChangeBuffer ChangeBuffer::take_rest() && {
  ChangeBuffer rest(*memory_);
  rest.tail_ = std::exchange(tail_, {});
  rest.count_ = rest.tail_.empty() ? 0 : 1;
  return rest;
}

Result<> ChangeBuffer::load_last() {
  INVARIANT(!pieces_.empty());
  const std::uint64_t begin = pieces_.back();
  std::vector<std::byte> piece(in_file_ - begin);
  RETURN_IF_ERROR(spill_->file().read_at(begin, piece));
  pieces_.pop_back();
  in_file_ = begin;
  tail_ = std::move(piece);
  memory_->used += tail_.size();
  return {};
}

Result<> ChangeBuffer::fill_window() {
  constexpr std::size_t kAtOnce = std::size_t{256} << 10U;
  const std::size_t left = window_.size() - at_;
  std::size_t wanted = std::max(left + kAtOnce, kEntryBytes);
  if (left >= 4) {
    wanted = std::max(wanted, kEntryBytes + load<std::uint32_t>(window_.data() + at_));
  }
  const std::uint64_t more = std::min<std::uint64_t>(wanted - left, in_file_ - read_from_file_);
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  window_.resize(left + more);
  RETURN_IF_ERROR(
      spill_->file().read_at(read_from_file_, MutableBytes{window_.data() + left, more}));
  read_from_file_ += more;
  return {};
}

Result<std::optional<ChangeBuffer::Change>> ChangeBuffer::next() {
  const auto entry_at = [](const std::vector<std::byte>& in, std::size_t at) {
    const auto body = load<std::uint32_t>(in.data() + at);
    return std::pair{
        Change{load<Lsn>(in.data() + at + 4), Bytes{in}.subspan(at + kHeadBytes, body)},
        kEntryBytes + body};
  };
  while (!reads_tail_) {
    const std::size_t left = window_.size() - at_;
    const bool has_head = left >= kEntryBytes;
    if (has_head && left >= kEntryBytes + load<std::uint32_t>(window_.data() + at_)) {
      const auto [change, bytes] = entry_at(window_, at_);
      at_ += bytes;
      return std::optional{change};
    }
    if (read_from_file_ < in_file_) {
      RETURN_IF_ERROR(fill_window());
      continue;
    }
    INVARIANT(left == 0);
    window_ = {};
    at_ = 0;
    reads_tail_ = true;
  }
  if (at_ == tail_.size()) return std::optional<Change>{};
  const auto [change, bytes] = entry_at(tail_, at_);
  at_ += bytes;
  return std::optional{change};
}

}  // namespace swizzle
