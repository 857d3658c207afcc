#include "storage/standby/sent_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/memory/scratch_memory.h"
#include "base/runtime/asked_to_end.h"
#include "storage/page/page.h"

namespace swizzle {
namespace {

constexpr std::size_t kMessageHead = 1 + 4 + 8;
constexpr std::uint64_t kMustBeNew = 1;
constexpr std::uint64_t kDurableWrites = 2;

std::unexpected<Error> only_sent(std::string_view what) {
  return fail(sqlstate::internal_error, fmt::format("{} files that are sent elsewhere", what));
}

std::unexpected<Error> no_message(std::string_view why) {
  return fail(SqlState{"08P01"}, fmt::format("a message of the copy {}", why));
}

}  // namespace

class SentFiles::SentFile final : public File {
 public:
  SentFile(SentFiles& files, std::uint32_t number, std::filesystem::path path)
      : files_(files), number_(number), path_(std::move(path)) {}
  ~SentFile() override { static_cast<void>(files_.send('c', number_, 0, {})); }

  void submit(std::span<IoRequest* const> requests) noexcept override {
    for (IoRequest* const request : requests) {
      request->error = run(*request);
      request->done(*request);
    }
  }
  Result<std::uint64_t> size() override { return size_; }
  Result<> allocate(std::uint64_t offset, std::uint64_t length) override {
    size_ = std::max(size_, offset + length);
    return files_.send('a', number_, offset + length, {});
  }
  Result<> truncate(std::uint64_t size) override {
    size_ = size;
    return files_.send('t', number_, size, {});
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept override { return path_; }

 protected:
  bool transfer_here(IoRequest& request) noexcept override {
    request.error = run(request);
    return true;
  }

 private:
  int run(const IoRequest& request) noexcept {
    Result<> sent;
    switch (request.kind) {
      case IoRequest::Kind::read:
        return ENOTSUP;
      case IoRequest::Kind::sync:
        sent = files_.send('s', number_, 0, {});
        break;
      case IoRequest::Kind::write:
        size_ = std::max(size_, request.offset + request.size);
        sent = write(request.offset, {request.data, request.size});
        break;
    }
    return sent ? 0 : EINTR;
  }

  Result<> write(std::uint64_t offset, Bytes bytes) {
    const bool is_of_pages =
        path_ == files_.data_file_ && offset % kPageBytes == 0 && bytes.size() % kPageBytes == 0;
    if (!is_of_pages) return files_.send('w', number_, offset, bytes);
    for (std::size_t at = 0; at < bytes.size(); at += kPageBytes) {
      const std::uint64_t page = (offset + at) / kPageBytes;
      const Lsn known = page < files_.known_.size() ? files_.known_[page] : Lsn::none;
      const Lsn lsn = load<PageHeader>(bytes.data() + at).lsn;
      if (known != Lsn::none && lsn == known) continue;
      RETURN_IF_ERROR(files_.send('w', number_, offset + at, bytes.subspan(at, kPageBytes)));
    }
    return {};
  }

  SentFiles& files_;
  const std::uint32_t number_;
  const std::filesystem::path path_;
  std::uint64_t size_ = 0;
};

Result<> SentFiles::send(char kind, std::uint32_t file, std::uint64_t number, Bytes body) {
  if (is_asked_to_end()) return fail(SqlState{"57014"}, "canceling statement due to user request");
  std::vector<std::byte> message(kMessageHead + body.size());
  message[0] = static_cast<std::byte>(kind);
  store(message.data() + 1, file);
  store(message.data() + 5, number);
  std::ranges::copy(body, message.begin() + kMessageHead);
  send_(message);
  return {};
}

Result<std::unique_ptr<File>> SentFiles::open(const std::filesystem::path& path, OpenMode mode,
                                              FileOptions options) {
  if (mode == OpenMode::read_only) return only_sent("cannot read");
  const std::uint32_t number = ++last_file_;
  const std::uint64_t how =
      (mode == OpenMode::create_new ? kMustBeNew : 0) | (options.dsync ? kDurableWrites : 0);
  RETURN_IF_ERROR(send('o', number, how, as_bytes(path.native())));
  return std::make_unique<SentFile>(*this, number, path);
}

Result<> SentFiles::remove(const std::filesystem::path& path) {
  return send('r', 0, 0, as_bytes(path.native()));
}

Result<> SentFiles::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::string both = from.native();
  both += '\0';
  both += to.native();
  return send('n', 0, 0, as_bytes(both));
}

Result<std::vector<std::string>> SentFiles::list(const std::filesystem::path& /*directory*/) {
  return only_sent("cannot list");
}

Result<bool> SentFiles::exists(const std::filesystem::path& /*path*/) {
  return only_sent("cannot look for");
}

Result<> SentFiles::create_directory(const std::filesystem::path& path) {
  return send('d', 0, 0, as_bytes(path.native()));
}

Result<> SentFiles::sync_directory(const std::filesystem::path& path) {
  return send('y', 0, 0, as_bytes(path.native()));
}

Result<std::unique_ptr<FileLock>> SentFiles::lock(const std::filesystem::path& /*path*/) {
  return only_sent("cannot lock");
}

Result<std::unique_ptr<ScratchMemory>> SentFiles::scratch(
    const std::filesystem::path& /*directory*/, std::size_t /*bytes*/) {
  return only_sent("cannot map");
}

void SentFiles::tell_progress(const RecoveryProgress& progress) {
  if (progress.phase != "backup") return;
  std::array<std::byte, sizeof(std::uint64_t)> total;
  store(total.data(), progress.total);
  static_cast<void>(send('p', 0, progress.done, total));
}

Result<std::filesystem::path> ReceivedFiles::path_of(std::string_view relative) const {
  const std::filesystem::path path{relative};
  const bool leads_out = path.is_absolute() || std::ranges::find(path, "..") != path.end();
  if (leads_out || relative.find('\0') != std::string_view::npos)
    return no_message(fmt::format("names the path \"{}\"", relative));
  return path.empty() ? directory_ : directory_ / path;
}

bool ReceivedFiles::is_meant(std::string_view relative) const {
  if (!existing_) return true;
  const std::filesystem::path path{relative};
  return !path.empty() && *path.begin() == existing_->only_in;
}

Result<> ReceivedFiles::open(std::uint32_t number, std::uint64_t how, std::string_view relative) {
  ASSIGN_OR_RETURN(const auto path, path_of(relative));
  if (!is_meant(relative)) {
    passed_over_.insert(number);
    return {};
  }
  const bool must_be_new = (how & kMustBeNew) != 0;
  const bool may_be_there = existing_ || !must_be_new;
  Received& opened = open_[number];
  ASSIGN_OR_RETURN(
      opened.file,
      files_.open(path, may_be_there ? OpenMode::open_or_create : OpenMode::create_new, {}));
  opened.syncs_at_end = (how & kDurableWrites) != 0;
  const bool is_replaced = existing_ && must_be_new && path != directory_ / existing_->data_file;
  return is_replaced ? opened.file->truncate(0) : Result<>{};
}

Result<File*> ReceivedFiles::file_of(std::uint32_t number) const {
  const auto found = open_.find(number);
  if (found == open_.end()) return no_message("is of a file that is not open");
  return found->second.file.get();
}

Result<> ReceivedFiles::apply(Bytes message) {
  if (message.size() < kMessageHead) return no_message("is too short");
  const char kind = static_cast<char>(message[0]);
  const auto file = load<std::uint32_t>(message.data() + 1);
  const auto number = load<std::uint64_t>(message.data() + 5);
  const Bytes body = message.subspan(kMessageHead);
  const std::string_view text = as_text(body);
  constexpr std::string_view kOfOpenFile = "wtasc";
  if (kOfOpenFile.find(kind) != std::string_view::npos && passed_over_.contains(file)) {
    if (kind == 'c') passed_over_.erase(file);
    return {};
  }
  switch (kind) {
    case 'd': {
      ASSIGN_OR_RETURN(const auto path, path_of(text));
      if (!is_meant(text)) return {};
      ASSIGN_OR_RETURN(const bool is_there, files_.exists(path));
      return existing_ && is_there ? Result<>{} : files_.create_directory(path);
    }
    case 'o':
      return open(file, number, text);
    case 'w': {
      ASSIGN_OR_RETURN(File* const to, file_of(file));
      return to->write_at(number, body);
    }
    case 't': {
      ASSIGN_OR_RETURN(File* const to, file_of(file));
      return to->truncate(number);
    }
    case 'a': {
      ASSIGN_OR_RETURN(File* const to, file_of(file));
      return to->allocate(0, number);
    }
    case 's': {
      ASSIGN_OR_RETURN(File* const to, file_of(file));
      return to->sync();
    }
    case 'c': {
      ASSIGN_OR_RETURN(File* const closed, file_of(file));
      if (open_[file].syncs_at_end) RETURN_IF_ERROR(closed->sync());
      open_.erase(file);
      return {};
    }
    case 'y': {
      ASSIGN_OR_RETURN(const auto path, path_of(text));
      return files_.sync_directory(path);
    }
    case 'n': {
      const std::size_t middle = text.find('\0');
      if (middle == std::string_view::npos) return no_message("renames to nothing");
      ASSIGN_OR_RETURN(const auto from, path_of(text.substr(0, middle)));
      ASSIGN_OR_RETURN(const auto to, path_of(text.substr(middle + 1)));
      if (!is_meant(text.substr(0, middle))) return {};
      return files_.rename(from, to);
    }
    case 'r': {
      ASSIGN_OR_RETURN(const auto path, path_of(text));
      if (!is_meant(text) || (existing_ && path == directory_ / existing_->kept)) return {};
      return files_.remove(path);
    }
    case 'p':
      if (body.size() == sizeof(std::uint64_t) && told_)
        told_(number, load<std::uint64_t>(body.data()));
      return {};
    default:
      return no_message(fmt::format("has the unknown kind {}", static_cast<int>(kind)));
  }
}

}  // namespace swizzle
