#pragma once

#include <cstddef>

namespace swizzle {

/// Requests huge pages for memory with random accesses, most of which would miss the TLB with small
/// pages. Only advice, and only for large memory; memory that is not touched yet is then allocated
/// in larger pieces.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace swizzle
