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

namespace swizzle {
class EncodingTable;
}

namespace swizzle::sql {

class CompiledRegex;
class TimeZone;
struct EnumLabels;

enum class DateStyle : std::uint8_t { iso, postgres, sql, german };
enum class DateOrder : std::uint8_t { ymd, dmy, mdy };
enum class IntervalStyle : std::uint8_t { postgres, postgres_verbose, sql_standard, iso_8601 };
/// Encoding of bytea in XML.
enum class XmlBinary : std::uint8_t { base64, hex };
enum class ByteaOutput : std::uint8_t { hex, escape };

/// Settings that affect input and output of values.
struct FormatSettings {
  DateStyle date_style = DateStyle::iso;
  DateOrder date_order = DateOrder::mdy;
  IntervalStyle interval_style = IntervalStyle::postgres;
  ByteaOutput bytea_output = ByteaOutput::hex;
  int extra_float_digits = 1;
  XmlBinary xml_binary = XmlBinary::base64;
  bool xml_document = false;                  ///< xmloption: values are documents, not any content
  std::shared_ptr<const TimeZone> time_zone;  ///< null is UTC
  /// Encoding of the client's texts, which binary values contain; null is UTF-8.
  const EncodingTable* client_encoding = nullptr;
};

/// Columns of rows: of a composite type, or of a call in FROM with a column definition list.
struct RowShape {
  std::vector<std::string> names;
  std::vector<TypeId> types;
  std::vector<std::int32_t> typmods;
  std::vector<TypeId> collated;  ///< `types` under the columns' collations; empty: they have none

  /// Returns the types by whose order the columns are compared.
  [[nodiscard]] const std::vector<TypeId>& ordered() const noexcept {
    return collated.empty() ? types : collated;
  }
};

/// Names of objects, for the reg* types. Implemented by the catalog; without it, only oids are
/// accepted and printed.
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
  /// Returns the name as the reg* type prints it, qualified if necessary.
  [[nodiscard]] virtual std::optional<std::string> name_of(TypeId kind, std::uint32_t oid) = 0;
  /// Returns the name for a call of a user-defined routine, qualified if the bare name would find
  /// another one.
  [[nodiscard]] virtual std::optional<std::string> routine_name(std::uint32_t /*oid*/) {
    return std::nullopt;
  }
  /// Returns the name of a user-defined operator, as OPERATOR(…) if the bare name would find
  /// another one.
  [[nodiscard]] virtual std::optional<std::string> operator_name(std::uint32_t /*oid*/) {
    return std::nullopt;
  }
  /// Returns the labels of an enum, valid until the next call; null if there is no such type.
  [[nodiscard]] virtual const EnumLabels* enum_labels(TypeId type) = 0;
  /// Checks a value, which may be NULL, against the domain. Throws SqlError 23502, 23514.
  virtual void check_domain(TypeId /*domain*/, const Value& /*value*/) {}
  /// Returns the attributes of a composite type or row type; null if there is no such type.
  [[nodiscard]] virtual std::shared_ptr<const RowShape> row_shape(TypeId /*type*/) {
    return nullptr;
  }
};

/// State of session and transaction for functions. One per session. The owner may derive from it,
/// to pass more to its own functions.
class SessionContext {
 public:
  FormatSettings format;
  CheckedPointer<ObjectNames> names;

  /// Microseconds since 2000-01-01 UTC, set when a transaction or statement starts.
  std::int64_t transaction_timestamp = 0;
  std::int64_t statement_timestamp = 0;

  /// Returns the current time. A function pointer, so that a simulation can replace the clock.
  std::int64_t (*clock)() = &system_clock_now;

  /// State of random() and setseed(): 64-bit xorshift, seeded at first use if zero.
  std::uint64_t random_state[2] = {0, 0};

  /// Source of unpredictable bytes for gen_random_uuid and similar functions.
  void (*random_bytes)(std::span<std::byte>) = &system_random_bytes;

  /// Returns a compiled pattern from a cache: patterns are compiled once per session, not once per
  /// row.
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

/// Types of one call that the planner has determined, for functions over "any" or polymorphic
/// arguments.
struct CallTypes {
  std::span<const TypeId> arguments;
  TypeId result = TypeId::none;
  /// True if a function over VARIADIC "any" was called with VARIADIC and an array.
  bool variadic_array = false;
  const RowShape* row = nullptr;
};

/// Context of a function call. `arena` is for the result's bytes, and is valid at least until the
/// end of the row, or for a set-returning function until its last row. `call` is set only for a
/// function with wants_call_types.
struct FunctionContext {
  Arena& arena;
  SessionContext& session;
  CallTypes call;
};

}  // namespace swizzle::sql
