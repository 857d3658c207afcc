#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/extension/hstore.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

Value hstore_input(FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
  verify_utf8(text);
  return read_hstore(context.arena, text);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char each : text) {
    if (each == '"' || each == '\\') out += '\\';
    out += each;
  }
  out += '"';
}

void hstore_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const HstoreView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const HstorePair pair = view.pair(i);
    if (i > 0) out += ", ";
    append_quoted(out, pair.key);
    out += "=>";
    if (pair.value) {
      append_quoted(out, *pair.value);
    } else {
      out += "NULL";
    }
  }
}

std::string_view receive_text(BinaryReader& reader, std::int32_t length) {
  const std::string_view text = as_text(reader.take_bytes(static_cast<std::uint32_t>(length)));
  verify_utf8(text);
  return text;
}

Value hstore_receive(FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto count = reader.take<std::int32_t>();
  constexpr std::int32_t kMostPairs = 0x0fffffff;
  if (count < 0 || count > kMostPairs) {
    throw_error(sqlstate::program_limit_exceeded,
                "number of pairs ({}) exceeds the maximum allowed ({})", count, kMostPairs);
  }
  std::vector<HstorePair> pairs;
  for (std::int32_t i = 0; i < count; ++i) {
    const auto key_bytes = reader.take<std::int32_t>();
    if (key_bytes < 0) {
      throw SqlError{sqlstate::null_value_not_allowed, "null value not allowed for hstore key"};
    }
    HstorePair pair{receive_text(reader, key_bytes), std::nullopt};
    const auto value_bytes = reader.take<std::int32_t>();
    if (value_bytes >= 0) pair.value = receive_text(reader, value_bytes);
    pairs.push_back(pair);
  }
  reader.finish();
  return make_hstore(context.arena, std::move(pairs));
}

void hstore_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const HstoreView view{value};
  append_big_endian(out, static_cast<std::int32_t>(view.size()));
  const auto put = [&out](std::string_view text) {
    append_big_endian(out, static_cast<std::int32_t>(text.size()));
    out += text;
  };
  for (std::size_t i = 0; i < view.size(); ++i) {
    const HstorePair pair = view.pair(i);
    put(pair.key);
    if (pair.value) {
      put(*pair.value);
    } else {
      append_big_endian(out, std::int32_t{-1});
    }
  }
}

constexpr TypeCodec kHstoreCodec{hstore_input, hstore_output, hstore_receive, hstore_send};

/// Key: all texts, the number of pairs, the end of each text and which are NULL. That is the order
/// of comparison.
void put_hstore_key(std::string& key, const Value& value) {
  const HstoreView view{value};
  std::string texts;
  std::string ends;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const HstorePair pair = view.pair(i);
    texts += pair.key;
    append_big_endian(ends, static_cast<std::uint32_t>(texts.size()));
    ends += '\0';
    texts += pair.value.value_or(std::string_view{});
    append_big_endian(ends, static_cast<std::uint32_t>(texts.size()));
    ends += pair.value ? '\0' : '\1';
  }
  key += view.size() == 0 ? '\0' : '\1';
  keys::put_bytes(key, texts);
  keys::put(key, static_cast<std::uint32_t>(view.size()));
  key += ends;
}

Value take_hstore_key(Bytes& key, TypeId type, Arena& arena) {
  constexpr std::size_t kEnd = 5;
  keys::take<std::uint8_t>(key);
  const std::string_view texts = keys::take_bytes(key, type, arena).as_text();
  const auto count = keys::take<std::uint32_t>(key);
  if (key.size() / (2 * kEnd) < count) keys::corrupt();
  std::vector<HstorePair> pairs;
  std::size_t begin = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t middle = keys::take<std::uint32_t>(key);
    keys::take<std::uint8_t>(key);
    const std::size_t end = keys::take<std::uint32_t>(key);
    const bool is_null = keys::take<std::uint8_t>(key) != 0;
    if (begin > middle || middle > end || end > texts.size()) keys::corrupt();
    HstorePair pair{texts.substr(begin, middle - begin), std::nullopt};
    if (!is_null) pair.value = texts.substr(middle, end - middle);
    pairs.push_back(pair);
    begin = end;
  }
  return make_hstore(arena, std::move(pairs));
}

}  // namespace

const Type& hstore_object() noexcept {
  static const Type kType{.id = kHstoreType,
                          .array = user_array_of(kHstoreType),
                          .name = "hstore",
                          .sql_name = "hstore",
                          .shape = Shape::bytes,
                          .io = kHstoreCodec,
                          .order = {.compare = &compare_hstores,
                                    .hash = &hash_whole,
                                    .put_key = &put_hstore_key,
                                    .take_key = &take_hstore_key,
                                    .key_keeps_value = true}};
  return kType;
}

}  // namespace swizzle::sql
