#include "storage/logical/slots.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>

#include "base/checksum.h"
#include "base/field_codec.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kSlotsMagic = 0x0a0d544f4c535a53;  // "SZSLOT\r\n"
/// Version 2 has two_phase_from. Without slots that have one, version 1 is written.
constexpr std::uint32_t kSlotsVersion = 2;
constexpr std::uint32_t kWithoutTwoPhase = 1;
/// Magic, version, length of the rest, checksum of the rest.
constexpr std::size_t kSlotsHeaderBytes = 24;

std::unexpected<Error> damaged_slots(std::string_view why) {
  return fail(sqlstate::data_corrupted,
              fmt::format("the file \"{}\" of replication slots {}", LogSlots::kFileName, why));
}

std::unexpected<Error> no_such_slot(std::string_view name) {
  return fail(sqlstate::undefined_object,
              fmt::format("replication slot \"{}\" does not exist", name));
}

std::unexpected<Error> slot_in_use(const Slot& slot) {
  return fail(sqlstate::object_in_use,
              fmt::format("replication slot \"{}\" is active for PID {}", slot.name, slot.holder));
}

}  // namespace

Result<std::unique_ptr<LogSlots>> LogSlots::open(FileSystem& files, std::filesystem::path directory,
                                                 std::uint64_t database_id) {
  std::unique_ptr<LogSlots> slots(new LogSlots(files, std::move(directory), database_id));
  auto done = slots->read();
  if (done) return slots;
  if (done.error().state() != sqlstate::data_corrupted) return fail(std::move(done).error());
  RETURN_IF_ERROR(slots->begin_anew(done.error()));
  return slots;
}

Result<> LogSlots::begin_anew(const Error& why) {
  entries_.clear();
  const auto aside = directory_ / (std::string{kFileName} + ".damaged");
  RETURN_IF_ERROR(files_.rename(directory_ / kFileName, aside));
  RETURN_IF_ERROR(files_.sync_directory(directory_));
  spdlog::error(
      "{}: all replication slots are lost, and their readers have to begin anew; the file is kept "
      "as \"{}\"",
      why.message(), aside.native());
  return {};
}

Result<> LogSlots::read() {
  const auto path = directory_ / kFileName;
  ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
  if (!exists) return {};
  ASSIGN_OR_RETURN(const auto file, files_.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;
  if (size < kSlotsHeaderBytes || size > kMostBytes) return damaged_slots("has an odd size");
  std::vector<std::byte> bytes(size);
  RETURN_IF_ERROR(file->read_at(0, bytes));
  FieldReader in(bytes);
  if (in.take<std::uint64_t>() != kSlotsMagic) return damaged_slots("is none");
  const auto version = in.take<std::uint32_t>();
  if (version != kSlotsVersion && version != kWithoutTwoPhase) {
    return fail(sqlstate::feature_not_supported,
                fmt::format("the file \"{}\" has format version {}", kFileName, version));
  }
  const auto length = in.take<std::uint32_t>();
  const auto sum = in.take<std::uint64_t>();
  const Bytes body = in.take_bytes(length);
  if (!in.is_whole() || checksum(body, database_id_) != sum) return damaged_slots("is damaged");
  FieldReader fields(body);
  while (!fields.at_end()) {
    Entry entry;
    Slot& slot = entry.slot;
    slot.name = fields.take_text();
    slot.plugin = fields.take_text();
    slot.database = fields.take<std::uint32_t>();
    slot.restart = entry.saved_restart = fields.take<Lsn>();
    slot.confirmed = fields.take<Lsn>();
    slot.is_lost = fields.take<std::uint8_t>() != 0;
    if (version != kWithoutTwoPhase) slot.two_phase_from = fields.take<Lsn>();
    slot.is_ready = true;
    if (!fields.is_whole()) return damaged_slots("is damaged");
    entries_.push_back(std::move(entry));
  }
  return {};
}

Result<> LogSlots::write() {
  std::vector<std::byte> body;
  std::vector<std::pair<std::string, Lsn>> written;
  std::uint32_t version = kWithoutTwoPhase;
  {
    const std::lock_guard hold(mutex_);
    FieldWriter out(body);
    for (const Entry& entry : entries_)
      if (entry.slot.two_phase_from != Lsn::none) version = kSlotsVersion;
    for (const Entry& entry : entries_) {
      const Slot& slot = entry.slot;
      if (!slot.is_ready || slot.lifetime == Slot::Lifetime::temporary) continue;
      out.put_text(slot.name);
      out.put_text(slot.plugin);
      out.put(slot.database);
      out.put(slot.restart);
      out.put(slot.confirmed);
      out.put(static_cast<std::uint8_t>(slot.is_lost ? 1 : 0));
      if (version != kWithoutTwoPhase) out.put(slot.two_phase_from);
      written.emplace_back(slot.name, slot.restart);
    }
    is_changed_ = false;
  }
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(kSlotsMagic);
  out.put(version);
  out.put(static_cast<std::uint32_t>(body.size()));
  out.put(checksum(body, database_id_));
  out.put_bytes(body);
  const auto path = directory_ / kFileName;
  const auto unfinished = directory_ / (std::string{kFileName} + ".tmp");
  const auto put = [&]() -> Result<> {
    ASSIGN_OR_RETURN(const auto file, files_.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, bytes));
    RETURN_IF_ERROR(file->sync());
    RETURN_IF_ERROR(files_.rename(unfinished, path));
    return files_.sync_directory(directory_);
  };
  auto done = put();
  const std::lock_guard hold(mutex_);
  if (!done) {
    is_changed_ = true;
    return done;
  }
  for (const auto& [name, restart] : written) {
    if (Entry* const entry = entry_of(name)) entry->saved_restart = restart;
  }
  return {};
}

