#pragma once

#include <libxml/xpath.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/xml/xml_document.h"

/// XPath on one document, evaluated by libxml2 with limits of steps and memory.
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

/// Must be used on a single thread, that of `complaints`.
class Evaluation {
 public:
  Evaluation(const Complaints& complaints, std::string_view document, const Namespaces& namespaces);
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  ~Evaluation();

  /// Throws an error with SQLSTATE `invalid` if the path is invalid.
  [[nodiscard]] Path compile(std::string_view path, SqlState invalid) const;
  /// Evaluates the path from `node`, or from the document if null.
  [[nodiscard]] Object run(const Path& path, xmlNode* node = nullptr) const;
  [[nodiscard]] xmlDoc* document() const noexcept { return document_.get(); }

 private:
  const Complaints& complaints_;
  Document document_;
  xmlXPathContext* context_ = nullptr;
};

/// Returns an estimate of the memory for evaluating a path on a document.
std::size_t bytes_of_evaluation(std::string_view document, std::string_view path);

/// Returns a node as XML; for a text or an attribute, its escaped text.
std::string node_as_xml(xmlNode* node);
/// Returns a copy of a string of the library and frees it.
std::string taken(xmlChar* text);

}  // namespace swizzle::sql::xml
