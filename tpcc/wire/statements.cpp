#include "tpcc/wire/statements.h"

#include <fmt/format.h>

#include <utility>

namespace swizzle::tpcc {

std::vector<std::string> statement_texts(const std::string& begin) {
  std::vector<std::string> texts(std::to_underlying(Statement::count));
  const auto set = [&](Statement statement, std::string text) {
    texts[std::to_underlying(statement)] = std::move(text);
  };
  set(Statement::begin, begin);
  set(Statement::commit, "COMMIT");
  set(Statement::warehouse_tax, "SELECT w_tax FROM warehouse WHERE w_id = $1");
  set(Statement::customer_discount,
      "SELECT c_discount, c_last, c_credit FROM customer "
      "WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3");
  set(Statement::take_order_number,
      "UPDATE district SET d_next_o_id = d_next_o_id + 1 "
      "WHERE d_w_id = $1 AND d_id = $2 RETURNING d_next_o_id - 1, d_tax");
  set(Statement::insert_order,
      "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) "
      "VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP, $5, $6)");
  set(Statement::insert_new_order,
      "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)");
  set(Statement::item, "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1");
  for (std::uint32_t district = 1; district <= 10; ++district) {
    texts[std::to_underlying(Statement::stock_for_update) + district - 1] = fmt::format(
        "SELECT s_quantity, s_data, s_dist_{:02} FROM stock "
        "WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE",
        district);
  }
  set(Statement::update_stock,
      "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1, "
      "s_remote_cnt = s_remote_cnt + $3 WHERE s_w_id = $4 AND s_i_id = $5");
  set(Statement::insert_order_line,
      "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, "
      "ol_quantity, ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
  set(Statement::customers_by_name,
      "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 "
      "ORDER BY c_first");
  set(Statement::customer_for_payment,
      "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, "
      "c_credit, c_credit_lim, c_discount, c_balance, c_since FROM customer "
      "WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE");
  set(Statement::pay_customer,
      "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, "
      "c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4");
  set(Statement::pay_bad_customer,
      "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, "
      "c_payment_cnt = c_payment_cnt + 1, c_data = substr($5 || c_data, 1, 500) "
      "WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4");
  set(Statement::pay_district,
      "UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3 "
      "RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip");
  set(Statement::pay_warehouse,
      "UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2 "
      "RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip");
  set(Statement::insert_history,
      "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) "
      "VALUES ($1, $2, $3, $4, $5, CURRENT_TIMESTAMP, $6, $7)");
  set(Statement::customer_status,
      "SELECT c_balance, c_first, c_middle, c_last FROM customer "
      "WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3");
  set(Statement::last_order,
      "SELECT o_id, o_carrier_id, o_entry_d FROM orders "
      "WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1");
  set(Statement::order_lines,
      "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
      "WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3");
  set(Statement::oldest_new_order,
      "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 "
      "ORDER BY no_o_id LIMIT 1 FOR UPDATE");
  set(Statement::delete_new_order,
      "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3");
  set(Statement::deliver_order,
      "UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4 "
      "RETURNING o_c_id");
  set(Statement::order_amount,
      "SELECT sum(ol_amount) FROM order_line "
      "WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3");
  set(Statement::deliver_lines,
      "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP "
      "WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3");
  set(Statement::deliver_customer,
      "UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 "
      "WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4");
  set(Statement::next_order, "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2");
  set(Statement::low_stock,
      "SELECT count(DISTINCT s_i_id) FROM order_line, stock "
      "WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4 "
      "AND s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $5");
  return texts;
}

const std::vector<std::string>& table_definitions() {
  static const std::vector<std::string> kDefinitions{
      "CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name varchar(10), w_street_1 varchar(20), "
      "w_street_2 varchar(20), w_city varchar(20), w_state char(2), w_zip char(9), "
      "w_tax numeric(4,4), w_ytd numeric(12,2))",
      "CREATE TABLE district (d_w_id int, d_id int, d_name varchar(10), d_street_1 varchar(20), "
      "d_street_2 varchar(20), d_city varchar(20), d_state char(2), d_zip char(9), "
      "d_tax numeric(4,4), d_ytd numeric(12,2), d_next_o_id int, PRIMARY KEY (d_w_id, d_id))",
      "CREATE TABLE customer (c_w_id int, c_d_id int, c_id int, c_first varchar(16), "
      "c_middle char(2), c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), "
      "c_city varchar(20), c_state char(2), c_zip char(9), c_phone char(16), c_since timestamp, "
      "c_credit char(2), c_credit_lim numeric(12,2), c_discount numeric(4,4), "
      "c_balance numeric(12,2), c_ytd_payment numeric(12,2), c_payment_cnt int, "
      "c_delivery_cnt int, c_data varchar(500), PRIMARY KEY (c_w_id, c_d_id, c_id))",
      "CREATE TABLE history (h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, "
      "h_date timestamp, h_amount numeric(6,2), h_data varchar(24))",
      "CREATE TABLE new_order (no_w_id int, no_d_id int, no_o_id int, "
      "PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
      "CREATE TABLE orders (o_w_id int, o_d_id int, o_id int, o_c_id int, o_entry_d timestamp, "
      "o_carrier_id int, o_ol_cnt int, o_all_local int, PRIMARY KEY (o_w_id, o_d_id, o_id))",
      "CREATE TABLE order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int, "
      "ol_supply_w_id int, ol_delivery_d timestamp, ol_quantity int, ol_amount numeric(6,2), "
      "ol_dist_info char(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
      "CREATE TABLE item (i_id int PRIMARY KEY, i_im_id int, i_name varchar(24), "
      "i_price numeric(5,2), i_data varchar(50))",
      "CREATE TABLE stock (s_w_id int, s_i_id int, s_quantity int, s_dist_01 char(24), "
      "s_dist_02 char(24), s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24), "
      "s_dist_06 char(24), s_dist_07 char(24), s_dist_08 char(24), s_dist_09 char(24), "
      "s_dist_10 char(24), s_ytd int, s_order_cnt int, s_remote_cnt int, s_data varchar(50), "
      "PRIMARY KEY (s_w_id, s_i_id))"};
  return kDefinitions;
}

const std::vector<std::string>& index_definitions() {
  static const std::vector<std::string> kDefinitions{
      "CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first)",
      "CREATE INDEX order_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)"};
  return kDefinitions;
}

}  // namespace swizzle::tpcc
