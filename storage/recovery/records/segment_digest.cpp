#include "storage/recovery/records/segment_digest.h"

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/field_codec.h"
#include "wal/record.h"

namespace swizzle {
namespace {

using Page = SegmentDigest::Page;

constexpr std::uint64_t kMagic = 0x0a0d54534744535a;  // "ZSDGST\r\n"
constexpr std::uint64_t kVersion = 1;
/// Magic, version, checksum of what follows.
constexpr std::size_t kHeaderBytes = 24;

/// Seven bits a byte, lowest first: most numbers are differences, and small.
void put_number(FieldWriter& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) out.put(static_cast<std::uint8_t>(number | 0x80U));
  out.put(static_cast<std::uint8_t>(number));
}

std::uint64_t take_number(FieldReader& in) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = in.take<std::uint8_t>();
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  return number;
}

/// Records begin at multiples of their alignment.
std::uint64_t distance(Lsn from, Lsn to) noexcept {
  return (raw(to) - raw(from)) / wal::kRecordAlignment;
}
Lsn take_lsn_behind(FieldReader& in, Lsn from) {
  return Lsn{raw(from) + take_number(in) * wal::kRecordAlignment};
}

void put_time(FieldWriter& out, const std::optional<std::int64_t>& time) {
  out.put(static_cast<std::uint8_t>(time.has_value()));
  out.put(time.value_or(0));
}
std::optional<std::int64_t> take_time(FieldReader& in) {
  const bool is_there = in.take<std::uint8_t>() != 0;
  const auto time = in.take<std::int64_t>();
  return is_there ? std::optional{time} : std::nullopt;
}

void put_pages(FieldWriter& out, const SegmentDigest& digest) {
  put_number(out, digest.pages.size());
  std::uint64_t previous = 0;
  for (const Page& page : digest.pages) {
    put_number(out, (raw(page.page) - previous) << 2U | static_cast<std::uint64_t>(page.fate));
    previous = raw(page.page);
    if (page.fate == Page::Fate::freed) continue;
    put_number(out, distance(digest.begin, page.since));
    put_number(out, distance(page.since, page.newest));
  }
}

/// Returns false for what no digest has.
bool take_pages(FieldReader& in, SegmentDigest& digest) {
  std::uint64_t previous = 0;
  for (std::uint64_t left = take_number(in); left > 0; --left) {
    const std::uint64_t number = take_number(in);
    const auto fate = static_cast<Page::Fate>(number & 3U);
    Page page{.page = PageId{previous + (number >> 2U)}, .fate = fate};
    const bool is_known = fate <= Page::Fate::freed;
    if (!in.is_whole() || !is_known || raw(page.page) <= previous) return false;
    previous = raw(page.page);
    if (fate != Page::Fate::freed) {
      page.since = take_lsn_behind(in, digest.begin);
      page.newest = take_lsn_behind(in, page.since);
      if (page.since < digest.begin || page.newest < page.since || page.newest >= digest.end)
        return false;
    }
    digest.pages.push_back(page);
  }
  return true;
}

void put_transactions(FieldWriter& out, const SegmentDigest& digest) {
  put_number(out, digest.open.size());
  for (const ActiveTransaction& open : digest.open) {
    put_number(out, raw(open.id));
    put_number(out, distance(digest.begin, open.first));
    put_number(out, distance(open.first, open.last));
  }
  put_number(out, digest.ended.size());
  std::uint64_t previous = 0;
  for (const TxnId id : digest.ended) {
    put_number(out, raw(id) - previous);
    previous = raw(id);
  }
}

