#include "lock/internal/chunk_slabs.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "base/invariant.h"

namespace swizzle::lock {
namespace {

std::byte* chunk_place(ChunkSlabs::Slab* slab, std::uint32_t number) noexcept {
  return reinterpret_cast<std::byte*>(slab) + std::size_t{number + 1} * EntryChunk::kBytes;
}

ChunkSlabs::Slab* slab_of(EntryChunk* chunk) noexcept {
  return reinterpret_cast<ChunkSlabs::Slab*>(reinterpret_cast<std::uintptr_t>(chunk) &
                                             ~std::uintptr_t{ChunkSlabs::kBytes - 1});
}

}  // namespace

ChunkSlabs::~ChunkSlabs() {
  // Two threads that map at the same time leave one slab without any use.
  while (partial_ != nullptr) {
    Slab* const untouched = partial_;
    unlink(untouched);
    unmap(untouched);
  }
  if (spare_ != nullptr) unmap(spare_);
}

ChunkSlabs::Slab* ChunkSlabs::map() {
  // Twice the size, so that an aligned slab can be cut out of it.
  void* memory =
      ::mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  auto* start = static_cast<std::byte*>(memory);
  const std::size_t before = (kBytes - reinterpret_cast<std::uintptr_t>(start) % kBytes) % kBytes;
  if (before != 0) ::munmap(start, before);
  ::munmap(start + before + kBytes, kBytes - before);
  auto* slab = new (start + before) Slab{};
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    auto* chunk = new (chunk_place(slab, i)) EntryChunk{};
    chunk->next = std::exchange(slab->free, chunk);
    make_fresh(*chunk);
  }
  return slab;
}

void ChunkSlabs::unmap(Slab* slab) noexcept {
  INVARIANT(slab->used == 0);
  unpoison(slab, kBytes);  // the addresses may be mapped for another use
  ::munmap(slab, kBytes);
}

void ChunkSlabs::add(Slab* slab) noexcept {
  link(slab);
}

EntryChunk* ChunkSlabs::take() noexcept {
  if (partial_ == nullptr) {
    if (spare_ == nullptr) return nullptr;
    link(std::exchange(spare_, nullptr));
  }
  Slab* slab = partial_;
  EntryChunk* chunk = slab->free;
  slab->free = chunk->next;
  ++slab->used;
  if (slab->free == nullptr) unlink(slab);
  chunk->next = nullptr;
  return chunk;
}

ChunkSlabs::Slab* ChunkSlabs::give_back(EntryChunk* chunk) noexcept {
  make_fresh(*chunk);
  Slab* slab = slab_of(chunk);
  if (slab->free == nullptr) link(slab);
  chunk->next = std::exchange(slab->free, chunk);
  if (--slab->used != 0) return nullptr;
  unlink(slab);
  return std::exchange(spare_, slab);
}

void ChunkSlabs::link(Slab* slab) noexcept {
  slab->previous = nullptr;
  slab->next = partial_;
  if (partial_ != nullptr) partial_->previous = slab;
  partial_ = slab;
}

void ChunkSlabs::unlink(Slab* slab) noexcept {
  (slab->previous == nullptr ? partial_ : slab->previous->next) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
}

}  // namespace swizzle::lock
