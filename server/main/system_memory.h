#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace swizzle::server {

/// Returns the memory of the machine, or of the process's control groups if that is less.
std::uint64_t system_memory_bytes(const std::filesystem::path& root = "/");
/// Returns the number of processors that the process may use at once, by its affinity and its
/// control groups; at least 1.
std::size_t system_processors(const std::filesystem::path& root = "/");

/// Defaults of the settings that depend on the memory.
struct MemoryDefaults {
  std::uint64_t pool_bytes;
  std::uint64_t version_store_bytes;
};
/// Returns a gigabyte each, or less on a small machine: a quarter and an eighth of its memory.
MemoryDefaults memory_defaults(std::uint64_t system_bytes);
/// Returns the memory for statements of all sessions: half of the memory without the pool.
std::uint64_t statement_memory(std::uint64_t system_bytes, std::uint64_t pool_bytes);

/// Makes freed large pieces of memory go back to the system. Call before any thread begins.
void give_back_freed_memory() noexcept;

}  // namespace swizzle::server
