#include "sql-lite-frontend/types/arena.h"

#include <algorithm>

#include "base/huge_pages.h"
#include "base/invariant.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void Arena::enter(std::size_t chunk) noexcept {
  current_ = chunk;
  base_ = chunks_[chunk].memory.get();
  capacity_ = chunks_[chunk].size;
  used_ = 0;
}

/// Pre: what was allocated after `mark` is just being forgotten.
void Arena::poison_behind([[maybe_unused]] Mark mark) noexcept {
#ifdef SWIZZLE_ASAN
  for (std::size_t i = mark.chunk; i <= current_; ++i) {
    const std::size_t begin = i == mark.chunk ? mark.used : 0;
    const std::size_t end = i == current_ ? used_ : chunks_[i].size;
    if (begin < end) poison(chunks_[i].memory.get() + begin, end - begin);
  }
#endif
}

std::byte* Arena::allocate_slow(std::size_t bytes, std::size_t alignment) {
  INVARIANT(alignment <= 16);
  // No value may be longer, and nothing else is.
  if (bytes > kMaxFieldBytes) {
    throw_error(sqlstate::internal_error, "invalid memory alloc request size {}", bytes);
  }
  if (bytes > limit_bytes_ - std::min(reserved_bytes_, limit_bytes_)) {
    throw sql_error(sqlstate::out_of_memory, "out of memory")
        .with_detail(fmt::format("Values take {} kB, {} kB more are asked for, and {} kB allowed.",
                                 reserved_bytes_ >> 10U, bytes >> 10U, limit_bytes_ >> 10U));
  }
  // Chunks behind the current one are left over from before a reset; one may be large enough.
  const std::size_t next = chunks_.empty() ? 0 : current_ + 1;
  if (next < chunks_.size() && chunks_[next].size >= bytes) {
    enter(next);
    return allocate(bytes, alignment);
  }
  const std::size_t grown = chunks_.empty() ? chunk_bytes_ : std::min(capacity_ * 2, kKeptBytes);
  const std::size_t size = std::max({bytes, grown, chunk_bytes_});
  Chunk chunk{std::make_unique_for_overwrite<std::byte[]>(size), size};
  // A gigabyte of small pages is a tenth of a second's work to take back, in which nobody else
  // runs.
  prefer_huge_pages(chunk.memory.get(), size);
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(next), std::move(chunk));
  reserved_bytes_ += size;
  enter(next);
  poison(base_ + bytes, size - bytes);
  used_ = bytes;
  return base_;
}

void Arena::reset() noexcept {
  if (chunks_.empty()) return;
  poison_behind({0, 0});
  if (chunks_.front().size > kKeptBytes) {
    // One value was as large as that: the next will not be.
    chunks_.clear();
    reserved_bytes_ = current_ = used_ = capacity_ = 0;
    base_ = &nothing;
    return;
  }
  while (reserved_bytes_ > kKeptBytes && chunks_.size() > 1) {
    reserved_bytes_ -= chunks_.back().size;
    chunks_.pop_back();
  }
  enter(0);
}

void Arena::rewind(Mark mark) noexcept {
  if (chunks_.empty()) return;
  INVARIANT(mark.chunk <= current_);
  poison_behind(mark);
  enter(mark.chunk);
  used_ = mark.used;
}

}  // namespace swizzle::sql
