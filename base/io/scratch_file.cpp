#include "base/io/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/io/posix_file_system.h"
#include "base/memory/swapped_out.h"
#include "base/runtime/helper_threads.h"

namespace swizzle {
namespace {

/// A file without a name, and its mapping. Destroying a large one takes long.
class Mapping {
 public:
  Mapping(int descriptor, void* memory, std::size_t bytes) noexcept
      : descriptor_(descriptor), memory_(memory), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        memory_(other.memory_),
        bytes_(other.bytes_) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (descriptor_ < 0) return;
    // The addresses may soon be mapped for another use.
    note_paged_in();
    static_cast<void>(munmap(memory_, bytes_));
    static_cast<void>(close(descriptor_));
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] void* memory() const noexcept { return memory_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  void note_swapped_out() const noexcept {
    if (has_windows()) swapped_out::note_swapped_out(memory_, bytes_);
  }
  void note_paged_in() const noexcept {
    if (has_windows()) swapped_out::note_paged_in(memory_, bytes_);
  }

 private:
  /// A smaller file shares its windows with others and is read back with an ordinary page fault.
  [[nodiscard]] bool has_windows() const noexcept { return bytes_ >= swapped_out::kWindowBytes; }

  int descriptor_;
  void* memory_;
  std::size_t bytes_;
};

class MappedFile final : public ScratchMemory {
 public:
  explicit MappedFile(Mapping mapping) noexcept : mapping_(std::move(mapping)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  // The mapping may be released by a reactor's fiber that holds a latch.
  ~MappedFile() override { HelperThreads::of_the_process().destroy(std::move(mapping_)); }

  [[nodiscard]] MutableBytes bytes() noexcept override {
    return {static_cast<std::byte*>(mapping_.memory()), mapping_.size()};
  }
  // All of these are advice: if one fails, the memory is only kept longer.
  void write_back() noexcept override {
    static_cast<void>(sync_file_range(mapping_.descriptor(), 0, length(), SYNC_FILE_RANGE_WRITE));
  }
  void swap_out() noexcept override {
    // The mapping is shared, so this drops our view of the pages but not their content.
    static_cast<void>(madvise(mapping_.memory(), mapping_.size(), MADV_DONTNEED));
    static_cast<void>(posix_fadvise(mapping_.descriptor(), 0, length(), POSIX_FADV_DONTNEED));
    mapping_.note_swapped_out();
  }
  void page_in() noexcept override {
    // For writing: otherwise the first write to each page would wait for the file system, and for
    // the page's write to the device.
    static_cast<void>(madvise(mapping_.memory(), mapping_.size(), MADV_POPULATE_WRITE));
    mapping_.note_paged_in();
  }

 private:
  [[nodiscard]] off_t length() const noexcept { return static_cast<off_t>(mapping_.size()); }

  Mapping mapping_;
};

/// Maps a file; one of a window or more begins at a window's boundary.
void* map(int descriptor, std::size_t bytes) noexcept {
  constexpr int kHow = PROT_READ | PROT_WRITE;
  if (bytes < swapped_out::kWindowBytes)
    return mmap(nullptr, bytes, kHow, MAP_SHARED, descriptor, 0);
  const std::size_t most = bytes + swapped_out::kWindowBytes;
  void* const room =
      mmap(nullptr, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return room;
  auto* const first = static_cast<std::byte*>(room);
  const std::size_t into = reinterpret_cast<std::uintptr_t>(first) % swapped_out::kWindowBytes;
  const std::size_t before = into == 0 ? 0 : swapped_out::kWindowBytes - into;
  void* const memory = mmap(first + before, bytes, kHow, MAP_SHARED | MAP_FIXED, descriptor, 0);
  if (memory == MAP_FAILED) {
    const int why = errno;
    static_cast<void>(munmap(room, most));
    errno = why;
    return memory;
  }
  if (before != 0) static_cast<void>(munmap(first, before));
  const std::size_t behind = most - before - bytes;
  if (behind != 0) static_cast<void>(munmap(first + before + bytes, behind));
  return memory;
}

std::size_t in_windows(std::size_t bytes) noexcept {
  if (bytes < swapped_out::kWindowBytes) return bytes;
  return (bytes + swapped_out::kWindowBytes - 1) / swapped_out::kWindowBytes *
         swapped_out::kWindowBytes;
}

}  // namespace

Result<std::unique_ptr<ScratchMemory>> map_scratch_file(const std::filesystem::path& directory,
                                                        std::size_t bytes) {
  const std::size_t size = in_windows(bytes);
  std::string name = (directory / "scratch-XXXXXX").native();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return fail(file_error("could not create", name, errno));
  static_cast<void>(unlink(name.c_str()));
  // Allocated now: a later fault without space on the device would be a SIGBUS.
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(size));
  void* const memory = error == 0 ? map(descriptor, size) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const int why = error != 0 ? error : errno;
    static_cast<void>(close(descriptor));
    return fail(file_error("could not make room in", directory, why));
  }
  // The whole memory is about to be written. Faulting it page by page costs three times as much,
  // and each fault may wait for the file system. Only advice.
  static_cast<void>(madvise(memory, size, MADV_POPULATE_WRITE));
  return std::make_unique<MappedFile>(Mapping{descriptor, memory, size});
}

}  // namespace swizzle
