#include "storage/space/written_lsns.h"

#include <new>

namespace swizzle {

WrittenLsns::~WrittenLsns() {
  for (const auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

WrittenLsns::Chunk* WrittenLsns::chunk_for(std::size_t index) noexcept {
  // Acquire: observes the empty chunk that another thread made.
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
  if (chunk == nullptr) return;
  const std::uint64_t at = raw(page) % kChunkPages;
  // The page's next reader comes by way of the frame's latch, and of the page table's mutex.
  // LSNs only grow, and a page that was given up must not become right by a write of its old copy.
  if (lsn <= chunk->lsns[at].load(std::memory_order_relaxed)) return;
  chunk->lsns[at].store(lsn, std::memory_order_relaxed);
  const std::uint64_t block = at / kBlockPages;
  // Release: publishes the LSN with the bit.
  chunk->changed[block / 64].fetch_or(std::uint64_t{1} << block % 64, std::memory_order_release);
}

Lsn WrittenLsns::of(PageId page) const noexcept {
  const std::uint64_t index = raw(page) / kChunkPages;
  if (index >= kChunks) return Lsn::none;
  const Chunk* const chunk = chunks_[index].load(std::memory_order_acquire);
  if (chunk == nullptr) return Lsn::none;
  return chunk->lsns[raw(page) % kChunkPages].load(std::memory_order_relaxed);
}

void WrittenLsns::adopt(std::uint64_t number, std::span<const Lsn, kBlockPages> block) noexcept {
  const std::uint64_t index = number / kChunkBlocks;
  if (index >= kChunks) return;
  Chunk* const chunk = chunk_for(index);
  if (chunk == nullptr) return;
  std::atomic<Lsn>* const lsns = chunk->lsns.data() + number % kChunkBlocks * kBlockPages;
  for (std::size_t i = 0; i < kBlockPages; ++i) lsns[i].store(block[i], std::memory_order_relaxed);
}

WrittenLsns::Block WrittenLsns::copy_of(const Chunk& chunk, std::uint64_t number) noexcept {
  Block block;
  const std::atomic<Lsn>* const lsns = chunk.lsns.data() + number * kBlockPages;
  for (std::size_t i = 0; i < kBlockPages; ++i) block[i] = lsns[i].load(std::memory_order_relaxed);
  return block;
}

}  // namespace swizzle
