#include "storage/space/written_lsns.h"

#include <new>

namespace swizzle {

WrittenLsns::~WrittenLsns() {
  for (const auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

WrittenLsns::Chunk* WrittenLsns::chunk_for(std::size_t index) noexcept {
  // Acquire: what is found there was made empty by somebody else.
  Chunk* found = chunks_[index].load(std::memory_order_acquire);
  if (found != nullptr) return found;
  std::unique_ptr<Chunk> made{new (std::nothrow) Chunk{}};
  if (made == nullptr) return nullptr;
  if (!chunks_[index].compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
    return found;
  return made.release();
}

void WrittenLsns::note(PageId page, Lsn lsn) noexcept {
  const std::uint64_t index = raw(page) / kChunkPages;
  if (index >= kChunks) return;
  Chunk* const chunk = chunk_for(index);
  // The page's next reader comes by way of the frame's latch, and of the page table's mutex.
  if (chunk != nullptr) (*chunk)[raw(page) % kChunkPages].store(lsn, std::memory_order_relaxed);
}

Lsn WrittenLsns::of(PageId page) const noexcept {
  const std::uint64_t index = raw(page) / kChunkPages;
  if (index >= kChunks) return Lsn::none;
  const Chunk* const chunk = chunks_[index].load(std::memory_order_acquire);
  if (chunk == nullptr) return Lsn::none;
  return (*chunk)[raw(page) % kChunkPages].load(std::memory_order_relaxed);
}

}  // namespace swizzle
