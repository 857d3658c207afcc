#include "tpcc/wire/procedures.h"

#include <array>
#include <concepts>
#include <utility>

#include "tpcc/wire/money.h"

namespace swizzle::tpcc {
namespace {

constexpr const char* kNewOrder = R"(
CREATE OR REPLACE PROCEDURE tpcc_new_order(p_w int, p_d int, p_c int, p_all_local int, p_items int[],
  p_supplies int[], p_quantities int[], INOUT p_total numeric) LANGUAGE plpgsql AS $$
DECLARE
  w_rate numeric;
  d_rate numeric;
  discount numeric;
  order_id int;
  price numeric;
  info text;
  amount numeric;
BEGIN
  SELECT w_tax INTO STRICT w_rate FROM warehouse WHERE w_id = p_w;
  SELECT c_discount INTO STRICT discount FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d
    RETURNING d_next_o_id - 1, d_tax INTO STRICT order_id, d_rate;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (order_id, p_d, p_w, p_c, CURRENT_TIMESTAMP, array_length(p_items, 1), p_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, p_d, p_w);
  p_total := 0;
  FOR i IN 1 .. array_length(p_items, 1) LOOP
    SELECT i_price INTO price FROM item WHERE i_id = p_items[i];
    IF NOT FOUND THEN
      RAISE EXCEPTION 'item % is not there', p_items[i] USING ERRCODE = 'TC001';
    END IF;
    UPDATE stock SET
        s_quantity = s_quantity - p_quantities[i]
          + CASE WHEN s_quantity >= p_quantities[i] + 10 THEN 0 ELSE 91 END,
        s_ytd = s_ytd + p_quantities[i], s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + CASE WHEN p_supplies[i] = p_w THEN 0 ELSE 1 END
      WHERE s_w_id = p_supplies[i] AND s_i_id = p_items[i]
      RETURNING CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
        WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
        WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END INTO STRICT info;
    amount := price * p_quantities[i];
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity,
        ol_amount, ol_dist_info)
      VALUES (order_id, p_d, p_w, i, p_items[i], p_supplies[i], p_quantities[i], amount, info);
    p_total := p_total + amount;
  END LOOP;
  p_total := p_total * (1 - discount) * (1 + w_rate + d_rate);
END $$)";

/// A customer by last name is the middle one of those that bear it, by first name.
constexpr const char* kPayment = R"(
CREATE OR REPLACE PROCEDURE tpcc_payment(p_w int, p_d int, p_c_w int, p_c_d int, INOUT p_c int, p_last text,
  p_amount numeric) LANGUAGE plpgsql AS $$
DECLARE
  ids int[];
  credit text;
  d_title text;
  w_title text;
BEGIN
  IF p_c = 0 THEN
    SELECT array_agg(c_id ORDER BY c_first) INTO ids FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
    p_c := ids[(array_length(ids, 1) + 1) / 2];
  END IF;
  SELECT c_credit INTO STRICT credit FROM customer
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = p_c FOR UPDATE;
  IF credit = 'BC' THEN
    UPDATE customer SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = substr(concat_ws(' ', p_c, p_c_d, p_c_w, p_d, p_w, p_amount, '') || c_data, 1, 500)
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = p_c;
  ELSE
    UPDATE customer SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = p_c;
  END IF;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d
    RETURNING d_name INTO STRICT d_title;
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w RETURNING w_name INTO STRICT w_title;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (p_c, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_amount,
      substr(w_title || '    ' || d_title, 1, 24));
END $$)";

constexpr const char* kOrderStatus = R"(
CREATE OR REPLACE PROCEDURE tpcc_order_status(p_w int, p_d int, INOUT p_c int, p_last text,
  INOUT p_balance numeric, INOUT p_order int, INOUT p_lines int) LANGUAGE plpgsql AS $$
DECLARE
  ids int[];
  carrier int;
  entered timestamp;
  line record;
BEGIN
  IF p_c = 0 THEN
    SELECT array_agg(c_id ORDER BY c_first) INTO ids FROM customer
      WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last;
    p_c := ids[(array_length(ids, 1) + 1) / 2];
  END IF;
  SELECT c_balance INTO STRICT p_balance FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT o_id, o_carrier_id, o_entry_d INTO p_order, carrier, entered FROM orders
    WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = p_c ORDER BY o_id DESC LIMIT 1;
  p_lines := 0;
  FOR line IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
      WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = p_order LOOP
    p_lines := p_lines + 1;
  END LOOP;
END $$)";

/// Looks for a district's oldest order twice: the first look may meet one that another delivery has
/// taken meanwhile, and miss the next.
constexpr const char* kDelivery = R"(
CREATE OR REPLACE PROCEDURE tpcc_delivery(p_w int, p_carrier int, INOUT p_delivered int) LANGUAGE plpgsql AS $$
DECLARE
  order_id int;
  customer_id int;
  amount numeric;
  misses int;
