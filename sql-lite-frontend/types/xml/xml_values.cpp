#include "sql-lite-frontend/types/xml/xml_values.h"

#include <libxml/chvalid.h>
#include <libxml/xmlwriter.h>

#include <charconv>
#include <optional>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"
#include "sql-lite-frontend/types/writing_share.h"
#include "sql-lite-frontend/types/xml/xml_document.h"

namespace swizzle::sql::xml {
namespace {

constexpr SqlState kInvalidComment{"2200S"};
constexpr SqlState kInvalidInstruction{"2200T"};
constexpr SqlState kNotADocument{"2200L"};

struct FreeBuffer {
  void operator()(xmlBuffer* buffer) const noexcept { xmlBufferFree(buffer); }
};
struct FreeWriter {
  void operator()(xmlTextWriter* writer) const noexcept { xmlFreeTextWriter(writer); }
};

/// libxml2's writer, which escapes attributes and encodes bytes.
class Writer {
 public:
  Writer() : buffer_{xmlBufferCreate()} {
    if (buffer_ != nullptr) writer_.reset(xmlNewTextWriterMemory(buffer_.get(), 0));
    if (writer_ == nullptr) throw std::bad_alloc{};
  }
  [[nodiscard]] xmlTextWriter* get() const noexcept { return writer_.get(); }
  void append_to(std::string& out) {
    writer_.reset();  // flushes the writer
    out.append(reinterpret_cast<const char*>(xmlBufferContent(buffer_.get())),
               static_cast<std::size_t>(xmlBufferLength(buffer_.get())));
  }

 private:
  std::unique_ptr<xmlBuffer, FreeBuffer> buffer_;
  std::unique_ptr<xmlTextWriter, FreeWriter> writer_;
};

std::size_t bytes_of_named(std::span<const NamedValue> values) {
  std::size_t bytes = 0;
  for (const NamedValue& one : values) bytes += bytes_of({&one.value, 1});
  return bytes;
}

const xmlChar* as_xml(const std::string& text) {
  return reinterpret_cast<const xmlChar*>(text.c_str());
}

bool begins_name(unsigned letter) {
  return xmlIsBaseCharQ(letter) || xmlIsIdeographicQ(letter) || letter == '_' || letter == ':';
}
bool is_in_name(unsigned letter) {
  return begins_name(letter) || xmlIsDigitQ(letter) || letter == '.' || letter == '-' ||
         xmlIsCombiningQ(letter) || xmlIsExtenderQ(letter);
}

/// Decodes the first character. Pre: valid UTF-8, not empty.
unsigned first_letter(std::string_view text, std::size_t& size) {
  int bytes = static_cast<int>(std::min<std::size_t>(text.size(), 4));
  const int letter = xmlGetUTF8Char(reinterpret_cast<const unsigned char*>(text.data()), &bytes);
  size = letter < 0 ? 1 : static_cast<std::size_t>(bytes);
  return letter < 0 ? 0 : static_cast<unsigned>(letter);
}

void refuse_infinite(TypeId type, const Value& value, std::string_view name) {
  const bool of_date = type == TypeId::date;
  const std::int64_t number = of_date ? value.as_int4() : value.as_int8();
  const std::int64_t least_number = of_date ? INT32_MIN : INT64_MIN;
  const std::int64_t greatest_number = of_date ? INT32_MAX : INT64_MAX;
  if (number != least_number && number != greatest_number) return;
  throw sql_error(sqlstate::datetime_field_overflow, "{} out of range", name)
      .with_detail(fmt::format("XML does not support infinite {} values.", name));
}

void append_bytes(FunctionContext& context, Bytes bytes, std::string& out) {
  Writer writer;
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  if (context.session.format.xml_binary == XmlBinary::base64)
    xmlTextWriterWriteBase64(writer.get(), begin, 0, size);
  else
    xmlTextWriterWriteBinHex(writer.get(), begin, 0, size);
  writer.append_to(out);
}

}  // namespace

Option option_of(const FunctionContext& context) {
  return context.session.format.xml_document ? Option::document : Option::content;
}

void append_escaped(std::string& out, std::string_view text) {
  count_bytes(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\r':
        out += "&#x0d;";
        break;
      default:
        out.push_back(c);
    }
  }
}

std::string name_of(std::string_view identifier, Escapes escapes) {
  std::string out;
  const bool all = escapes == Escapes::all;
  for (std::size_t at = 0; at < identifier.size();) {
    const std::string_view rest = identifier.substr(at);
    std::size_t size = 0;
    const unsigned letter = first_letter(rest, size);
    const bool first = at == 0;
    at += size;
    if (letter == ':' && (first || all)) {
      out += "_x003A_";
    } else if (rest.starts_with("_x")) {
      out += "_x005F_";
    } else if (all && first && is_prefix_ignoring_case("xml", rest)) {
      out += letter == 'x' ? "_x0078_" : "_x0058_";
    } else if (first ? !begins_name(letter) : !is_in_name(letter)) {
      out += fmt::format("_x{:04X}_", letter);
    } else {
      out += rest.substr(0, size);
    }
  }
  return out;
}

namespace {

/// Decodes the escape "_x0041_" at the beginning; returns nothing if there is none.
std::optional<unsigned> escaped_letter(std::string_view text) {
  constexpr std::size_t kSize = 7;
  if (text.size() < kSize || !text.starts_with("_x") || text[kSize - 1] != '_') return std::nullopt;
  unsigned letter = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + kSize - 1, letter, 16);
  if (error != std::errc{} || end != text.data() + kSize - 1) return std::nullopt;
  return letter;
}

}  // namespace

std::string identifier_of(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    if (const auto letter = escaped_letter(name)) {
      append_character(out, *letter);
      name.remove_prefix(7);
    } else {
      out.push_back(name.front());
      name.remove_prefix(1);
    }
  }
  return out;
}

