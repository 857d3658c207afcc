#include "storage/recovery/backup/digest_archive.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "storage/recovery/backup/digest_builder.h"
#include "wal/reader.h"
#include "wal/record.h"

namespace swizzle {
namespace {

/// A longer file is none of ours: a digest has some bytes for each record of its segment at most.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 30U;
/// The newest digest, beside the segments: where it ends, the next one begins, also after a
/// restart.
constexpr const char* kNewestName = "newest.digest";

Result<SegmentDigest> read_digest(FileSystem& files, const std::filesystem::path& path,
                                  const DigestOf& of) {
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  if (size > kLongest) return fail(sqlstate::data_corrupted, fmt::format("it has {} bytes", size));
  std::vector<std::byte> bytes(size);
  RETURN_IF_ERROR(file->read_at(0, bytes));
  return decode_digest(bytes, of);
}

Result<> remove_if_there(FileSystem& files, const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool is_there, files.exists(path));
  return is_there ? files.remove(path) : Result<>{};
}

/// Makes the digests of segments that are archived one after the other.
class DigestMaker {
 public:
  DigestMaker(FileSystem& files, std::filesystem::path directory, wal::ArchiveSegment archive)
      : files_(files), directory_(std::move(directory)), archive_(std::move(archive)) {}

  Result<> archive(const std::filesystem::path& path, const std::string& name) {
    RETURN_IF_ERROR(archive_(path, name));
    if (auto archived = archive_digest(name); !archived) {
      next_begin_.reset();
      spdlog::warn("segment \"{}\" is archived without its digest: {}", name,
                   archived.error().message());
    }
    return {};
  }

 private:
  Result<> archive_digest(const std::string& name) {
    const std::optional<std::uint64_t> number = number_of(name);
    if (!number)
      return fail(sqlstate::data_corrupted, fmt::format("\"{}\" is no segment's name", name));
    if (!log_) {
      ASSIGN_OR_RETURN(log_, wal::find_log(files_, directory_));
    }
    ASSIGN_OR_RETURN(const Lsn begin, begin_of(*number));
    ASSIGN_OR_RETURN(const SegmentDigest digest, make_digest(*log_, *number, begin));
    const auto path = directory_ / "digest.tmp";
    RETURN_IF_ERROR(remove_if_there(files_, path));
    {
      ASSIGN_OR_RETURN(const auto file, files_.open(path, OpenMode::create_new, {}));
      RETURN_IF_ERROR(file->write_at(0, encode_digest(digest, of(*number))));
    }
    RETURN_IF_ERROR(archive_(path, digest_name(*number)));
    next_ = *number + 1;
    next_begin_ = digest.end;
    return files_.rename(path, directory_ / kNewestName);
  }

  [[nodiscard]] DigestOf of(std::uint64_t number) const noexcept {
    return {log_->database_id, log_->segment_bytes, number};
  }

  /// Returns the segment's first record, which the digest of the one before it tells.
  [[nodiscard]] Result<Lsn> begin_of(std::uint64_t number) const {
    if (next_begin_ && next_ == number) return *next_begin_;
    ASSIGN_OR_RETURN(const bool is_there, files_.exists(directory_ / kNewestName));
    if (is_there) {
      const auto before = read_digest(files_, directory_ / kNewestName, of(number - 1));
      if (before) return before->end;
    }
    return first_ending_in(*log_, number);
  }

  static std::optional<std::uint64_t> number_of(const std::string& name) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
    const bool is_name = error == std::errc{} && std::string_view{end} == ".log";
    return is_name ? std::optional{number} : std::nullopt;
  }

  FileSystem& files_;
  const std::filesystem::path directory_;
  const wal::ArchiveSegment archive_;
  std::optional<wal::LogLocation> log_;
  /// The segment that comes next, and its first record.
  std::uint64_t next_ = 0;
  std::optional<Lsn> next_begin_;
};

}  // namespace

std::string digest_name(std::uint64_t segment) {
  return fmt::format("{:016x}.digest", segment);
}

wal::ArchiveSegment archive_with_digests(FileSystem& files, std::filesystem::path log_directory,
                                         wal::ArchiveSegment archive) {
  auto maker = std::make_shared<DigestMaker>(files, std::move(log_directory), std::move(archive));
  return [maker = std::move(maker)](const std::filesystem::path& path, const std::string& name) {
    return maker->archive(path, name);
  };
}

Result<std::optional<SegmentDigest>> ArchivedDigests::fetch(std::uint64_t segment) const {
  const std::string name = digest_name(segment);
  ASSIGN_OR_RETURN(const bool is_there, files_.exists(directory_ / name));
  if (!is_there) {
    if (!archive_) return std::optional<SegmentDigest>{};
    ASSIGN_OR_RETURN(const bool is_fetched, archive_(name, directory_ / name));
    if (!is_fetched) return std::optional<SegmentDigest>{};
  }
  return read(segment);
}

Result<std::optional<SegmentDigest>> ArchivedDigests::read(std::uint64_t segment) const {
  auto digest = read_digest(files_, directory_ / digest_name(segment),
                            {database_id_, segment_bytes_, segment});
  if (digest) return std::optional{*std::move(digest)};
  spdlog::warn("digest \"{}\" of the archive is not used, and its segment is read: {}",
               digest_name(segment), digest.error().message());
  return std::optional<SegmentDigest>{};
}

Result<> ArchivedDigests::require_fit(const SegmentDigest& digest, std::uint64_t number,
                                      File& segment) const {
  const std::uint64_t first = number * segment_bytes_;
  // No other record ends in the segment: its beginning is in the one before.
  if (raw(digest.last) < first) return {};
  constexpr std::uint64_t kHeader = wal::kWriteUnit;
  std::vector<std::byte> bytes(raw(digest.end) - raw(digest.last));
  ASSIGN_OR_RETURN(const std::uint64_t size, segment.size());
  const std::uint64_t at = kHeader + raw(digest.last) - first;
  const bool is_inside = at + bytes.size() <= size;
  if (is_inside) RETURN_IF_ERROR(segment.read_at(at, bytes));
  wal::Record last;
  const bool fits = is_inside &&
                    wal::decode(bytes, digest.last, database_id_, last) == wal::Decoding::record &&
                    last.end == digest.end && sum_of_record(last) == digest.last_sum;
  if (fits) return {};
  return fail(Error{
      sqlstate::data_corrupted,
      fmt::format("digest \"{}\" was made of another segment of this name", digest_name(number))}
                  .with_hint("Without the digest the restore reads the segment."));
}

Result<> ArchivedDigests::check(std::uint64_t number, File& segment) const {
  ASSIGN_OR_RETURN(const bool is_there, files_.exists(directory_ / digest_name(number)));
  if (!is_there) return {};
  ASSIGN_OR_RETURN(const auto digest, read(number));
  return digest ? require_fit(*digest, number, segment) : Result<>{};
}

}  // namespace swizzle