bool take_transactions(FieldReader& in, SegmentDigest& digest) {
  for (std::uint64_t left = take_number(in); left > 0; --left) {
    ActiveTransaction open{};
    open.id = TxnId{take_number(in)};
    open.first = take_lsn_behind(in, digest.begin);
    open.last = take_lsn_behind(in, open.first);
    if (!in.is_whole() || open.id == TxnId::none || open.id >= digest.next_txn ||
        open.first < digest.begin || open.last < open.first || open.last >= digest.end)
      return false;
    digest.open.push_back(open);
  }
  std::uint64_t previous = 0;
  for (std::uint64_t left = take_number(in); left > 0; --left) {
    const std::uint64_t id = previous + take_number(in);
    if (!in.is_whole() || id <= previous || TxnId{id} >= digest.next_txn) return false;
    digest.ended.push_back(TxnId{id});
    previous = id;
  }
  return true;
}

bool take_all(FieldReader& in, const DigestOf& of, SegmentDigest& digest) {
  if (in.take<std::uint64_t>() != of.number || in.take<std::uint64_t>() != of.segment_bytes)
    return false;
  digest.begin = in.take<Lsn>();
  digest.end = in.take<Lsn>();
  digest.last = in.take<Lsn>();
  digest.last_sum = in.take<std::uint64_t>();
  digest.records = in.take<std::uint64_t>();
  digest.next_txn = in.take<TxnId>();
  digest.ended_at_us = in.take<std::int64_t>();
  digest.youngest_us = take_time(in);
  digest.last_event_end = in.take<Lsn>();
  digest.last_commit = in.take<TxnId>();
  digest.last_commit_us = take_time(in);
  const std::uint64_t segment_end = (of.number + 1) * of.segment_bytes;
  if (!in.is_whole() || digest.last < digest.begin || digest.end <= digest.last ||
      raw(digest.end) > segment_end || digest.last_event_end > digest.end)
    return false;
  if (!take_pages(in, digest) || !take_transactions(in, digest)) return false;
  for (std::uint64_t left = take_number(in); left > 0 && in.is_whole(); --left)
    digest.trees.push_back(in.take<TreeId>());
  for (std::uint64_t left = take_number(in); left > 0 && in.is_whole(); --left)
    digest.restore_points.push_back(in.take_text());
  return in.is_whole() && in.at_end();
}

}  // namespace

std::vector<std::byte> encode_digest(const SegmentDigest& digest, const DigestOf& of) {
  std::vector<std::byte> body;
  FieldWriter out(body);
  out.put(of.number);
  out.put(of.segment_bytes);
  out.put(digest.begin);
  out.put(digest.end);
  out.put(digest.last);
  out.put(digest.last_sum);
  out.put(digest.records);
  out.put(digest.next_txn);
  out.put(digest.ended_at_us);
  put_time(out, digest.youngest_us);
  out.put(digest.last_event_end);
  out.put(digest.last_commit);
  put_time(out, digest.last_commit_us);
  put_pages(out, digest);
  put_transactions(out, digest);
  put_number(out, digest.trees.size());
  for (const TreeId tree : digest.trees) out.put(tree);
  put_number(out, digest.restore_points.size());
  for (const std::string& name : digest.restore_points) out.put_text(name);
  std::vector<std::byte> bytes;
  FieldWriter file(bytes);
  file.put(kMagic);
  file.put(kVersion);
  file.put(checksum(body, of.database_id));
  file.put_bytes(body);
  return bytes;
}

Result<SegmentDigest> decode_digest(Bytes bytes, const DigestOf& of) {
  FieldReader in(bytes);
  const auto damaged = [] {
    return fail(sqlstate::data_corrupted, "it is damaged, or belongs to another segment");
  };
  if (bytes.size() < kHeaderBytes || in.take<std::uint64_t>() != kMagic) return damaged();
  const auto version = in.take<std::uint64_t>();
  if (version != kVersion)
    return fail(sqlstate::feature_not_supported, fmt::format("it is of version {}", version));
  if (in.take<std::uint64_t>() != checksum(in.rest(), of.database_id)) return damaged();
  SegmentDigest digest;
  if (!take_all(in, of, digest)) return damaged();
  return digest;
}

}  // namespace swizzle
