#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

class TimeZone;
class CompiledRegex;
struct EnumLabels;

enum class DateStyle : std::uint8_t { iso, postgres, sql, german };
enum class DateOrder : std::uint8_t { ymd, dmy, mdy };
enum class IntervalStyle : std::uint8_t { postgres, postgres_verbose, sql_standard, iso_8601 };
/// Form of bytes in XML.
enum class XmlBinary : std::uint8_t { base64, hex };
enum class ByteaOutput : std::uint8_t { hex, escape };

/// The settings that change how values are read and written.
struct FormatSettings {
  DateStyle date_style = DateStyle::iso;
  DateOrder date_order = DateOrder::mdy;
  IntervalStyle interval_style = IntervalStyle::postgres;
  ByteaOutput bytea_output = ByteaOutput::hex;
  int extra_float_digits = 1;
  XmlBinary xml_binary = XmlBinary::base64;
  bool xml_document = false;                  ///< xmloption: values are documents, not any content
  std::shared_ptr<const TimeZone> time_zone;  ///< null is UTC
};

/// The columns of rows: those that a call in FROM is to give, where its definition list says them;
/// of a composite type.
struct RowShape {
  std::vector<std::string> names;
  std::vector<TypeId> types;
  std::vector<std::int32_t> typmods;
  std::vector<TypeId> collated;  ///< `types` under the columns' collations; empty: they have none

  /// Returns the types by which the columns are ordered.
  [[nodiscard]] const std::vector<TypeId>& ordered() const noexcept {
    return collated.empty() ? types : collated;
  }
};

/// Names of objects, for the reg* types. The catalog implements it; without one, only numbers are
/// accepted and written.
class ObjectNames {
 public:
  ObjectNames() = default;
  ObjectNames(const ObjectNames&) = delete;
  ObjectNames& operator=(const ObjectNames&) = delete;
  virtual ~ObjectNames() = default;

  /// `kind` is regclass, regtype, regproc, …; `name` is the user's spelling, quotes included.
  /// Throws SqlError for an ambiguous or malformed name; returns nothing if there is no such
  /// object.
  [[nodiscard]] virtual std::optional<std::uint32_t> find(TypeId kind, std::string_view name) = 0;
  /// The name as the reg* type's output shows it, qualified if it has to be.
  [[nodiscard]] virtual std::optional<std::string> name_of(TypeId kind, std::uint32_t oid) = 0;
  /// Returns the name for a call of the user's routine, qualified if the bare one would find
  /// another.
  [[nodiscard]] virtual std::optional<std::string> routine_name(std::uint32_t /*oid*/) {
    return std::nullopt;
  }
  /// An operator that a user made: its name, within OPERATOR(…) if that would find another.
  [[nodiscard]] virtual std::optional<std::string> operator_name(std::uint32_t /*oid*/) {
    return std::nullopt;
  }
  /// The labels of an enum, until the next call. Null if there is no such type.
  [[nodiscard]] virtual const EnumLabels* enum_labels(TypeId type) = 0;
  /// Checks a value, which may be NULL, against the domain. Throws SqlError 23502, 23514.
  virtual void check_domain(TypeId /*domain*/, const Value& /*value*/) {}
  /// The attributes of a composite type, or the columns whose rows the type is of. Null if there is
  /// no such type.
  [[nodiscard]] virtual std::shared_ptr<const RowShape> row_shape(TypeId /*type*/) {
    return nullptr;
  }
};

/// State of session and transaction that functions may use. One per session, kept by its owner. The
/// owner may derive from it, to give functions of its own more.
class SessionContext {
 public:
  FormatSettings format;
  CheckedPointer<ObjectNames> names;

  /// Microseconds since 2000-01-01 UTC, set when a transaction or statement starts.
  std::int64_t transaction_timestamp = 0;
  std::int64_t statement_timestamp = 0;

  /// Now; through a function so that a simulated clock can stand behind it.
  std::int64_t (*clock)() = &system_clock_now;

  /// random() and setseed(): a 64-bit xorshift state, seeded at first use when zero.
  std::uint64_t random_state[2] = {0, 0};

  /// gen_random_uuid and the like need unpredictable bytes.
  void (*random_bytes)(std::span<std::byte>) = &system_random_bytes;

  /// Compiled patterns, so that a pattern is compiled once per session and not once per row.
  const CompiledRegex& regex(std::string_view pattern, std::string_view flags);

  SessionContext();
  SessionContext(const SessionContext&) = delete;
  SessionContext& operator=(const SessionContext&) = delete;
  virtual ~SessionContext();

  static std::int64_t system_clock_now();
  static void system_random_bytes(std::span<std::byte> out);

 private:
  struct RegexCache;
  std::unique_ptr<RegexCache> regex_cache_;
};

/// The plan's knowledge about one call, for functions over "any" or polymorphic arguments.
struct CallTypes {
  std::span<const TypeId> arguments;
  TypeId result = TypeId::none;
  /// A function over VARIADIC "any" was given an array with the word VARIADIC.
  bool variadic_array = false;
  const RowShape* row = nullptr;
};

/// Context of a function besides its arguments. `arena` takes the result's bytes; it lives at least
/// until the row is done, or, for a set, until its last row. `call` is set before a call to a
/// function that wants_call_types.
struct FunctionContext {
  Arena& arena;
  SessionContext& session;
  CallTypes call;
};

}  // namespace swizzle::sql
