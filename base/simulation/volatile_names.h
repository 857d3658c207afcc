#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/simulation/volatile_bytes.h"

namespace swizzle {

/// The directories of a simulated disk. Like files they have a visible and a durable side: a name
/// made, moved or removed is durable after its directory was synced.
/// Paths are normalised by the caller. Not thread-safe.
class VolatileNames {
 public:
  using Path = std::filesystem::path;
  /// Null for a directory.
  using Node = std::shared_ptr<VolatileBytes>;

  [[nodiscard]] bool exists(const Path& path) const;
  [[nodiscard]] bool is_directory(const Path& path) const;
  /// Null when there is no such file.
  [[nodiscard]] Node file(const Path& path) const;
  [[nodiscard]] std::vector<std::string> list(const Path& directory) const;
  [[nodiscard]] std::vector<Node> files() const;

  void link(const Path& path, Node node);
  void unlink(const Path& path);
  void rename(const Path& from, const Path& to);
  void sync_directory(const Path& directory);
  void sync_all();

  /// Decides which changes survive, then the fate of every surviving file's bytes.
  void crash(Random& random);

  /// Copies all files, too.
  [[nodiscard]] VolatileNames copy() const;

 private:
  using Names = std::map<Path, Node>;
  struct Change {
    enum class Kind : std::uint8_t { link, unlink, rename };
    Kind kind;
    Path path;
    Path to;
    Node node;
    bool durable = false;
  };

  void record(Change change);
  void apply_durable();
  static void apply(Names& names, const Change& change);

  Names seen_;
  Names durable_;
  std::deque<Change> changes_;
};

}  // namespace swizzle
