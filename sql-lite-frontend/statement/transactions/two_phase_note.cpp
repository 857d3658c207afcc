#include "sql-lite-frontend/statement/transactions/two_phase_note.h"

#include <algorithm>

namespace swizzle::sql {
namespace {

constexpr std::uint8_t kNoteVersion = 2;
constexpr std::uint8_t kWithoutNumber = 1;

class NoteWriter {
 public:
  template <class T>
  void put(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    store(bytes_.data() + at, value);
  }
  void put_oids(const std::vector<Oid>& oids) {
    put(static_cast<std::uint32_t>(oids.size()));
    for (const Oid oid : oids) put(oid);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class NoteReader {
 public:
  explicit NoteReader(Bytes bytes) : rest_(bytes) {}
  template <class T>
  T take() {
    if (rest_.size() < sizeof(T)) {
      is_short_ = true;
      rest_ = {};
      return T{};
    }
    const T value = load<T>(rest_.data());
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  /// Reads a count of items that take at least so many bytes: no more than there is room for.
  std::uint32_t take_count(std::size_t item_bytes) {
    const auto count = take<std::uint32_t>();
    if (count <= rest_.size() / item_bytes) return count;
    is_short_ = true;
    return 0;
  }
  std::vector<Oid> take_oids() {
    std::vector<Oid> oids(take_count(sizeof(Oid)));
    for (Oid& oid : oids) oid = take<Oid>();
    return oids;
  }
  [[nodiscard]] bool was_whole() const noexcept { return !is_short_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool is_short_ = false;
};

constexpr std::size_t kLockBytes = 4 + 8 + 1 + 1;

}  // namespace

std::vector<std::byte> encode(const PreparedNote& note) {
  NoteWriter out;
  out.put(kNoteVersion);
  out.put(note.owner);
  out.put(note.database);
  out.put(static_cast<std::uint8_t>(note.has_definitions ? 1 : 0));
  out.put_oids(note.left_by_commit);
  out.put_oids(note.left_by_rollback);
  out.put(static_cast<std::uint32_t>(note.locks.size()));
  for (const PreparedNote::AdvisoryLock& lock : note.locks) {
    out.put(lock.key.database);
    out.put(lock.key.number);
    out.put(static_cast<std::uint8_t>(lock.key.is_pair ? 1 : 0));
    out.put(static_cast<std::uint8_t>(lock.mode == AdvisoryMode::exclusive ? 1 : 0));
  }
  out.put(note.number);
  return out.take();
}

std::optional<PreparedNote> decode_note(Bytes bytes) {
  NoteReader in(bytes);
  const auto version = in.take<std::uint8_t>();
  if (version != kNoteVersion && version != kWithoutNumber) return std::nullopt;
  PreparedNote note;
  note.owner = in.take<Oid>();
  note.database = in.take<Oid>();
  note.has_definitions = in.take<std::uint8_t>() != 0;
  note.left_by_commit = in.take_oids();
  note.left_by_rollback = in.take_oids();
  for (std::uint32_t left = in.take_count(kLockBytes); left > 0; --left) {
    PreparedNote::AdvisoryLock lock;
    lock.key.database = in.take<std::uint32_t>();
    lock.key.number = in.take<std::uint64_t>();
    lock.key.is_pair = in.take<std::uint8_t>() != 0;
    lock.mode = in.take<std::uint8_t>() != 0 ? AdvisoryMode::exclusive : AdvisoryMode::shared;
    note.locks.push_back(lock);
  }
  if (version != kWithoutNumber) note.number = in.take<std::int64_t>();
  if (!in.was_whole()) return std::nullopt;
  return note;
}

std::size_t count_prepared_in(const Engine& engine, Oid database) {
  const std::vector<PreparedTransaction> all = engine.prepared();
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& prepared) {
    const auto note = decode_note(prepared.note);
    return note && note->database == database;
  }));
}

}  // namespace swizzle::sql
