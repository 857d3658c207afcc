#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swizzle::bench {

/// Random direct 8 KiB reads per second that fio reaches on `file` with io_uring at `depth`, spread
/// over two processes; nothing if fio is not installed or refuses.
std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds);

/// Random direct transfers of 8 KiB per second, `reads_percent` of them reads and the rest durable
/// writes, on a file of `bytes` of its own in `directory` that is removed afterwards.
std::optional<double> fio_mixed_transfers_per_second(const std::filesystem::path& directory,
                                                     std::uint64_t bytes, unsigned depth,
                                                     unsigned reads_percent, double seconds);

/// MiB per second of direct sequential reads of 1 MiB, four under way.
std::optional<double> fio_sequential_mib_per_second(const std::filesystem::path& file,
                                                    double seconds);

}  // namespace swizzle::bench
