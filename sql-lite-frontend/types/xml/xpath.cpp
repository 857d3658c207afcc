#include "sql-lite-frontend/types/xml/xpath.h"

#include <libxml/xpathInternals.h>

#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/xml/xml_functions.h"
#include "sql-lite-frontend/types/xml/xml_values.h"

namespace swizzle::sql::xml {
namespace {

/// Most steps of one evaluation: about a second.
constexpr unsigned long kMostSteps = 50'000'000;

const xmlChar* as_xml(const std::string& text) {
  return reinterpret_cast<const xmlChar*>(text.c_str());
}

}  // namespace

Evaluation::Evaluation(const Complaints& complaints, std::string_view document,
                       const Namespaces& namespaces)
    : complaints_{complaints}, document_{parse_document(complaints, document)} {
  context_ = xmlXPathNewContext(document_.get());
  if (context_ == nullptr) throw std::bad_alloc{};
  context_->node = reinterpret_cast<xmlNode*>(document_.get());
  context_->opLimit = kMostSteps;
  for (const auto& [prefix, address] : namespaces) {
    if (xmlXPathRegisterNs(context_, as_xml(prefix), as_xml(address)) == 0) continue;
    xmlXPathFreeContext(context_);
    complaints.raise(sqlstate::internal_error,
                     fmt::format("could not register XML namespace with name \"{}\" and URI \"{}\"",
                                 prefix, address));
  }
}

Evaluation::~Evaluation() {
  xmlXPathFreeContext(context_);
}

Path Evaluation::compile(std::string_view path, SqlState invalid) const {
  Path out{xmlXPathCtxtCompile(context_, as_xml(std::string{path}))};
  if (out == nullptr || complaints_.any()) complaints_.raise(invalid, "invalid XPath expression");
  return out;
}

Object Evaluation::run(const Path& path, xmlNode* node) const {
  context_->node = node != nullptr ? node : reinterpret_cast<xmlNode*>(document_.get());
  context_->opCount = 0;
  Object out{xmlXPathCompiledEval(path.get(), context_)};
  if (context_->opCount >= kMostSteps)
    throw SqlError{sqlstate::statement_too_complex, "an XPath expression takes too many steps"};
  if (out == nullptr || complaints_.any())
    complaints_.raise(sqlstate::internal_error, "could not create XPath object");
  return out;
}

std::size_t bytes_of_evaluation(std::string_view document, std::string_view path) {
  // Each argument and each operand may hold a copy of the document's text.
  const auto copies = static_cast<std::size_t>(
      std::ranges::count_if(path, [](char c) { return c == '(' || c == ',' || c == '|'; }));
  return bytes_of_tree(document) + 2 * document.size() * (copies + 1);
}

std::string taken(xmlChar* text) {
  if (text == nullptr) return {};
  std::string out{reinterpret_cast<const char*>(text)};
  xmlFree(text);
  return out;
}

std::string node_as_xml(xmlNode* node) {
  std::string out;
  if (node->type == XML_ATTRIBUTE_NODE || node->type == XML_TEXT_NODE) {
    append_escaped(out, taken(xmlXPathCastNodeToString(node)));
    return out;
  }
  if (node->type == XML_NAMESPACE_DECL) return taken(xmlXPathCastNodeToString(node));
  struct FreeNode {
    void operator()(xmlNode* copy) const noexcept {
      if (copy->type == XML_DOCUMENT_NODE)
        xmlFreeDoc(reinterpret_cast<xmlDoc*>(copy));
      else
        xmlFreeNode(copy);
    }
  };
  // The copy includes the namespaces that the node uses.
  const std::unique_ptr<xmlNode, FreeNode> copy{xmlCopyNode(node, 1)};
  if (copy == nullptr) throw std::bad_alloc{};
  xmlBuffer* const buffer = xmlBufferCreate();
  if (buffer == nullptr) throw std::bad_alloc{};
  xmlNodeDump(buffer, nullptr, copy.get(), 0, 0);
  out.assign(reinterpret_cast<const char*>(xmlBufferContent(buffer)),
             static_cast<std::size_t>(xmlBufferLength(buffer)));
  xmlBufferFree(buffer);
  return out;
}

namespace {

Namespaces read_namespaces(const Value& array) {
  const ArrayView view{array};
  Namespaces out;
  if (view.size() == 0) return out;
  if (view.dimension_count() != 2 || view.dimension(1).length != 2)
    throw SqlError{SqlState{"22000"}, "invalid array for XML namespace mapping"}.with_detail(
        "The array must be two-dimensional with length of the second axis equal to 2.");
  for (std::size_t i = 0; i + 1 < view.size(); i += 2) {
    const Value prefix = view.element(i);
    const Value address = view.element(i + 1);
    if (prefix.is_null() || address.is_null())
      throw SqlError{sqlstate::null_value_not_allowed,
                     "neither namespace name nor URI may be null"};
    out.emplace_back(prefix.as_text(), address.as_text());
  }
  return out;
}

/// Returns a path's result: the text of each node, or the text of a result that is not a node set.
std::vector<std::string> texts_of(const xmlXPathObject& object) {
  std::vector<std::string> out;
  switch (object.type) {
    case XPATH_NODESET:
      if (object.nodesetval == nullptr) return out;
      for (int i = 0; i < object.nodesetval->nodeNr; ++i)
        out.push_back(node_as_xml(object.nodesetval->nodeTab[i]));
      return out;
    case XPATH_BOOLEAN:
      out.emplace_back(object.boolval != 0 ? "true" : "false");
      return out;
    case XPATH_NUMBER:
      append_float8(out.emplace_back(), object.floatval, 1);
      return out;
    case XPATH_STRING:
      append_escaped(out.emplace_back(), reinterpret_cast<const char*>(object.stringval));
      return out;
    default:
      throw_error(sqlstate::internal_error, "xpath expression result type {} is unsupported",
                  static_cast<int>(object.type));
  }
}

/// Calls `use` with the path's result on a helper thread, because the sizes of the texts do not
/// tell how long libxml2 takes.
template <class Use>
void evaluate(FunctionContext& context, std::span<const Value> arguments, Use&& use) {
  const std::string_view path = arguments[0].as_text();
  const std::string_view document = arguments[1].as_text();
  const Namespaces namespaces = arguments.size() > 2 ? read_namespaces(arguments[2]) : Namespaces{};
  if (path.empty()) throw SqlError{SqlState{"22000"}, "empty XPath expression"};
  MemoryShare share;
  share.set(context.arena.account(), bytes_of_evaluation(document, path));
  Runtime::current().run_aside([&] {
    const Complaints complaints{Complaints::About::everything};
    const Evaluation evaluation{complaints, document, namespaces};
    const Path compiled = evaluation.compile(path, sqlstate::internal_error);
    use(*evaluation.run(compiled));
  });
}

}  // namespace

Value xpath(FunctionContext& context, std::span<const Value> arguments) {
  std::vector<std::string> texts;
  evaluate(context, arguments, [&](const xmlXPathObject& object) { texts = texts_of(object); });
  CountedValues values = counted_values(context.arena);
  for (const std::string& text : texts) values.push_back(make_text(context.arena, text));
  return make_array(context.arena, TypeId::xml, values);
}

Value xpath_exists(FunctionContext& context, std::span<const Value> arguments) {
  bool found = false;
  evaluate(context, arguments, [&](const xmlXPathObject& object) {
    const bool of_nodes = object.type == XPATH_NODESET;
    found = !of_nodes || (object.nodesetval != nullptr && object.nodesetval->nodeNr > 0);
  });
  return Value::from_bool(found);
}

}  // namespace swizzle::sql::xml
