#include "wal/record_kinds.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/invariant.h"

namespace swizzle::wal {
namespace {

std::string describe_mark(const Record& record) {
  if (record.payload.size() != sizeof(std::uint64_t)) return "malformed";
  return fmt::format("durable={}", load<std::uint64_t>(record.payload.data()));
}

std::string describe_bytes(const Record& record) {
  constexpr std::size_t kShown = 16;
  if (record.payload.empty()) return {};
  return fmt::format("payload={} bytes {}", record.payload.size(),
                     hexadecimal(record.payload, kShown));
}

std::string describe_header(const RecordHeader& header) {
  std::string text;
  const auto add = [&](std::string_view name, std::uint64_t value) {
    if (value != 0) fmt::format_to(std::back_inserter(text), " {}={}", name, value);
  };
  add("txn", raw(header.txn));
  add("txn_prev", raw(header.txn_prev));
  add("tree", raw(header.tree));
  add("page", raw(header.page));
  add("page_prev", raw(header.page_prev));
  add("page2", raw(header.page2));
  add("page2_prev", raw(header.page2_prev));
  add("undo_next", raw(header.undo_next));
  if (header.flags != 0) fmt::format_to(std::back_inserter(text), " flags={:#04x}", header.flags);
  return text;
}

}  // namespace

RecordKinds::RecordKinds() {
  entries_[std::to_underlying(RecordKind::flush_mark)] = {"flush_mark", describe_mark};
}

void RecordKinds::add(RecordKind kind, std::string_view name, Describe describe) {
  Entry& entry = entries_[std::to_underlying(kind)];
  INVARIANT(kind >= RecordKind::first_for_storage && entry.name.empty() && !name.empty());
  entry = {name, std::move(describe)};
}

std::string RecordKinds::name(RecordKind kind) const {
  const Entry& entry = entries_[std::to_underlying(kind)];
  return entry.name.empty() ? fmt::format("kind {}", std::to_underlying(kind))
                            : std::string{entry.name};
}

std::string RecordKinds::describe(const Record& record) const {
  const Entry& entry = entries_[std::to_underlying(record.header.kind)];
  std::string text = fmt::format("{} +{} {}{}", raw(record.lsn), raw(record.end) - raw(record.lsn),
                                 name(record.header.kind), describe_header(record.header));
  const std::string meaning = entry.describe ? entry.describe(record) : describe_bytes(record);
  if (!meaning.empty()) text += " | " + meaning;
  return text;
}

std::string hexadecimal(Bytes bytes, std::size_t most) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), most))) {
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
  }
  if (bytes.size() > most) text += "...";
  return text;
}

}  // namespace swizzle::wal
