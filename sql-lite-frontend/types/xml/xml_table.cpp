#include <optional>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"
#include "sql-lite-frontend/types/xml/xml_functions.h"
#include "sql-lite-frontend/types/xml/xml_values.h"
#include "sql-lite-frontend/types/xml/xpath.h"

/// XMLTABLE: rows of a document by paths.
namespace swizzle::sql::xml {
namespace {

using Text = std::optional<std::string>;

/// Positions of a function's arguments.
enum Place : std::size_t { document_place, rows_place, prefixes_place, addresses_place, columns };

/// A column as the library is to find it.
struct Column {
  TypeId type = TypeId::none;
  std::string path;
  bool ordinality = false;
  bool as_number = false;
};

class Reader {
 public:
  Reader(std::string_view document, const Namespaces& namespaces)
      : complaints_{Complaints::About::everything},
        evaluation_{complaints_, document, namespaces} {}

  std::vector<std::vector<Text>> rows(std::string_view path, std::span<const Column> wanted) {
    if (path.empty()) throw SqlError{SqlState{"22000"}, "row path filter must not be empty string"};
    const Path row_path = evaluation_.compile(path, sqlstate::syntax_error);
    std::vector<Path> paths;
    for (const Column& column : wanted) {
      if (column.ordinality) {
        paths.emplace_back();
        continue;
      }
      if (column.path.empty())
        throw SqlError{SqlState{"22000"}, "column path filter must not be empty string"};
      paths.push_back(evaluation_.compile(column.path, SqlState{"22000"}));
    }
    const Object found = evaluation_.run(row_path);
    std::vector<std::vector<Text>> out;
    if (found->type != XPATH_NODESET || found->nodesetval == nullptr) return out;
    for (int i = 0; i < found->nodesetval->nodeNr; ++i) {
      std::vector<Text>& row = out.emplace_back();
      for (std::size_t c = 0; c < wanted.size(); ++c)
        row.push_back(wanted[c].ordinality
                          ? Text{}
                          : value(wanted[c], paths[c], found->nodesetval->nodeTab[i]));
    }
    return out;
  }

 private:
  Text value(const Column& column, const Path& path, xmlNode* node) {
    const Object object = evaluation_.run(path, node);
    switch (object->type) {
      case XPATH_NODESET:
        return of_nodes(column, *object);
      case XPATH_STRING: {
        std::string text{reinterpret_cast<const char*>(object->stringval)};
        if (column.type != TypeId::xml) return text;
        std::string escaped;
        append_escaped(escaped, text);
        return escaped;
      }
      case XPATH_BOOLEAN:
        if (column.as_number)
          return taken(xmlXPathCastNumberToString(xmlXPathCastBooleanToNumber(object->boolval)));
        return taken(xmlXPathCastBooleanToString(object->boolval));
      case XPATH_NUMBER:
        return taken(xmlXPathCastNumberToString(object->floatval));
      default:
        throw_error(sqlstate::internal_error, "unexpected XPath object type {}",
                    static_cast<int>(object->type));
    }
  }

  static Text of_nodes(const Column& column, const xmlXPathObject& object) {
    const int count = object.nodesetval == nullptr ? 0 : object.nodesetval->nodeNr;
    if (count == 0) return std::nullopt;
    if (column.type != TypeId::xml) {
      if (count > 1)
        throw SqlError{SqlState{"21000"},
                       "more than one value returned by column XPath expression"};
      return taken(xmlXPathCastNodeSetToString(object.nodesetval));
    }
    std::string all;
    for (int i = 0; i < count; ++i) all += node_as_xml(object.nodesetval->nodeTab[i]);
    return all;
  }

  Complaints complaints_;
  Evaluation evaluation_;
};

Namespaces read_namespaces(const Value& prefixes, const Value& addresses) {
  const ArrayView names{prefixes};
  const ArrayView uris{addresses};
  Namespaces out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value address = uris.element(i);
    if (address.is_null())
      throw SqlError{sqlstate::null_value_not_allowed, "namespace URI must not be null"};
    out.emplace_back(names.element(i).as_text(), address.as_text());
  }
  return out;
}

class TableCursor final : public SetCursor {
 public:
  TableCursor(FunctionContext& context, std::span<const Value> arguments)
      : shape_{*context.call.row}, flags_{arguments.back().as_text()} {
    if (arguments[document_place].is_null()) return;
    if (arguments[rows_place].is_null())
      throw SqlError{sqlstate::null_value_not_allowed, "row filter expression must not be null"};
    read_columns(arguments);
    const std::string_view document = arguments[document_place].as_text();
    const std::string_view path = arguments[rows_place].as_text();
    const Namespaces namespaces =
        read_namespaces(arguments[prefixes_place], arguments[addresses_place]);
    share_.set(context.arena.account(), bytes_of_evaluation(document, path));
    Runtime::current().run_aside(
        [&] { rows_ = Reader{document, namespaces}.rows(path, columns_); });
    for (const std::vector<Text>& row : rows_) require_present(row);
  }

  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == rows_.size()) return std::nullopt;
    const std::vector<Text>& row = rows_[at_++];
    std::vector<Value> fields(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) fields[i] = field(context, i, row[i]);
    return make_record(context.arena, shape_.types, fields);
  }

 private:
  void read_columns(std::span<const Value> arguments) {
    for (std::size_t i = 0; i < shape_.types.size(); ++i) {
      Column& column = columns_.emplace_back();
      column.type = base_type(shape_.types[i]);
      column.ordinality = flags_[i] == 'o';
      column.as_number = value_type(column.type).category == 'N';
      const Value& path = arguments[columns + 2 * i];
      if (!column.ordinality && path.is_null())
        throw SqlError{sqlstate::null_value_not_allowed,
                       "column filter expression must not be null"}
            .with_detail(fmt::format("Filter for column \"{}\" is null.", shape_.names[i]));
      if (!column.ordinality) column.path = path.as_text();
      const Value& other = arguments[columns + 2 * i + 1];
      defaults_.push_back(other.is_null() ? Text{} : Text{other.as_text()});
    }
  }

  Value field(FunctionContext& context, std::size_t i, const Text& found) const {
    if (columns_[i].ordinality) return Value::from_int(static_cast<std::int64_t>(at_));
    const Text& text = found ? found : defaults_[i];
    if (text) return input_text(context, shape_.types[i], shape_.typmods[i], *text);
    return Value::null();
  }

  void require_present(const std::vector<Text>& row) const {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (flags_[i] == 'n' && !row[i] && !defaults_[i])
        throw_error(sqlstate::null_value_not_allowed, "null is not allowed in column \"{}\"",
                    shape_.names[i]);
    }
  }

  const RowShape& shape_;
  std::string flags_;
  std::vector<Column> columns_;
  std::vector<Text> defaults_;
  std::vector<std::vector<Text>> rows_;
  std::size_t at_ = 0;
  MemoryShare share_;
};

std::unique_ptr<SetCursor> table_rows(FunctionContext& context, std::span<const Value> arguments) {
  return std::make_unique<TableCursor>(context, arguments);
}

}  // namespace

const Function& table_function() {
  static const Function function = [] {
    Function out;
    out.name = "xmltable";
    out.kind = FunctionKind::set;
    out.strict = false;
    out.returns_set = true;
    out.result = TypeId::record;
    out.set = &table_rows;
    return out;
  }();
  return function;
}

}  // namespace swizzle::sql::xml
