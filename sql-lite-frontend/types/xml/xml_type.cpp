#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/xml/xml_document.h"
#include "sql-lite-frontend/types/xml/xml_functions.h"
#include "sql-lite-frontend/types/xml/xml_values.h"

/// xml: the text as given, after a check that it is well-formed.
namespace swizzle::sql {
namespace xml {
namespace {

using Arguments = std::span<const Value>;

Value input(FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
  require_well_formed(context.arena.account(), option_of(context), Blanks::kept, text);
  return make_text(context.arena, text);
}

void output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  append_shown(out, value.as_text());
}

/// The encoding comes from the text's declaration; only UTF-8 is supported.
Value receive(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  const std::string_view text = as_text(bytes);
  const std::string_view encoding = read_declaration(text).encoding;
  if (!encoding.empty() && !equals_ignoring_case(encoding, "UTF-8") &&
      !equals_ignoring_case(encoding, "UTF8"))
    throw_error(sqlstate::feature_not_supported, "xml in the encoding \"{}\" is not supported",
                encoding);
  return input(context, type, typmod, text);
}

void send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  append_shown(out, value.as_text());
}

Value from_text(FunctionContext& context, Arguments a) {
  return parsed(context, option_of(context), Blanks::kept, a[0]);
}
Value comment_of(FunctionContext& context, Arguments a) {
  return comment(context, a[0].as_text());
}
Value well_formed(FunctionContext& context, Arguments a) {
  return Value::from_bool(
      is_well_formed(context.arena.account(), option_of(context), a[0].as_text()));
}
template <Option option>
Value well_formed_as(FunctionContext& context, Arguments a) {
  return Value::from_bool(is_well_formed(context.arena.account(), option, a[0].as_text()));
}
Value concatenate_two(FunctionContext& context, Arguments a) {
  if (a[0].is_null() || a[1].is_null()) return a[0].is_null() ? a[1] : a[0];
  return concatenated(context, a);
}

/// State of xmlagg: the concatenated values, without their XML declarations.
struct Joined {
  char* text = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  bool any = false;

  void step(FunctionContext&, Arena& arena, Arguments a) {
    any = true;
    std::string_view part = a[0].as_text();
    part.remove_prefix(read_declaration(part).size);
    if (size + part.size() > kMaxFieldBytes)
      throw SqlError{sqlstate::program_limit_exceeded, "xmlagg result is too long"};
    if (size + part.size() > capacity) {
      capacity = std::max<std::size_t>({size + part.size(), capacity * 2, 64});
      auto* grown = reinterpret_cast<char*>(arena.allocate(capacity));
      copy_long(reinterpret_cast<std::byte*>(grown), as_bytes(std::string_view{text, size}));
      text = grown;
    }
    copy_long(reinterpret_cast<std::byte*>(text + size), as_bytes(part));
    size += part.size();
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (!any) return Value::null();
    return make_text(context.arena, std::string_view{text, size});
  }
};

/// xmltext(): escapes a text as XML content. Unlike xmlelement, it also escapes double quotes and
/// carriage returns, as libxml2 does.
Value text_of(FunctionContext& context, Arguments a) {
  count_bytes(a[0].as_text().size());
  std::string out;
  for (const char c : a[0].as_text()) {
    if (c == '"')
      out += "&quot;";
    else if (c == '\r')
      out += "&#13;";
    else
      append_escaped(out, {&c, 1});
  }
  return make_text(context.arena, out);
}

constexpr ScalarEntry kScalars[] = {
    {"xmltext(text)", &text_of},
    {"xml(text)", &from_text},
    {"xmlcomment(text)", &comment_of},
    {"xmlconcat2(xml,xml)", &concatenate_two},
    {"xml_is_well_formed(text)", &well_formed},
    {"xml_is_well_formed_document(text)", &well_formed_as<Option::document>},
    {"xml_is_well_formed_content(text)", &well_formed_as<Option::content>},
    {"xpath(text,xml)", &xpath},
    {"xpath(text,xml,_text)", &xpath},
    {"xpath_exists(text,xml)", &xpath_exists},
    {"xpath_exists(text,xml,_text)", &xpath_exists},
    {"xmlexists(text,xml)", &xpath_exists},
};
constexpr AggregateEntry kAggregates[] = {{"xmlagg(xml)", aggregate_of<Joined>()}};
constexpr FunctionsOfType kFunctions{.scalars = kScalars, .aggregates = kAggregates};

}  // namespace
}  // namespace xml

constinit const Type builtin::xml{.id = TypeId::xml,
                                  .array = builtin_id::array_of_xml,
                                  .name = "xml",
                                  .sql_name = "xml",
                                  .category = 'U',
                                  .shape = Shape::text,
                                  .io = {&xml::input, &xml::output, &xml::receive, &xml::send},
                                  .functions = &xml::kFunctions};

}  // namespace swizzle::sql
