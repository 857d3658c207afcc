#include "sql-lite-frontend/types/arena.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/invariant.h"
#include "base/memory/huge_pages.h"
#include "base/runtime/helper_threads.h"
#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
void Arena::enter(std::size_t chunk) noexcept {
  current_ = chunk;
  base_ = chunks_[chunk].memory.get();
  capacity_ = chunks_[chunk].size;
  used_ = 0;
}

/// Pre: everything allocated after `mark` is being freed.
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
  STATEMENT_INVARIANT(alignment <= 16);
  // No value may be longer, and nothing else is.
  if (bytes > kMaxFieldBytes) {
    throw_error(sqlstate::internal_error, "invalid memory alloc request size {}", bytes);
  }
  // Chunks after the current one remain from before a reset or a rewind; the next one may be large
  // enough. Otherwise they are freed: else a row of growing values would leave one more chunk each
  // time.
  const std::size_t next = chunks_.empty() ? 0 : current_ + 1;
  if (next < chunks_.size() && chunks_[next].size >= bytes) {
    enter(next);
    return allocate(bytes, alignment);
  }
  drop_from(next);
  const std::size_t grown = chunks_.empty() ? chunk_bytes_ : std::min(capacity_ * 2, kKeptBytes);
  const std::size_t size = std::max({bytes, grown, chunk_bytes_});
  MemoryShare share;
  share.set(account_, size);
  Chunk chunk{std::make_unique_for_overwrite<std::byte[]>(size), size};
  if (size >= kLongMemory) {
    touch_aside(chunk.memory.get(), size);
  } else {
    prefer_huge_pages(chunk.memory.get(), size);
  }
  chunks_.push_back(std::move(chunk));
  share.keep();
  reserved_bytes_ += size;
  enter(next);
  poison(base_ + bytes, size - bytes);
  used_ = bytes;
  return base_;
}

Bytes Arena::copy_in_pieces(Bytes bytes) {
  constexpr std::size_t kPiece = std::size_t{256} << 10U;
  std::byte* const to = allocate(bytes.size(), 1);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::size_t piece = std::min(kPiece, bytes.size() - at);
    unending_yield_point(piece / 4);
    std::memcpy(to + at, bytes.data() + at, piece);
  }
  return {to, bytes.size()};
}

/// Frees this chunk and those after it. Pre: nothing in them is in use.
void Arena::drop_from(std::size_t chunk) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = chunk; i < chunks_.size(); ++i) bytes += chunks_[i].size;
  if (bytes >= kLongMemory) {
    // The memory may be released because of an error, so this must not wait.
    std::vector<Chunk> rest;
    // If there is no memory for the list, the chunks are freed one by one below.
    try {
      rest.reserve(chunks_.size() - chunk);
      std::move(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk), chunks_.end(),
                std::back_inserter(rest));
      HelperThreads::of_the_process().destroy(std::move(rest));
    } catch (const std::bad_alloc&) {
    }
  }
  while (chunks_.size() > chunk) chunks_.pop_back();
  reserved_bytes_ -= bytes;
  if (account_ != nullptr && bytes > 0) account_->give_back(bytes);
}

void Arena::count_in(MemoryAccount* account) noexcept {
  // Ends the process: nothing may be thrown here, and the account would be wrong for good.
  INVARIANT(reserved_bytes_ == 0 || account == account_);
  account_ = account;
}

void Arena::swap(Arena& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(used_, other.used_);
  std::swap(capacity_, other.capacity_);
  std::swap(current_, other.current_);
  std::swap(chunk_bytes_, other.chunk_bytes_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(account_, other.account_);
  std::swap(chunks_, other.chunks_);
}

void Arena::release() noexcept {
  drop_from(0);
  current_ = used_ = capacity_ = 0;
  base_ = &nothing;
}

void Arena::reset() noexcept {
  if (chunks_.empty()) return;
  poison_behind({0, 0});
  // If one value was as large as that, the next will not be.
  if (chunks_.front().size > kKeptBytes) return release();
  std::size_t kept = 0;
  std::size_t bytes = 0;
  while (kept < chunks_.size() && bytes + chunks_[kept].size <= kKeptBytes) {
    bytes += chunks_[kept++].size;
  }
  drop_from(kept);
  enter(0);
}

void Arena::rewind(Mark mark) noexcept {
  if (chunks_.empty()) return;
  // Ends the process: destructors rewind, and memory in use would be given away.
  INVARIANT(mark.chunk <= current_);
  poison_behind(mark);
  enter(mark.chunk);
  used_ = mark.used;
}

}  // namespace swizzle::sql
