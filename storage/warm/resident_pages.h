#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/buffer/frame_arena.h"

namespace swizzle {

/// A page that was resident.
struct ResidentPage {
  PageId page = PageId::none;
  TreeId tree = TreeId::directory;
  std::uint8_t level = 0;
  /// Usage counter of the clock sweep.
  std::uint8_t usage = 0;
  friend constexpr bool operator==(const ResidentPage&, const ResidentPage&) = default;
};

/// File of the pages that were resident at a checkpoint or at the stop. A hint: not synced, and
/// ignored if it is damaged or of another database.
class ResidentPages {
 public:
  static constexpr const char* kFileName = "resident_pages";

  /// Returns the resident pages, ordered by tree. May miss pages that are being changed. Yields; no
  /// latch held.
  static std::vector<ResidentPage> of(const FrameArena& arena);

  static Result<> save(FileSystem& files, const std::filesystem::path& directory,
                       std::uint64_t database_id, const std::vector<ResidentPage>& pages);
  /// Reads the list; empty if the file cannot be used.
  static std::vector<ResidentPage> load(FileSystem& files, const std::filesystem::path& directory,
                                        std::uint64_t database_id);
};

}  // namespace swizzle
