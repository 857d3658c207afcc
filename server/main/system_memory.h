#pragma once

#include <cstdint>

namespace swizzle::server {

/// Returns the memory of the machine, or of the process's control group where that is less.
std::uint64_t system_memory_bytes();

/// Large pieces of memory go back to the system when they are freed, whoever had them. Before any
/// thread begins.
void give_back_freed_memory() noexcept;

}  // namespace swizzle::server
