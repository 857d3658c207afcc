#include "sql-lite-frontend/types/xml/xml_document.h"

#include <libxml/chvalid.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <optional>

namespace swizzle::sql::xml {
namespace {

/// Makes every external entity empty: neither files nor the network are read.
xmlParserInputPtr refuse_external(const char*, const char*, xmlParserCtxtPtr parser) {
  return xmlNewStringInputStream(parser, reinterpret_cast<const xmlChar*>(""));
}

void prepare_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    xmlInitParser();
    xmlSetExternalEntityLoader(&refuse_external);
  });
}

const xmlChar* as_xml(const char* text) {
  return reinterpret_cast<const xmlChar*>(text);
}

struct FreeParser {
  void operator()(xmlParserCtxt* parser) const noexcept {
    // After a failure the tree still belongs to the parser.
    if (parser->myDoc != nullptr) xmlFreeDoc(parser->myDoc);
    xmlFreeParserCtxt(parser);
  }
};
using Parser = std::unique_ptr<xmlParserCtxt, FreeParser>;

void append_formatted(void* out, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size <= 0) return;
  static_cast<std::string*>(out)->append(
      text, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof text - 1));
}

void ignore(void*, const char*, ...) {}

}  // namespace

Complaints::Complaints(About about) : about_{about} {
  prepare_library();
  // Messages without a structure would go to the server's own output.
  xmlSetGenericErrorFunc(nullptr, &ignore);
  xmlSetStructuredErrorFunc(this, [](void* self, xmlErrorPtr error) { hear(self, error); });
}

Complaints::~Complaints() {
  xmlSetStructuredErrorFunc(nullptr, nullptr);
  xmlSetGenericErrorFunc(nullptr, nullptr);
  xmlResetLastError();
}

void Complaints::hear(void* self, const xmlError* error) {
  static_cast<Complaints*>(self)->note(*error);
}