void append_value(FunctionContext& context, TypeId given, const Value& value, bool escaped,
                  std::string& out) {
  check_stack();
  const TypeId type = base_type(given);
  if (is_array(type)) {
    const ArrayView view{value};
    for (std::size_t i = 0; i < view.size(); ++i) {
      yield_point(kUnknownWork / 16);
      const Value item = view.element(i);
      if (item.is_null()) continue;
      out += "<element>";
      append_value(context, view.element_type(), item, true, out);
      out += "</element>";
    }
    return;
  }
  if (type == TypeId::bytea) return append_bytes(context, value.as_bytes(), out);
  if (type == TypeId::date) refuse_infinite(type, value, "date");
  if (type == TypeId::timestamp || type == TypeId::timestamptz)
    refuse_infinite(type, value, "timestamp");
  std::string text;
  json_scalar_text(context, type, value, text);
  if (type == TypeId::xml || !escaped)
    out += text;
  else
    append_escaped(out, text);
}

Value element(FunctionContext& context, std::string_view name,
              std::span<const NamedValue> attributes, std::span<const NamedValue> content) {
  const WritingShare share{context, 3 * (bytes_of_named(attributes) + bytes_of_named(content))};
  std::vector<std::pair<std::string, std::string>> given;
  for (const NamedValue& attribute : attributes) {
    if (attribute.value.is_null()) continue;
    auto& [key, text] = given.emplace_back(std::string{attribute.name}, std::string{});
    append_value(context, attribute.type, attribute.value, false, text);
  }
  bool empty = true;
  std::string inner;
  for (const NamedValue& part : content) {
    if (part.value.is_null()) continue;
    empty = false;
    append_value(context, part.type, part.value, true, inner);
  }
  std::string out;
  Writer writer;
  xmlTextWriterStartElement(writer.get(), as_xml(std::string{name}));
  for (const auto& [key, text] : given)
    xmlTextWriterWriteAttribute(writer.get(), as_xml(key), as_xml(text));
  if (!empty) xmlTextWriterWriteRaw(writer.get(), as_xml(inner));
  xmlTextWriterEndElement(writer.get());
  writer.append_to(out);
  return make_text(context.arena, out);
}

Value forest(FunctionContext& context, std::span<const NamedValue> elements) {
  const WritingShare share{context, 2 * bytes_of_named(elements)};
  std::string out;
  bool any = false;
  for (const NamedValue& part : elements) {
    if (part.value.is_null()) continue;
    any = true;
    out += fmt::format("<{}>", part.name);
    append_value(context, part.type, part.value, true, out);
    out += fmt::format("</{}>", part.name);
  }
  return any ? make_text(context.arena, out) : Value::null();
}

Value concatenated(FunctionContext& context, std::span<const Value> parts) {
  const WritingShare share{context, 2 * bytes_of(parts)};
  std::string body;
  std::string_view version;
  bool no_version = false;
  int standalone = 1;
  for (const Value& part : parts) {
    const std::string_view text = part.as_text();
    const Declaration declaration = read_declaration(text);
    if (declaration.standalone == 0 && standalone == 1) standalone = 0;
    if (declaration.standalone < 0) standalone = -1;
    if (declaration.version.empty() || (!version.empty() && declaration.version != version))
      no_version = true;
    else
      version = declaration.version;
    count_bytes(text.size());
    body += text.substr(declaration.size);
  }
  std::string out;
  if (!no_version || standalone >= 0)
    append_declaration(out, no_version ? std::string_view{} : version, standalone);
  out += body;
  return make_text(context.arena, out);
}

Value instruction(FunctionContext& context, std::string_view target,
                  const std::string_view* content) {
  if (equals_ignoring_case(target, "xml"))
    throw sql_error(sqlstate::syntax_error, "invalid XML processing instruction")
        .with_detail(
            fmt::format("XML processing instruction target name cannot be \"{}\".", target));
  std::string out = fmt::format("<?{}", target);
  if (content != nullptr) {
    if (content->find("?>") != std::string_view::npos)
      throw SqlError{kInvalidInstruction, "invalid XML processing instruction"}.with_detail(
          "XML processing instruction cannot contain \"?>\".");
    out.push_back(' ');
    out += content->substr(std::min(content->find_first_not_of(' '), content->size()));
  }
  out += "?>";
  return make_text(context.arena, out);
}

Value with_root(FunctionContext& context, std::string_view text, const std::string_view* version,
                Standalone standalone) {
  const Declaration declaration = read_declaration(text);
  int said = declaration.standalone;
  if (standalone == Standalone::yes) said = 1;
  if (standalone == Standalone::no) said = 0;
  if (standalone == Standalone::no_value) said = -1;
  std::string out;
  append_declaration(out, version != nullptr ? *version : std::string_view{}, said);
  out += text.substr(declaration.size);
  return make_text(context.arena, out);
}

Value parsed(FunctionContext& context, Option option, Blanks blanks, const Value& text) {
  require_well_formed(context.arena.account(), option, blanks, text.as_text());
  return text;
}

bool is_document(FunctionContext& context, const Value& value) {
  return is_well_formed(context.arena.account(), Option::document, value.as_text());
}

Value serialized(FunctionContext& context, Option option, const Value& value) {
  if (option == Option::document && !is_document(context, value))
    throw SqlError{kNotADocument, "not an XML document"};
  return value;
}

Value comment(FunctionContext& context, std::string_view text) {
  if (text.find("--") != std::string_view::npos || text.ends_with('-'))
    throw SqlError{kInvalidComment, "invalid XML comment"};
  return make_text(context.arena, fmt::format("<!--{}-->", text));
}

}  // namespace swizzle::sql::xml
