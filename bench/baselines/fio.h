#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swizzle::bench {

/// Returns the random direct 8 KiB reads per second of fio on `file` with io_uring at `depth`,
/// spread over two processes; nothing if fio is not installed or fails.
std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds);

/// Returns random direct 8 KiB transfers per second, `reads_percent` of them reads and the rest
/// durable writes, on a temporary file of `bytes` in `directory`.
std::optional<double> fio_mixed_transfers_per_second(const std::filesystem::path& directory,
                                                     std::uint64_t bytes, unsigned depth,
                                                     unsigned reads_percent, double seconds);

/// Returns MiB per second of direct sequential reads of 1 MiB, four in progress.
std::optional<double> fio_sequential_mib_per_second(const std::filesystem::path& file,
                                                    double seconds);

}  // namespace swizzle::bench