namespace {

/// True for the library's warnings that make a text malformed by the rules of namespaces.
bool is_about_namespaces(int code) {
  switch (code) {
    case XML_WAR_NS_URI:
    case XML_ERR_NS_DECL_ERROR:
    case XML_NS_ERR_XML_NAMESPACE:
    case XML_NS_ERR_UNDEFINED_NAMESPACE:
    case XML_NS_ERR_QNAME:
    case XML_NS_ERR_ATTRIBUTE_REDEFINED:
    case XML_NS_ERR_EMPTY:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Complaints::note(const xmlError& error) {
  const bool of_namespaces = is_about_namespaces(error.code);
  const int domain = of_namespaces ? static_cast<int>(XML_FROM_NAMESPACE) : error.domain;
  const bool of_parsing = domain == XML_FROM_PARSER || domain == XML_FROM_NONE ||
                          domain == XML_FROM_MEMORY || domain == XML_FROM_IO;
  if (of_parsing && error.code == XML_WAR_UNDECLARED_ENTITY) return;
  // Skip the summary of errors reported before.
  if (error.code == XML_ERR_NOT_WELL_BALANCED && any_) return;
  if (!of_parsing && about_ == About::well_formedness) return;
  if (error.level < XML_ERR_ERROR && !of_namespaces) return;
  any_ = true;
  // A text may be wrong in many places.
  constexpr std::size_t kMost = 16384;
  if (text_.size() > kMost) return;
  const auto* node = static_cast<const xmlNode*>(error.node);
  const auto* parser = static_cast<const xmlParserCtxt*>(error.ctxt);
  if (!text_.empty()) text_.push_back('\n');
  if (error.line > 0) text_ += fmt::format("line {}: ", error.line);
  if (node != nullptr && node->type == XML_ELEMENT_NODE && node->name != nullptr)
    text_ += fmt::format("element {}: ", reinterpret_cast<const char*>(node->name));
  text_ += error.message != nullptr ? error.message : "(no message provided)";
  const bool has_input = of_parsing || domain == XML_FROM_NAMESPACE;
  if (has_input && parser != nullptr && parser->input != nullptr) {
    xmlSetGenericErrorFunc(&text_, &append_formatted);
    xmlParserPrintFileContext(parser->input);
    xmlSetGenericErrorFunc(nullptr, &ignore);
  }
  while (text_.ends_with('\n')) text_.pop_back();
}

void Complaints::raise(SqlState state, std::string message) const {
  SqlError error{state, std::move(message)};
  if (text_.empty()) throw std::move(error);
  throw std::move(error).with_detail(text_);
}

namespace {

class DeclarationReader {
 public:
  explicit DeclarationReader(std::string_view text) : rest_{text} {}

  Declaration read() {
    Declaration out;
    const std::size_t whole = rest_.size();
    rest_.remove_prefix(5);
    if (!space()) return fail("Space required.");
    if (!word("version") || !equals() || !quoted(out.version))
      return fail("Malformed declaration: missing version.");
    if (const auto fault = optional_parts(out); fault.fault != nullptr) return fault;
    space();
    if (!word("?>")) return fail("Parsing XML declaration: '?>' expected.");
    out.size = whole - rest_.size();
    return out;
  }

 private:
  static Declaration fail(const char* what) { return {.fault = what}; }

  Declaration optional_parts(Declaration& out) {
    std::string_view before = rest_;
    bool spaced = space();
    if (word("encoding")) {
      if (!spaced) return fail("Space required.");
      if (!equals() || !quoted(out.encoding)) return fail("Missing encoding in text declaration.");
    } else {
      rest_ = before;
    }
    before = rest_;
    spaced = space();
    if (!word("standalone")) {
      rest_ = before;
      return {};
    }
    if (!spaced) return fail("Space required.");
    std::string_view answer;
    if (!equals() || !quoted(answer) || (answer != "yes" && answer != "no"))
      return fail("standalone accepts only 'yes' or 'no'.");
    out.standalone = answer == "yes" ? 1 : 0;
    return {};
  }

  bool space() {
    const std::size_t begin = rest_.size();
    while (!rest_.empty() && xmlIsBlank_ch(static_cast<unsigned char>(rest_.front())))
      rest_.remove_prefix(1);
    return rest_.size() != begin;
  }
  bool word(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool equals() {
    space();
    if (!word("=")) return false;
    space();
    return true;
  }
  bool quoted(std::string_view& out) {
    if (!rest_.starts_with('"') && !rest_.starts_with('\'')) return false;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string_view rest_;
};

/// True if a name goes on here: <?xml-stylesheet is no declaration.
bool continues_name(std::string_view text) {
  if (text.empty()) return false;
  int size = static_cast<int>(std::min<std::size_t>(text.size(), 4));
  const int letter = xmlGetUTF8Char(reinterpret_cast<const unsigned char*>(text.data()), &size);
  if (letter < 0) return false;
  return xmlIsBaseCharQ(static_cast<unsigned>(letter)) ||
         xmlIsIdeographicQ(static_cast<unsigned>(letter)) ||
         xmlIsDigitQ(static_cast<unsigned>(letter)) || letter == '.' || letter == '-' ||
         letter == '_' || letter == ':' || xmlIsCombiningQ(static_cast<unsigned>(letter)) ||
         xmlIsExtenderQ(static_cast<unsigned>(letter));
}

}  // namespace

Declaration read_declaration(std::string_view text) {
  constexpr std::string_view kBegin = "<?xml";
  if (!text.starts_with(kBegin) || continues_name(text.substr(kBegin.size()))) return {};
  const Declaration out = DeclarationReader{text}.read();
  const bool plain = std::ranges::all_of(text.substr(0, out.size), [](char c) { return c >= 0; });
  return plain ? out : Declaration{.fault = "Invalid character value."};
}

bool append_declaration(std::string& out, std::string_view version, int standalone) {
  if ((version.empty() || version == "1.0") && standalone < 0) return false;
  out += fmt::format("<?xml version=\"{}\"", version.empty() ? "1.0" : version);
  if (standalone >= 0) out += standalone == 1 ? " standalone=\"yes\"" : " standalone=\"no\"";
  out += "?>";
  return true;
}

void append_shown(std::string& out, std::string_view text) {
  const Declaration declaration = read_declaration(text);
  std::string_view rest = text;
  if (declaration.fault == nullptr) {
    rest.remove_prefix(declaration.size);
    // A declaration that is dropped takes its line with it.
    if (!append_declaration(out, declaration.version, declaration.standalone) &&
        rest.starts_with('\n'))
      rest.remove_prefix(1);
  }
  out += rest;
}

std::size_t bytes_of_tree(std::string_view text) {
  // Each < begins at most one node and a piece of text, each = an attribute; entities may multiply
  // them by the factor that the library allows.
  constexpr std::size_t kPerTag = 300;
  constexpr std::size_t kPerAttribute = 250;
  constexpr std::size_t kMostExpansion = 10;
  const auto tags = static_cast<std::size_t>(std::ranges::count(text, '<'));
  const auto attributes = static_cast<std::size_t>(std::ranges::count(text, '='));
  const std::size_t plain = 4 * text.size() + kPerTag * tags + kPerAttribute * attributes;
  return text.find("<!ENTITY") == std::string_view::npos ? plain : plain * kMostExpansion;
}

namespace {

void skip_blanks(std::string_view& text) {
  while (!text.empty() && xmlIsBlank_ch(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
}

/// True if only comments and instructions precede a document type: then content is a document.
bool has_document_type(std::string_view text) {
  while (true) {
    skip_blanks(text);
    if (text.starts_with("<!DOCTYPE")) return true;
    std::string_view ending;
    if (text.starts_with("<!--"))
      ending = "-->";
    else if (text.starts_with("<?"))
      ending = "?>";
    else
      return false;
    const std::size_t end = text.find(ending, ending.size() == 3 ? 4 : 2);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + ending.size());
  }
}

bool parse_as_document(Blanks blanks, const std::string& text) {
  const Parser parser{xmlNewParserCtxt()};
  if (parser == nullptr) throw std::bad_alloc{};
  const int options = XML_PARSE_NOENT | XML_PARSE_DTDATTR | XML_PARSE_NONET |
                      (blanks == Blanks::kept ? 0 : XML_PARSE_NOBLANKS);
  const Document document{
      xmlCtxtReadDoc(parser.get(), as_xml(text.c_str()), nullptr, "UTF-8", options)};
  parser->myDoc = nullptr;
  return document != nullptr;
}

bool parse_as_content(const std::string& text, const Declaration& declaration) {
  const std::string version{declaration.version};
  const Document document{xmlNewDoc(version.empty() ? nullptr : as_xml(version.c_str()))};
  if (document == nullptr) throw std::bad_alloc{};
  document->encoding = xmlStrdup(as_xml("UTF-8"));
  document->standalone = declaration.standalone;
  const char* const rest = text.c_str() + declaration.size;
  if (*rest == '\0') return true;
  xmlNode* nodes = nullptr;
  const int fault =
      xmlParseBalancedChunkMemory(document.get(), nullptr, nullptr, 0, as_xml(rest), &nodes);
  xmlFreeNodeList(nodes);
  return fault == 0;
}

void parse(Option option, Blanks blanks, std::string_view view) {
  const std::string text{view};
  const Complaints complaints{Complaints::About::well_formedness};
  bool read = false;
  Declaration declaration;
  if (option == Option::content) {
    declaration = read_declaration(text);
    if (declaration.fault != nullptr)
      throw SqlError{kInvalidContent, "invalid XML content: invalid XML declaration"}.with_detail(
          declaration.fault);
  }
  if (option == Option::document || has_document_type(view.substr(declaration.size)))
    read = parse_as_document(blanks, text);
  else
    read = parse_as_content(text, declaration);
  if (read && !complaints.any()) return;
  if (option == Option::document) complaints.raise(kInvalidDocument, "invalid XML document");
  complaints.raise(kInvalidContent, "invalid XML content");
}

}  // namespace

void require_well_formed(MemoryAccount* memory, Option option, Blanks blanks,
                         std::string_view text) {
  MemoryShare share;
  share.set(memory, bytes_of_tree(text));
  for_library(text.size(), [&] {
    parse(option, blanks, text);
    return true;
  });
}

bool is_well_formed(MemoryAccount* memory, Option option, std::string_view text) {
  MemoryShare share;
  share.set(memory, bytes_of_tree(text));
  return for_library(text.size(), [&] {
    try {
      parse(option, Blanks::kept, text);
      return true;
    } catch (const SqlError& error) {
      if (error.state() == kInvalidDocument || error.state() == kInvalidContent) return false;
      throw;
    }
  });
}

Document parse_document(const Complaints& complaints, std::string_view text) {
  const std::string_view rest = text.substr(read_declaration(text).size);
  const Parser parser{xmlNewParserCtxt()};
  if (parser == nullptr) throw std::bad_alloc{};
  Document document{xmlCtxtReadMemory(parser.get(), rest.data(), static_cast<int>(rest.size()),
                                      nullptr, nullptr, XML_PARSE_NONET)};
  parser->myDoc = nullptr;
  if (document == nullptr || complaints.any())
    complaints.raise(kInvalidDocument, "could not parse XML document");
  return document;
}

}  // namespace swizzle::sql::xml
