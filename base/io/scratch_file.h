#pragma once

#include <filesystem>
#include <memory>

#include "base/memory/scratch_memory.h"
#include "base/result.h"

namespace swizzle {

/// ScratchMemory of the operating system: a mapped file in `directory` without a name. Its
/// swapped-out parts are known to base/memory/swapped_out.h.
Result<std::unique_ptr<ScratchMemory>> map_scratch_file(const std::filesystem::path& directory,
                                                        std::size_t bytes);

}  // namespace swizzle
