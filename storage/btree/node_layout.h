#pragma once

#include "storage/buffer/page_layout.h"

namespace swizzle {

/// Returns the functions by which the pool walks and swizzles the references of B-tree nodes.
PageLayout node_layout() noexcept;

/// True for a leaf with ghosts, and for an almost empty one that has neighbours. Pre: the page is
/// not being changed.
bool has_space_to_give_back(const std::byte* page) noexcept;

}  // namespace swizzle
