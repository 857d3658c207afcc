#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/text/text_builder.h"

namespace swizzle::sql {

/// Nested names and values in one of EXPLAIN's formats, laid out as in PostgreSQL. Each level
/// indents all levels below it, so a deep document may become long.
class PlanDocument {
 public:
  enum class Format : std::uint8_t { json, xml, yaml };

  /// Begins the document, a list of objects.
  PlanDocument(Format format, TextBuilder& out);
  PlanDocument(const PlanDocument&) = delete;
  PlanDocument& operator=(const PlanDocument&) = delete;
  /// Ends it.
  void finish();

  /// Begins an object with this name in the object around it.
  void begin_object(std::string_view name) { begin_group(name, name, false); }
  /// Begins an object that is an element of the list around it. `tag`: its name in XML.
  void begin_element(std::string_view tag) { begin_group({}, tag, false); }
  void begin_list(std::string_view name) { begin_group(name, name, true); }
  /// Ends the innermost object or list.
  void end();

  void add_text(std::string_view name, std::string_view text);
  /// Adds a number, or true or false.
  void add(std::string_view name, std::string_view value);

 private:
  struct Level {
    bool is_list = false;
    bool is_empty = true;
    std::string tag = {};  ///< of XML
  };

  void begin_group(std::string_view name, std::string_view tag, bool is_list);
  void begin_line();
  void indent() { out_.append(2 * levels_.size(), ' '); }

  Format format_;
  TextBuilder& out_;
  std::vector<Level> levels_;
};

}  // namespace swizzle::sql
