#include "storage/recovery/records/record_describe.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "storage/btree/records.h"
#include "storage/logical/change_record.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/recovery/records/restore_point_record.h"

namespace swizzle::describe {
namespace {

constexpr std::size_t kShown = 32;
constexpr const char* kMalformed = "malformed";

// Returns printable text as it is and other bytes in hexadecimal; long ones are truncated.
std::string shown(Bytes bytes, std::size_t most = kShown) {
  const auto is_plain = [](std::byte byte) {
    return byte >= std::byte{' '} && byte <= std::byte{'~'} && byte != std::byte{'\''};
  };
  const Bytes part = bytes.first(std::min(bytes.size(), most));
  std::string text;
  if (std::ranges::all_of(part, is_plain)) {
    text = fmt::format("'{}'", std::string{as_text(part)});
  } else {
    text = "x";
    for (const std::byte byte : part)
      fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
  }
  return part.size() == bytes.size() ? text : fmt::format("{}... {} bytes", text, bytes.size());
}

std::string large(bool is_large) {
  return is_large ? " (in the overflow tree)" : "";
}

// Describes the image at the start of `bytes` and removes it.
std::string image(Bytes& bytes) {
  alignas(8) std::array<std::byte, kPageBytes> page;
  auto rest = payload::restore_image(bytes, page.data());
  if (!rest) {
    bytes = {};
    return kMalformed;
  }
  bytes = *rest;
  const Node& node = Node::of(page.data());
  return fmt::format("image of page {}: level {}, {} records", raw(node.id()), node.level(),
                     node.count());
}

}  // namespace

std::string row(const wal::Record& record) {
  const auto row = payload::decode_leaf_row(record.payload);
  if (!row) return kMalformed;
  return fmt::format("key={} value={}{}", shown(row->key), shown(row->value), large(row->overflow));
}

std::string rows(const wal::Record& record) {
  const auto rows = payload::decode_leaf_rows(record.payload);
  if (!rows) return kMalformed;
  return fmt::format("{} rows, keys {} to {}", rows->size(), shown(rows->front().key),
                     shown(rows->back().key));
}

std::string update(const wal::Record& record) {
  const auto update = payload::decode_leaf_update(record.payload);
  if (!update) return kMalformed;
  return fmt::format("key={} at {}: {}{} -> {}{}", shown(update->key), update->offset,
                     shown(update->old_part), large(update->old_overflow), shown(update->new_part),
                     large(update->new_overflow));
}

std::string slots(const wal::Record& record) {
  std::string text = "slots";
  for (std::size_t at = 0; at + 2 <= record.payload.size(); at += 2)
    fmt::format_to(std::back_inserter(text), " {}",
                   load<std::uint16_t>(record.payload.data() + at));
  return text;
}

std::string split(const wal::Record& record) {
  Bytes rest = record.payload;
  const std::string right = image(rest);
  if (rest.size() != sizeof(std::uint16_t)) return kMalformed;
  return fmt::format("at slot {}; {}", load<std::uint16_t>(rest.data()), right);
}

std::string adoption(const wal::Record& record) {
  const auto both = payload::decode_key_and_page(record.payload);
  if (!both) return kMalformed;
  return fmt::format("child={} from key={}", raw(both->page), shown(both->key));
}

std::string deadoption(const wal::Record& record) {
  const auto gone = payload::decode_deadoption(record.payload);
  if (!gone) return kMalformed;
  return fmt::format("child={} from key={} chain high {}", raw(gone->child), shown(gone->key),
                     gone->chain_high.is_infinite() ? "infinite" : shown(gone->chain_high.key));
}

std::string images(const wal::Record& record) {
  Bytes rest = record.payload;
  std::string text = image(rest);
  while (!rest.empty()) text += "; " + image(rest);
  return text;
}

std::string pages(const wal::Record& record) {
  constexpr std::size_t kMost = 16;
  const auto pages = freed_pages(record);
  if (!pages) return kMalformed;
  std::string text = fmt::format("{} pages:", pages->size());
  for (const PageId page : std::span{*pages}.first(std::min(pages->size(), kMost)))
    fmt::format_to(std::back_inserter(text), " {}", raw(page));
  return pages->size() > kMost ? text + " ..." : text;
}

namespace {

std::string moment(std::int64_t at) {
  constexpr std::int64_t kMicros = 1'000'000;
  const std::int64_t micros = ((at % kMicros) + kMicros) % kMicros;
  const auto seconds = static_cast<std::time_t>((at - micros) / kMicros);
  return fmt::format("at {:%Y-%m-%d %H:%M:%S}.{:06} UTC", fmt::gmtime(seconds), micros);
}

}  // namespace

std::string time(const wal::Record& record) {
  // A restart logs the end of a loser without a time.
  if (record.payload.size() < sizeof(std::int64_t)) return {};
  return moment(load<std::int64_t>(record.payload.data()));
}

std::string prepared(const wal::Record& record) {
  const auto prepared = payload::decode_prepared(record.payload);
  if (!prepared) return kMalformed;
  return fmt::format("{} {}, {} items kept, a note of {} bytes", shown(as_bytes(prepared->gid)),
                     moment(prepared->prepared_at_us), prepared->kept_items, prepared->note.size());
}

std::string restore_point(const wal::Record& record) {
  const auto point = payload::decode_restore_point(record.payload);
  if (!point) return kMalformed;
  return fmt::format("{} {}", shown(as_bytes(point->name), payload::kMostRestorePointBytes),
                     moment(point->time_us));
}

std::string kept(const wal::Record& record) {
  PreparedKept kept;
  if (!payload::decode_kept(record.payload, kept)) return kMalformed;
  return fmt::format("{} locks, {} traits of changes", kept.locks.size(), kept.traits.size());
}

std::string noted(const wal::Record& record) {
  const auto change = payload::decode_noted(record.payload);
  if (!change) return kMalformed;
  const bool goes_on = change->part == payload::NotedChange::Part::more;
  return fmt::format("at {}: {}{}", change->undo_position, shown(change->body),
                     goes_on ? ", to be continued" : "");
}

std::string taken_back(const wal::Record& record) {
  const auto above = payload::decode_taken_back(record.payload);
  return above ? fmt::format("those behind {}", *above) : kMalformed;
}

}  // namespace swizzle::describe
