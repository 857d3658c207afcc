#include "sql-lite-frontend/catalog/object_codec.h"

#include <type_traits>

#include "sql-lite-frontend/catalog/object_fields.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint8_t kFormatVersion = 26;
constexpr std::uint8_t kOldestVersion = 2;

/// Writes the fields that `fields` below names, in that order.
class Writer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::string take() && { return std::move(out_); }
  template <class T>
  void since(std::uint8_t /*version*/, const T& value) {
    put(value);
  }

  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(const T& value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_ += text;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
    requires std::is_class_v<T>
  void put(const T& object);

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {
    get(version_);
    if (version_ >= kOldestVersion && version_ <= kFormatVersion) return;
    throw_error(sqlstate::data_corrupted, "catalog record has unknown format version {}", version_);
  }

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// A field that records of an older version lack: `value` stays unchanged.
  template <class T>
  void since(std::uint8_t version, T& value) {
    if (version_ >= version) get(value);
  }
  /// Converts records of older formats.
  template <class Change>
  void before(std::uint8_t version, Change&& change) {
    if (version_ < version) change();
  }

  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void get(T& value) {
    value = load<T>(take(sizeof value).data());
  }
  void get(bool& value) { value = std::to_integer<int>(take(1)[0]) != 0; }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    text = as_text(take(size));
  }
  template <class T>
  void get(std::vector<T>& list) {
    std::uint32_t size = 0;
    get(size);
    // Every item takes a byte at least, so a corrupt count cannot claim memory.
    if (size > rest_.size()) malformed();
    list.resize(size);
    for (T& item : list) get(item);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool present = false;
    get(present);
    if (present) get(value.emplace());
  }
  template <class T>
    requires std::is_class_v<T>
  void get(T& object);

  [[noreturn]] static void malformed() {
    throw SqlError{sqlstate::data_corrupted, "catalog record is malformed"};
  }

 private:
  Bytes take(std::size_t size) {
    if (size > rest_.size()) malformed();
    const Bytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  Bytes rest_;
  std::uint8_t version_ = 0;
};

template <class T>
  requires std::is_class_v<T>
void Writer::put(const T& object) {
  fields(*this, object);
}
template <class T>
  requires std::is_class_v<T>
void Reader::get(T& object) {
  fields(*this, object);
}

template <class T>
std::string encode_object(const T& object) {
  Writer writer;
  writer.put(kFormatVersion);
  writer.put(object);
  return std::move(writer).take();
}

template <class T>
T decode_object(Bytes bytes) {
  Reader reader{bytes};
  T object;
  reader.get(object);
  return object;
}

}  // namespace

void number_row_type(Relation& relation) {
  const TypeId rows = row_type_of_relation(relation.oid);
  relation.row_type = raw(rows);
  relation.array_type = rows == TypeId::none ? kNoOid : raw(user_array_of(rows));
}

std::string encode(const Schema& object) {
  return encode_object(object);
}
std::string encode(const Relation& object) {
  return encode_object(object);
}
std::string encode(const UserType& object) {
  return encode_object(object);
}
std::string encode(const Routine& object) {
  return encode_object(object);
}
std::string encode(const UserOperator& object) {
  return encode_object(object);
}
std::string encode(const UserCollation& object) {
  return encode_object(object);
}
std::string encode(const UserTextDictionary& object) {
  return encode_object(object);
}
std::string encode(const UserTextConfig& object) {
  return encode_object(object);
}
std::string encode(const UserCast& object) {
  return encode_object(object);
}
std::string encode(const Publication& object) {
  return encode_object(object);
}
std::string encode(const EventTrigger& object) {
  return encode_object(object);
}
std::string encode(const Subscription& object) {
  return encode_object(object);
}
std::string encode(const Extension& object) {
  return encode_object(object);
}
std::string encode(const Role& object) {
  return encode_object(object);
}
std::string encode(const DatabaseEntry& object) {
  return encode_object(object);
}
std::string encode(const DefaultGrants& object) {
  return encode_object(object);
}
std::string encode(const LargeObject& object) {
  return encode_object(object);
}

template <>
Schema decode<Schema>(Bytes bytes) {
  return decode_object<Schema>(bytes);
}
template <>
Relation decode<Relation>(Bytes bytes) {
  auto relation = decode_object<Relation>(bytes);
  // Before format 11 row types had arbitrary numbers, which no stored object refers to.
  if (relation.row_type != kNoOid) number_row_type(relation);
  return relation;
}
template <>
UserType decode<UserType>(Bytes bytes) {
  return decode_object<UserType>(bytes);
}
template <>
Routine decode<Routine>(Bytes bytes) {
  auto routine = decode_object<Routine>(bytes);
  // Before format 19 a function that returns a relation's rows had a copy of its columns.
  const TypeId rows = row_type_of_relation(routine.result_relation);
  if (routine.result_relation >= kFirstUserOid && rows != TypeId::none) {
    routine.result = rows;
    routine.result_relation = kNoOid;
    std::erase_if(routine.parameters,
                  [](const RoutineParameter& p) { return p.mode == ParameterMode::table; });
  }
  return routine;
}
template <>
UserOperator decode<UserOperator>(Bytes bytes) {
  return decode_object<UserOperator>(bytes);
}
template <>
UserCollation decode<UserCollation>(Bytes bytes) {
  return decode_object<UserCollation>(bytes);
}
template <>
UserTextDictionary decode<UserTextDictionary>(Bytes bytes) {
  return decode_object<UserTextDictionary>(bytes);
}
template <>
UserTextConfig decode<UserTextConfig>(Bytes bytes) {
  return decode_object<UserTextConfig>(bytes);
}
template <>
UserCast decode<UserCast>(Bytes bytes) {
  return decode_object<UserCast>(bytes);
}
template <>
Publication decode<Publication>(Bytes bytes) {
  return decode_object<Publication>(bytes);
}
template <>
EventTrigger decode<EventTrigger>(Bytes bytes) {
  return decode_object<EventTrigger>(bytes);
}
template <>
Subscription decode<Subscription>(Bytes bytes) {
  return decode_object<Subscription>(bytes);
}
template <>
Extension decode<Extension>(Bytes bytes) {
  return decode_object<Extension>(bytes);
}
template <>
Role decode<Role>(Bytes bytes) {
  return decode_object<Role>(bytes);
}
template <>
DatabaseEntry decode<DatabaseEntry>(Bytes bytes) {
  return decode_object<DatabaseEntry>(bytes);
}
template <>
DefaultGrants decode<DefaultGrants>(Bytes bytes) {
  return decode_object<DefaultGrants>(bytes);
}
template <>
LargeObject decode<LargeObject>(Bytes bytes) {
  return decode_object<LargeObject>(bytes);
}

}  // namespace swizzle::sql
