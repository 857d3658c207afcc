#pragma once

#include <filesystem>
#include <memory>

#include "base/memory/scratch_memory.h"
#include "base/result.h"

namespace swizzle {

/// ScratchMemory of the operating system: a file in `directory` without a name, mapped. What of it
/// is put away is known to base/memory/put_away.h.
Result<std::unique_ptr<ScratchMemory>> map_scratch_file(const std::filesystem::path& directory,
                                                        std::size_t bytes);

}  // namespace swizzle
