#pragma once

#include <libxml/xpath.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/xml/xml_document.h"

/// XPath over one document, as libxml2 evaluates it, within bounds of steps and memory.
namespace swizzle::sql::xml {

struct FreePath {
  void operator()(xmlXPathCompExpr* path) const noexcept { xmlXPathFreeCompExpr(path); }
};
using Path = std::unique_ptr<xmlXPathCompExpr, FreePath>;
struct FreeObject {
  void operator()(xmlXPathObject* object) const noexcept { xmlXPathFreeObject(object); }
};
using Object = std::unique_ptr<xmlXPathObject, FreeObject>;

using Namespaces = std::vector<std::pair<std::string, std::string>>;

/// Everything of it stays on one thread, on which `complaints` listens.
class Evaluation {
 public:
  Evaluation(const Complaints& complaints, std::string_view document, const Namespaces& namespaces);
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  ~Evaluation();

  /// Throws an error of that state for an invalid path.
  [[nodiscard]] Path compile(std::string_view path, SqlState invalid) const;
  /// Evaluates the path from `node` on, or from the document.
  [[nodiscard]] Object run(const Path& path, xmlNode* node = nullptr) const;
  [[nodiscard]] xmlDoc* document() const noexcept { return document_.get(); }

 private:
  const Complaints& complaints_;
  Document document_;
  xmlXPathContext* context_ = nullptr;
};

/// Returns an estimate of the memory that evaluating a path over a document takes.
std::size_t bytes_of_evaluation(std::string_view document, std::string_view path);

/// A node as XML; a text or an attribute is its escaped text.
std::string node_as_xml(xmlNode* node);
/// Returns a string of the library, which is freed here.
std::string taken(xmlChar* text);

}  // namespace swizzle::sql::xml
