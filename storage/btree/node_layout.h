#pragma once

#include "storage/buffer/page_layout.h"

namespace swizzle {

/// Returns the functions by which the pool walks and swizzles the references of B-tree nodes.
PageLayout node_layout() noexcept;

}  // namespace swizzle
