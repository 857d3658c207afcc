#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Definition of a type. Everything specific to a type is in its object, so a new type needs one
/// file with such an object and a line in type_list.inc.
namespace swizzle::sql {

struct FunctionContext;
struct FunctionsOfType;
enum class Coercion : std::uint8_t;

/// Input and output of values. Functions get the type, because several types may share a codec.
struct TypeCodec {
  Value (*input)(FunctionContext&, TypeId, std::int32_t typmod, std::string_view text) = nullptr;
  void (*output)(FunctionContext&, TypeId, const Value&, std::string& out) = nullptr;
  Value (*receive)(FunctionContext&, TypeId, std::int32_t typmod, Bytes bytes) = nullptr;
  void (*send)(FunctionContext&, TypeId, const Value&, std::string& out) = nullptr;
};

/// Order, equality and key encoding of values. `orders.h` has those that several types share.
struct TypeOrder {
  /// Null for a type without a default btree class.
  CompareFunction compare = nullptr;
  HashFunction hash = nullptr;
  /// Appends a prefix-free key encoding that memcmp orders as `compare` does.
  void (*put_key)(std::string& key, const Value& value) = nullptr;
  /// Decodes a key and removes it from the front (key_codec.h). Null: keys serve only for
  /// comparison.
  Value (*take_key)(Bytes& key, TypeId type, Arena& arena) = nullptr;
  /// Size of a key; 0: varies.
  std::uint8_t key_width = 0;
  /// True if take_key() returns exactly the encoded value: equal values are identical.
  bool key_keeps_value = false;
  /// True if values are equal exactly if their as_int8() is.
  bool is_integer = false;
  /// Eight bytes that order as the values do, as far as they reach. Null: those of the key are
  /// used.
  std::uint64_t (*head)(const Value& value) = nullptr;
  /// Returns the value's position among others, for estimates. Null: unknown.
  std::optional<double> (*position)(const Value& value) = nullptr;
};

/// Size of a column in information_schema.
struct TypeMeasures {
  std::optional<std::int64_t> length = {};
  std::optional<std::int64_t> octets = {};
  std::optional<std::int64_t> precision = {};
  std::optional<std::int64_t> radix = {};
  std::optional<std::int64_t> scale = {};
  std::optional<std::int64_t> fraction = {};
};

/// Type modifier: the numbers in parentheses after a type's name.
struct TypeModifier {
  /// typmodin: encodes the modifier. Throws SqlError.
  std::int32_t (*read)(std::span<const std::int32_t> modifiers) = nullptr;
  /// Returns the type's whole name: "time(3) without time zone".
  std::string (*show)(std::string_view sql_name, std::int32_t typmod) = nullptr;
  /// Coerces a value to the modifier. Pre: neither the value is NULL nor the modifier absent.
  Value (*fit)(FunctionContext& context, std::int32_t typmod, const Value& value,
               Coercion coercion) = nullptr;
};

struct Type {
  TypeId id = TypeId::none;
  TypeId array = TypeId::none;    ///< its array type, or none
  TypeId element = TypeId::none;  ///< typelem; set for arrays, name, int2vector, oidvector
  TypeId subtype = TypeId::none;  ///< of a range: what its bounds are; of a multirange: its range
  TypeId multirange = TypeId::none;  ///< of a range
  std::string_view name{};           ///< typname: "int4", "_int4"
  std::string_view sql_name{};       ///< name in format_type without modifier: "integer[]"
  std::int16_t length = -1;          ///< typlen: -1 varlena, -2 cstring
  bool by_value = false;
  char category = 'U';  ///< typcategory
  bool preferred = false;
  char delimiter = ',';
  char alignment = 'i';  ///< c s i d
  char storage = 'x';    ///< p x m
  char kind = 'b';       ///< typtype: b base, c composite, e enum, p pseudo, r range, m multirange
  bool in_btree_gist = false;  ///< the extension has a class of GiST for it
  Shape shape = Shape::none;
  std::uint32_t collation = 0;

  TypeCodec io{};  ///< empty for types without values
  TypeOrder order{};
  const TypeModifier* modifier = nullptr;
  /// Type whose operators apply, if this one has none of its own: text for varchar.
  TypeId operators_of = TypeId::none;
  /// Type that represents its btree operator family, whose types can be compared with each other.
  TypeId family = TypeId::none;
  TypeMeasures (*measures)(std::int32_t typmod) = nullptr;
  /// Functions written for this type alone; null if functions/ has them all.
  const FunctionsOfType* functions = nullptr;
};

}  // namespace swizzle::sql
