#pragma once

#include <filesystem>
#include <optional>

namespace swizzle::bench {

/// Random direct 8 KiB reads per second that fio reaches on `file` with io_uring at `depth`, spread
/// over two processes; nothing if fio is not installed or refuses.
std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds);

/// MiB per second of direct sequential reads of 1 MiB, four under way.
std::optional<double> fio_sequential_mib_per_second(const std::filesystem::path& file,
                                                    double seconds);

}  // namespace swizzle::bench
