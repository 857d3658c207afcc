#include "base/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/posix_file_system.h"

namespace swizzle {
namespace {

class MappedFile final : public ScratchMemory {
 public:
  MappedFile(int descriptor, void* memory, std::size_t bytes) noexcept
      : descriptor_(descriptor), memory_(memory), bytes_(bytes) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() override {
    static_cast<void>(munmap(memory_, bytes_));
    static_cast<void>(close(descriptor_));
  }

  [[nodiscard]] MutableBytes bytes() noexcept override {
    return {static_cast<std::byte*>(memory_), bytes_};
  }
  // All of these are advice: where one fails, the memory is only kept longer.
  void write_back() noexcept override {
    static_cast<void>(
        sync_file_range(descriptor_, 0, static_cast<off_t>(bytes_), SYNC_FILE_RANGE_WRITE));
  }
  void put_away() noexcept override {
    // The mapping is shared, so this drops our view of the pages and not what they hold.
    static_cast<void>(madvise(memory_, bytes_, MADV_DONTNEED));
    static_cast<void>(
        posix_fadvise(descriptor_, 0, static_cast<off_t>(bytes_), POSIX_FADV_DONTNEED));
  }

 private:
  const int descriptor_;
  void* const memory_;
  const std::size_t bytes_;
};

}  // namespace

Result<std::unique_ptr<ScratchMemory>> map_scratch_file(const std::filesystem::path& directory,
                                                        std::size_t bytes) {
  std::string name = (directory / "scratch-XXXXXX").native();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return fail(file_error("could not create", name, errno));
  static_cast<void>(unlink(name.c_str()));
  // Taken now: a page of a mapped file for which there is no room later would be a SIGBUS.
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  void* const memory = error == 0
                           ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                           : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const int why = error != 0 ? error : errno;
    static_cast<void>(close(descriptor));
    return fail(file_error("could not make room in", directory, why));
  }
  return std::make_unique<MappedFile>(descriptor, memory, bytes);
}

}  // namespace swizzle