BEGIN
  p_delivered := 0;
  FOR district_id IN 1 .. 10 LOOP
    misses := 0;
    LOOP
      SELECT no_o_id INTO order_id FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
      IF FOUND THEN
        DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id AND no_o_id = order_id;
        EXIT WHEN FOUND;
      ELSE
        misses := misses + 1;
        EXIT WHEN misses = 2;
      END IF;
    END LOOP;
    CONTINUE WHEN misses = 2;
    UPDATE orders SET o_carrier_id = p_carrier
      WHERE o_w_id = p_w AND o_d_id = district_id AND o_id = order_id RETURNING o_c_id INTO STRICT customer_id;
    SELECT sum(ol_amount) INTO STRICT amount FROM order_line
      WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = order_id;
    UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
      WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = order_id;
    UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = district_id AND c_id = customer_id;
    p_delivered := p_delivered + 1;
  END LOOP;
END $$)";

constexpr const char* kStockLevel = R"(
CREATE OR REPLACE PROCEDURE tpcc_stock_level(p_w int, p_d int, p_threshold int, INOUT p_low int)
LANGUAGE plpgsql AS $$
DECLARE
  next_order int;
BEGIN
  SELECT d_next_o_id INTO STRICT next_order FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT count(DISTINCT s_i_id) INTO STRICT p_low FROM order_line, stock
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id >= next_order - 20 AND ol_o_id < next_order
      AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
END $$)";

/// Indexed by Kind.
constexpr std::array<const char*, kKinds> kCalls{
    "CALL tpcc_new_order($1, $2, $3, $4, $5, $6, $7, 0)",
    "CALL tpcc_payment($1, $2, $3, $4, $5, $6, $7)",
    "CALL tpcc_order_status($1, $2, $3, $4, 0, 0, 0)",
    "CALL tpcc_delivery($1, $2, 0)",
    "CALL tpcc_stock_level($1, $2, $3, 0)",
};

/// An array's text, of one member of each line.
template <class Member>
std::string array_of(const NewOrderInput& input, Member NewOrderInput::Line::* member) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    if (i != 0) text += ',';
    text += std::to_string(input.lines[i].*member);
  }
  return text + "}";
}

template <std::integral... Numbers>
std::vector<std::string> texts(Numbers... numbers) {
  return {std::to_string(numbers)...};
}

}  // namespace

const std::vector<std::string>& procedure_definitions() {
  static const std::vector<std::string> kDefinitions{kNewOrder, kPayment, kOrderStatus, kDelivery,
                                                     kStockLevel};
  return kDefinitions;
}

Result<std::unique_ptr<ProcedureSession>> ProcedureSession::open(const Connect& connect,
                                                                 const std::string& set_up) {
  ASSIGN_OR_RETURN(auto connection, connect(Pipelining::off));
  if (!set_up.empty()) RETURN_IF_ERROR(connection->execute(set_up));
  std::uint32_t number = 0;
  for (const char* const sql : kCalls) RETURN_IF_ERROR(connection->prepare(number++, sql));
  return std::unique_ptr<ProcedureSession>{new ProcedureSession{std::move(connection)}};
}

Result<Outcome> ProcedureSession::call(Kind procedure, std::vector<std::string> parameters) {
  auto done = connection_->run({Call{std::to_underlying(procedure), std::move(parameters)}});
  if (done) return Outcome::committed;
  // The transaction was the call's own; what else has come for it is dropped.
  connection_->roll_back();
  if (done.error().state() == kUnusedItem) return Outcome::rolled_back;
  return std::unexpected{std::move(done).error()};
}

Result<Outcome> ProcedureSession::new_order(const NewOrderInput& input) {
  using Line = NewOrderInput::Line;
  std::vector<std::string> parameters =
      texts(input.warehouse, input.district, input.customer, input.all_local() ? 1 : 0);
  parameters.push_back(array_of(input, &Line::item));
  parameters.push_back(array_of(input, &Line::supply_warehouse));
  parameters.push_back(array_of(input, &Line::quantity));
  return call(Kind::new_order, std::move(parameters));
}

Result<Outcome> ProcedureSession::payment(const PaymentInput& input) {
  const CustomerChoice& of = input.customer;
  std::vector<std::string> parameters =
      texts(input.warehouse, input.district, of.warehouse, of.district, of.id);
  parameters.push_back(of.last);
  parameters.push_back(money(input.amount));
  return call(Kind::payment, std::move(parameters));
}

Result<Outcome> ProcedureSession::order_status(const OrderStatusInput& input) {
  const CustomerChoice& of = input.customer;
  std::vector<std::string> parameters = texts(of.warehouse, of.district, of.id);
  parameters.push_back(of.last);
  return call(Kind::order_status, std::move(parameters));
}

Result<Outcome> ProcedureSession::delivery(const DeliveryInput& input) {
  return call(Kind::delivery, texts(input.warehouse, input.carrier));
}

Result<Outcome> ProcedureSession::stock_level(const StockLevelInput& input) {
  return call(Kind::stock_level, texts(input.warehouse, input.district, input.threshold));
}

}  // namespace swizzle::tpcc
