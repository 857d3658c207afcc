#include <algorithm>
#include <array>

#include "base/encodings/encoding_table.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/writing_share.h"

/// Conversions between encodings.
namespace swizzle::sql {
namespace {

/// Unwraps a Result of an encoding's table.
template <class T>
T unwrapped(Result<T>&& result) {
  if (!result) throw SqlError{std::move(result).error()};
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

Encoding encoding_of(std::string_view name, std::string_view role) {
  if (const auto encoding = find_encoding(name)) return *encoding;
  throw_error(sqlstate::invalid_parameter_value, "invalid {}encoding name \"{}\"", role, name);
}

bool is_untranslated(Encoding encoding) noexcept {
  return encoding == Encoding::sql_ascii;
}

/// Groups of encodings between which PostgreSQL converts other than from and to UTF8.
bool has_direct_conversion(Encoding from, Encoding to) noexcept {
  using enum Encoding;
  constexpr std::array kPairs =
      std::to_array<std::array<Encoding, 2>>({{euc_jp, sjis},
                                              {euc_tw, big5},
                                              {latin2, win1250},
                                              {koi8r, win1251},
                                              {koi8r, win866},
                                              {koi8r, iso_8859_5},
                                              {win1251, win866},
                                              {win1251, iso_8859_5},
                                              {win866, iso_8859_5},
                                              {euc_jis_2004, shift_jis_2004}});
  return std::ranges::any_of(kPairs, [&](const std::array<Encoding, 2>& pair) {
    return (pair[0] == from && pair[1] == to) || (pair[0] == to && pair[1] == from);
  });
}

void require_conversion(Encoding from, Encoding to) {
  const bool is_of_mule =
      !EncodingTable::is_convertible(from) || !EncodingTable::is_convertible(to);
  const bool is_of_utf8 = from == Encoding::utf8 || to == Encoding::utf8;
  if (is_of_mule && !is_of_utf8) {
    throw_error(sqlstate::feature_not_supported,
                "conversion between \"{}\" and \"{}\" is not supported", encoding_name(from),
                encoding_name(to));
  }
  if (is_of_mule || (!is_of_utf8 && !has_direct_conversion(from, to))) {
    throw_error(sqlstate::undefined_function,
                "default conversion function for encoding \"{}\" to \"{}\" does not exist",
                encoding_name(from), encoding_name(to));
  }
}

/// Throws 22021 if the bytes are no text of the encoding.
void verify(std::string_view text, Encoding encoding) {
  if (is_untranslated(encoding) || encoding == Encoding::mule_internal) return;
  if (encoding == Encoding::utf8) return verify_utf8(text);
  unwrapped(unwrapped(EncodingTable::of(encoding))->check(text));
}

std::string converted(std::string_view text, Encoding from, Encoding to) {
  std::string out;
  out.reserve(EncodingTable::kMostDecodedGrowth * text.size());
  if (from == Encoding::utf8) {
    unwrapped(unwrapped(EncodingTable::of(to))->encode(text, out));
  } else if (to == Encoding::utf8) {
    unwrapped(unwrapped(EncodingTable::of(from))->decode(text, out));
  } else {
    const EncodingTable* const target = unwrapped(EncodingTable::of(to));
    unwrapped(unwrapped(EncodingTable::of(from))->transcode(text, *target, out));
  }
  return out;
}

Value convert_value(FunctionContext& context, const Value& value, Encoding from, Encoding to) {
  const std::string_view text = value.as_text();
  const WritingShare share{context, EncodingTable::kMostDecodedGrowth * text.size()};
  for_bytes(text.size(), [&] { return verify(text, from), true; });
  if (from == to || is_untranslated(to)) return value;
  if (is_untranslated(from)) {
    for_bytes(text.size(), [&] { return verify(text, to), true; });
    return value;
  }
  require_conversion(from, to);
  return make_text(context.arena,
                   for_bytes(text.size(), [&] { return converted(text, from, to); }));
}

constexpr std::string_view kSource = "source ";
constexpr std::string_view kDestination = "destination ";

Value convert_from(FunctionContext& context, std::span<const Value> a) {
  return convert_value(context, a[0], encoding_of(a[1].as_text(), kSource), Encoding::utf8);
}
Value convert_to(FunctionContext& context, std::span<const Value> a) {
  return convert_value(context, a[0], Encoding::utf8, encoding_of(a[1].as_text(), kDestination));
}
Value convert(FunctionContext& context, std::span<const Value> a) {
  const Encoding from = encoding_of(a[1].as_text(), kSource);
  return convert_value(context, a[0], from, encoding_of(a[2].as_text(), kDestination));
}

Value length_in_encoding(FunctionContext&, std::span<const Value> a) {
  const std::string_view text = a[0].as_text();
  const Encoding encoding = encoding_of(a[1].as_text(), "");
  if (encoding == Encoding::utf8) {
    verify_utf8(text);
    return Value::from_int(static_cast<std::int64_t>(count_long_characters(text)));
  }
  if (is_untranslated(encoding)) return Value::from_int(static_cast<std::int64_t>(text.size()));
  if (!EncodingTable::is_convertible(encoding)) {
    throw_error(sqlstate::feature_not_supported, "encoding \"{}\" is not supported",
                encoding_name(encoding));
  }
  const EncodingTable* const table = unwrapped(EncodingTable::of(encoding));
  const std::size_t count = for_bytes(text.size(), [&] { return unwrapped(table->count(text)); });
  return Value::from_int(static_cast<std::int64_t>(count));
}

Value longest_character(FunctionContext&, std::span<const Value> a) {
  const auto encoding = find_encoding(std::int64_t{a[0].as_int4()});
  return encoding ? Value::from_int(max_character_bytes(*encoding)) : Value::null();
}

constexpr ScalarEntry kConversionEntries[] = {
    {"convert_from(bytea,name)", &convert_from},
    {"convert_to(text,name)", &convert_to},
    {"convert(bytea,name,name)", &convert},
    {"length(bytea,name)", &length_in_encoding},
    {"pg_encoding_max_length(int4)", &longest_character},
};

}  // namespace

std::span<const ScalarEntry> conversion_functions() {
  return kConversionEntries;
}

}  // namespace swizzle::sql
