#pragma once

#include <filesystem>
#include <optional>

namespace swizzle::bench {

/// Random direct 8 KiB reads per second that fio reaches on `file` with io_uring at `depth`, spread
/// over two processes; nothing if fio is not installed or refuses.
std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds);

}  // namespace swizzle::bench
