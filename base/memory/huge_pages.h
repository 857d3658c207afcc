#pragma once

#include <cstddef>

namespace swizzle {

/// For memory in which one place after the other is wanted in no order: with small pages most of
/// them would miss the TLB. Only advice, and only where it is worth it; what is not touched yet
/// takes memory in larger pieces from then on.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace swizzle
