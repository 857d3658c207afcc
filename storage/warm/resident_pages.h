#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/buffer/frame_arena.h"

namespace swizzle {

/// A page that was in memory.
struct ResidentPage {
  PageId page = PageId::none;
  TreeId tree = TreeId::directory;
  std::uint8_t level = 0;
  /// Its usage counter: how often the clock hand would have passed it by.
  std::uint8_t usage = 0;
  friend constexpr bool operator==(const ResidentPage&, const ResidentPage&) = default;
};

/// The file with the pages that were in memory at a checkpoint or at the stop. A hint: it is not
/// made durable, and one that is damaged or of another database says nothing.
class ResidentPages {
 public:
  static constexpr const char* kFileName = "resident_pages";

  /// Returns what the frames have, by tree. Pages that are being changed may be missed. Yields;
  /// no latch held.
  static std::vector<ResidentPage> of(const FrameArena& arena);

  static Result<> save(FileSystem& files, const std::filesystem::path& directory,
                       std::uint64_t database_id, const std::vector<ResidentPage>& pages);
  /// Returns nothing where the file cannot be used.
  static std::vector<ResidentPage> load(FileSystem& files, const std::filesystem::path& directory,
                                        std::uint64_t database_id);
};

}  // namespace swizzle