LogSlots::Entry* LogSlots::entry_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(
      entries_, name, [](const Entry& entry) -> std::string_view { return entry.slot.name; });
  return found == entries_.end() ? nullptr : &*found;
}

Result<> LogSlots::reserve(Slot slot, std::size_t most) {
  const std::lock_guard hold(mutex_);
  if (entry_of(slot.name) != nullptr) {
    return fail(SqlState{"42710"},
                fmt::format("replication slot \"{}\" already exists", slot.name));
  }
  if (entries_.size() >= most) {
    return fail(Error{SqlState{"53400"}, "all replication slots are in use"}.with_hint(
        "Free one or increase max_replication_slots."));
  }
  slot.is_ready = false;
  const Lsn restart = slot.restart;
  entries_.push_back({std::move(slot), restart});
  return {};
}

Result<> LogSlots::complete(std::string_view name, Lsn confirmed) {
  const std::lock_guard one_writer(file_mutex_);
  {
    const std::lock_guard hold(mutex_);
    Entry* const entry = entry_of(name);
    if (entry == nullptr) return no_such_slot(name);
    entry->slot.confirmed = confirmed;
    entry->slot.is_ready = true;
    if (entry->slot.lifetime == Slot::Lifetime::temporary) return {};
  }
  return write();
}

Result<Slot> LogSlots::acquire(std::string_view name, std::int32_t holder) {
  const std::lock_guard hold(mutex_);
  Entry* const entry = entry_of(name);
  if (entry == nullptr) return no_such_slot(name);
  Slot& slot = entry->slot;
  const bool is_others = slot.lifetime == Slot::Lifetime::temporary && slot.holder != holder;
  if (is_others || (slot.holder != 0 && slot.holder != holder) || !slot.is_ready)
    return slot_in_use(slot);
  slot.holder = holder;
  return slot;
}

void LogSlots::release(std::string_view name) noexcept {
  const std::lock_guard hold(mutex_);
  Entry* const entry = entry_of(name);
  if (entry != nullptr && entry->slot.lifetime == Slot::Lifetime::permanent) entry->slot.holder = 0;
}

