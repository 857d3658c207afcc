#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace swizzle::tpcc {

/// The statements of the five transactions, prepared once per session. Plain single-table SQL with
/// one index each, so that both servers get the same, well-served work.
enum class Statement : std::uint32_t {
  begin,
  commit,
  warehouse_tax,
  customer_discount,
  take_order_number,
  insert_order,
  insert_new_order,
  item,
  stock_for_update,  ///< and nine more, one per district
  stock_end = stock_for_update + 9,
  update_stock,
  insert_order_line,
  customers_by_name,
  customer_for_payment,
  pay_customer,
  pay_bad_customer,
  pay_district,
  pay_warehouse,
  insert_history,
  customer_status,
  last_order,
  order_lines,
  oldest_new_order,
  delete_new_order,
  deliver_order,
  order_amount,
  deliver_lines,
  deliver_customer,
  next_order,
  low_stock,
  count
};

/// By statement. `begin` is the text that opens a transaction.
[[nodiscard]] std::vector<std::string> statement_texts(const std::string& begin);

/// CREATE TABLE and CREATE INDEX, to be run before and after the load.
[[nodiscard]] const std::vector<std::string>& table_definitions();
[[nodiscard]] const std::vector<std::string>& index_definitions();

}  // namespace swizzle::tpcc
