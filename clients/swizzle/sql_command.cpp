#include <iostream>
#include <iterator>
#include <pqxx/pqxx>

#include "clients/swizzle/commands.h"
#include "clients/swizzle/text_table.h"

namespace swizzle::clients {
namespace {

/// True for types whose values are aligned right: int2, int4, int8, float4, float8, numeric, oid.
bool is_number(pqxx::oid type) {
  switch (type) {
    case 20:
    case 21:
    case 23:
    case 26:
    case 700:
    case 701:
    case 1700:
      return true;
    default:
      return false;
  }
}

void print_result(const pqxx::result& result) {
  if (result.columns() == 0) {
    std::cout << result.affected_rows() << " rows\n";
    return;
  }
  std::vector<std::string> headings;
  for (pqxx::row::size_type i = 0; i < result.columns(); ++i) {
    headings.emplace_back(result.column_name(i));
  }
  TextTable table{std::move(headings)};
  for (pqxx::row::size_type i = 0; i < result.columns(); ++i) {
    if (is_number(result.column_type(i))) {
      table.align(static_cast<std::size_t>(i), TextTable::Align::right);
    }
  }
  for (const auto& row : result) {
    std::vector<TextTable::Cell> cells;
    for (const auto& field : row) {
      cells.push_back(field.is_null() ? TextTable::Cell{} : TextTable::Cell{field.c_str()});
    }
    table.add(std::move(cells));
  }
  std::cout << table.print() << '(' << result.size() << (result.size() == 1 ? " row" : " rows")
            << ")\n";
}

}  // namespace

/// Runs each argument as a script, or standard input without arguments. A script is an implicit
/// transaction; shows the result of its last statement.
int run_sql(const std::string& conninfo, std::vector<std::string> scripts) {
  if (scripts.empty()) {
    scripts.emplace_back(std::istreambuf_iterator<char>{std::cin},
                         std::istreambuf_iterator<char>{});
  }
  pqxx::connection connection{conninfo};
  for (const std::string& script : scripts) {
    pqxx::nontransaction work{connection};
    print_result(work.exec(script));
  }
  return 0;
}

}  // namespace swizzle::clients
