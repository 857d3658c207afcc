#pragma once

#include <memory>
#include <utility>

#include "base/io/posix_file_system.h"
#include "base/simulation/simulated_disk.h"

/// Declarations that the simulated disk's own files share.
namespace swizzle {

/// Normalises a path, so that each name has one form.
inline std::filesystem::path plain_path(const std::filesystem::path& path) {
  std::filesystem::path plain = path.lexically_normal();
  if (!plain.has_filename() && plain != plain.root_path()) plain = plain.parent_path();
  return plain;
}

class SimulatedDisk::OpenFile final : public File {
 public:
  OpenFile(SimulatedDisk& disk, std::filesystem::path path, VolatileNames::Node node, OpenMode mode,
           FileOptions options)
      : disk_(disk),
        path_(std::move(path)),
        node_(std::move(node)),
        mode_(mode),
        options_(options),
        boot_(disk.boot_) {}

  void submit(std::span<IoRequest* const> requests) noexcept override {
    disk_.submit(*this, requests);
  }
  Result<std::uint64_t> size() override {
    const Guard guard{disk_.mutex_};
    if (!disk_.alive(*this)) return fail(file_error("could not stat", path_, EIO));
    return node_->seen().size();
  }
  Result<> allocate(std::uint64_t offset, std::uint64_t length) override {
    return disk_.resize(*this, offset + length, Resize::at_least);
  }
  Result<> truncate(std::uint64_t size) override {
    return disk_.resize(*this, size, Resize::exactly);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept override { return path_; }

 private:
  friend class SimulatedDisk;

  SimulatedDisk& disk_;
  std::filesystem::path path_;
  VolatileNames::Node node_;
  OpenMode mode_;
  FileOptions options_;
  std::uint64_t boot_;
};

/// One request on its way.
struct SimulatedDisk::Transfer {
  VolatileNames::Node node;
  std::filesystem::path path;
  FileOptions options;
  std::uint64_t boot;
  IoRequest* request;
  std::optional<DiskFault> fault;
  std::optional<VolatileBytes::Handle> change;
  std::uint64_t horizon = 0;
  Duration latency{};
  int error = 0;

  [[nodiscard]] bool has(DiskFault::Effect effect) const noexcept {
    return fault && fault->effect == effect;
  }
};

}  // namespace swizzle
