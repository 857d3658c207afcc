// query_to_xml() and table_to_xml(): rows as elements.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/query_rows.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/xml/xml_values.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr std::string_view kInstances = "http://www.w3.org/2001/XMLSchema-instance";

/// Arguments of the functions, behind what they show.
struct Form {
  bool shows_nulls;
  bool is_forest;  ///< each row is a document of its own
  std::string_view target_namespace;
};

/// The text of a result, which grows row by row.
class RowElements {
 public:
  RowElements(FunctionContext& context, Form form, std::string table)
      : context_(context), form_(form), table_(std::move(table)), text_(context.arena) {}

  void begin(std::span<const OutputTarget> columns) {
    for (const OutputTarget& column : columns) {
      names_.push_back(xml::name_of(column.name, xml::Escapes::all));
      types_.push_back(column.type);
    }
    if (form_.is_forest) return;
    text_ += root(table_.empty() ? "table" : table_);
    text_ += "\n";
  }
  void add(Arguments row) {
    const std::string element = form_.is_forest && !table_.empty() ? table_ : "row";
    std::string text = form_.is_forest ? root(element) : "<row>\n";
    for (std::size_t i = 0; i < row.size(); ++i) add_value(names_[i], types_[i], row[i], text);
    text_ += text;
    text_ += "</" + element + ">\n\n";
  }
  Value end() {
    if (!form_.is_forest) text_ += "</" + (table_.empty() ? "table" : table_) + ">\n";
    return text_.finish();
  }

 private:
  /// Returns the start of a document's element.
  [[nodiscard]] std::string root(const std::string& element) const {
    std::string text = fmt::format("<{} xmlns:xsi=\"{}\"", element, kInstances);
    if (!form_.target_namespace.empty())
      text += fmt::format(" xmlns=\"{}\"", form_.target_namespace);
    return text + ">\n";
  }
  void add_value(const std::string& name, TypeId type, const Value& value, std::string& text) {
    if (value.is_null()) {
      if (form_.shows_nulls) text += "  <" + name + " xsi:nil=\"true\"/>\n";
      return;
    }
    text += "  <" + name + '>';
    xml::append_value(context_, type, value, true, text);
    text += "</" + name + ">\n";
  }

  FunctionContext& context_;
  Form form_;
  std::string table_;
  std::vector<std::string> names_;
  std::vector<TypeId> types_;
  TextBuilder text_;
};

Value rows_as_xml(FunctionContext& context, std::string_view query, std::string table,
                  Arguments a) {
  const Form form{a[1].as_bool(), a[2].as_bool(), a[3].as_text()};
  RowElements elements{context, form, std::move(table)};
  for_each_row_of(
      context_of(context), query, RefusedQuery::as_data,
      [&](std::span<const OutputTarget> columns) { elements.begin(columns); },
      [&](Arguments row) { elements.add(row); });
  return elements.end();
}

Value query_as_xml(FunctionContext& context, Arguments a) {
  return rows_as_xml(context, a[0].as_text(), {}, a);
}

Value table_as_xml(FunctionContext& context, Arguments a) {
  StatementContext& session = context_of(context);
  const TablePtr table = session.names.table(a[0].as_oid());
  if (!table)
    throw_error(sqlstate::undefined_table, "relation with OID {} does not exist", a[0].as_oid());
  return rows_as_xml(context, "SELECT * FROM " + session.names.qualified_name(*table),
                     xml::name_of(table->relation.name, xml::Escapes::all), a);
}

}  // namespace

void add_xml_row_functions() {
  static constexpr ScalarEntry kScalars[] = {
      {"query_to_xml(text,bool,bool,text)", query_as_xml},
      {"table_to_xml(regclass,bool,bool,text)", table_as_xml}};
  static const bool is_added = (add_builtin_functions({.scalars = kScalars}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
