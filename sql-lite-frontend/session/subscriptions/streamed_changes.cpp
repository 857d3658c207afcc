#include "sql-lite-frontend/session/subscriptions/streamed_changes.h"

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kMostInMemory = std::size_t{1} << 20U;
/// Before each message: its length.
constexpr std::size_t kHeadBytes = sizeof(std::uint32_t);

}  // namespace

void StreamedChanges::add(std::uint32_t subtransaction, char kind, Bytes rest) {
  const bool is_begun = subtransaction == transaction_ ||
                        std::ranges::find(begins_, subtransaction,
                                          &decltype(begins_)::value_type::first) != begins_.end();
  if (!is_begun) begins_.emplace_back(subtransaction, in_file_ + tail_.size());
  std::byte head[kHeadBytes];
  store_big_endian(head, static_cast<std::uint32_t>(1 + rest.size()));
  tail_ += as_text(Bytes{head, kHeadBytes});
  tail_ += kind;
  tail_ += as_text(rest);
  if (tail_.size() >= kMostInMemory) write_out();
}

void StreamedChanges::write_out() {
  if (!file_) file_ = value_of(files_.create());
  file_->write_at(in_file_, as_bytes(tail_));
  in_file_ += tail_.size();
  tail_.clear();
}

void StreamedChanges::take_back(std::uint32_t subtransaction) {
  const auto first =
      std::ranges::find(begins_, subtransaction, &decltype(begins_)::value_type::first);
  // It had no message.
  if (first == begins_.end()) return;
  const std::uint64_t kept = first->second;
  tail_.resize(kept > in_file_ ? kept - in_file_ : 0);
  in_file_ = std::min(in_file_, kept);
  begins_.erase(first, begins_.end());
}

void StreamedChanges::replay(const std::function<void(Bytes)>& visit) {
  std::string window;
  std::uint64_t read = 0;
  std::size_t at = 0;
  const std::uint64_t end = in_file_ + tail_.size();
  // Returns the next bytes, which are in the window then.
  const auto take = [&](std::size_t size) {
    if (window.size() - at < size) {
      window.erase(0, at);
      at = 0;
      const std::size_t old = window.size();
      const std::uint64_t wanted = std::max<std::uint64_t>(size - old, kMostInMemory);
      const std::uint64_t from_file = read < in_file_ ? std::min(wanted, in_file_ - read) : 0;
      window.resize(old + from_file);
      if (from_file != 0) {
        const MutableBytes into{reinterpret_cast<std::byte*>(window.data() + old), from_file};
        value_of(file_->file().read_at(read, into));
        read += from_file;
      }
      if (read == in_file_) {
        window += tail_;
        read = end;
      }
    }
    if (window.size() - at < size)
      throw SqlError{sqlstate::data_corrupted, "the changes of a streamed transaction are cut off"};
    const Bytes taken = as_bytes(window).subspan(at, size);
    at += size;
    return taken;
  };
  while (read < end || at < window.size()) {
    const auto size = load_big_endian<std::uint32_t>(take(kHeadBytes).data());
    visit(take(size));
  }
}

}  // namespace swizzle::sql