Result<> LogSlots::drop(std::string_view name, std::int32_t holder) {
  const std::lock_guard one_writer(file_mutex_);
  {
    const std::lock_guard hold(mutex_);
    Entry* const entry = entry_of(name);
    if (entry == nullptr) return no_such_slot(name);
    if (entry->slot.holder != 0 && entry->slot.holder != holder) return slot_in_use(entry->slot);
    const bool is_in_file =
        entry->slot.is_ready && entry->slot.lifetime == Slot::Lifetime::permanent;
    entries_.erase(entries_.begin() + (entry - entries_.data()));
    if (!is_in_file) return {};
  }
  return write();
}

void LogSlots::drop_unfinished(std::string_view name) noexcept {
  const std::lock_guard hold(mutex_);
  std::erase_if(entries_, [name](const Entry& entry) {
    return entry.slot.name == name && !entry.slot.is_ready;
  });
}

void LogSlots::drop_all_of(std::int32_t holder) noexcept {
  const std::lock_guard hold(mutex_);
  std::erase_if(entries_, [holder](const Entry& entry) {
    return entry.slot.holder == holder &&
           (entry.slot.lifetime == Slot::Lifetime::temporary || !entry.slot.is_ready);
  });
  for (Entry& entry : entries_) {
    if (entry.slot.holder == holder) entry.slot.holder = 0;
  }
}

std::vector<Slot> LogSlots::list() const {
  const std::lock_guard hold(mutex_);
  std::vector<Slot> all;
  for (const Entry& entry : entries_) all.push_back(entry.slot);
  return all;
}

std::optional<Slot> LogSlots::find(std::string_view name) const {
  const std::lock_guard hold(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.slot.name == name) return entry.slot;
  }
  return std::nullopt;
}

Result<> LogSlots::advance(std::string_view name, Lsn restart, Lsn confirmed, Save when) {
  {
    const std::lock_guard hold(mutex_);
    Entry* const entry = entry_of(name);
    if (entry == nullptr) return no_such_slot(name);
    Slot& slot = entry->slot;
    if (slot.is_lost) return {};
    if (restart > slot.restart) {
      slot.restart = restart;
      is_changed_ = true;
    }
    if (confirmed > slot.confirmed) {
      slot.confirmed = confirmed;
      is_changed_ = true;
    }
    if (slot.lifetime == Slot::Lifetime::temporary) {
      entry->saved_restart = slot.restart;
      return {};
    }
  }
  return when == Save::now ? save() : Result<>{};
}

Result<> LogSlots::save() {
  const std::lock_guard one_writer(file_mutex_);
  {
    const std::lock_guard hold(mutex_);
    if (!is_changed_) return {};
  }
  return write();
}

Result<> LogSlots::enable_two_phase(std::string_view name, Lsn from) {
  {
    const std::lock_guard hold(mutex_);
    Entry* const entry = entry_of(name);
    if (entry == nullptr) return no_such_slot(name);
    if (entry->slot.two_phase_from != Lsn::none) return {};
    entry->slot.two_phase_from = from;
    if (entry->slot.lifetime == Slot::Lifetime::temporary) return {};
    is_changed_ = true;
  }
  return save();
}

Lsn LogSlots::kept_from(Lsn tail, std::uint64_t most_bytes) {
  Lsn kept = Lsn::max;
  std::vector<std::string> lost;
  {
    const std::lock_guard hold(mutex_);
    for (Entry& entry : entries_) {
      Slot& slot = entry.slot;
      if (slot.is_lost || entry.saved_restart == Lsn::none) continue;
      const std::uint64_t needed =
          raw(tail) > raw(slot.restart) ? raw(tail) - raw(slot.restart) : 0;
      if (most_bytes != 0 && needed > most_bytes) {
        slot.is_lost = true;
        is_changed_ = true;
        lost.push_back(slot.name);
        continue;
      }
      kept = std::min(kept, entry.saved_restart);
    }
  }
  for (const std::string& name : lost) {
    spdlog::warn(
        "replication slot \"{}\" is lost: it would keep more than {} MB of log "
        "(max_slot_wal_keep_size)",
        name, most_bytes >> 20U);
  }
  return kept;
}

}  // namespace swizzle
