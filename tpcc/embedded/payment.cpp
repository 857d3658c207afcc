#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/runtime/runtime.h"
#include "tpcc/embedded/session.h"

namespace swizzle::tpcc {
namespace {

/// Returns a bad-credit customer's data with the payment put before it (clause 2.5.2.2).
std::string_view with_payment(std::array<char, 500>& into, const PaymentInput& input,
                              std::uint32_t customer, std::string_view old) {
  const auto head =
      fmt::format_to_n(into.data(), into.size(), "{} {} {} {} {} {}.{:02} ", customer,
                       input.customer.district, input.customer.warehouse, input.district,
                       input.warehouse, input.amount / 100, input.amount % 100);
  const std::size_t kept = std::min(old.size(), into.size() - head.size);
  std::copy_n(old.data(), kept, into.data() + head.size);
  return {into.data(), head.size + kept};
}

}  // namespace

// Clause 2.5.2.2. Changes the warehouse's row last, since every payment of the warehouse locks it.
Result<Outcome> EmbeddedSession::payment(const PaymentInput& input) {
  const auto transaction = engine_.begin(settings_.isolation);
  ASSIGN_OR_RETURN(const std::uint32_t id, find_customer(*transaction, input.customer));
  const Key customer_key =
      Key{}.number(input.customer.warehouse).small(input.customer.district).number(id);
  ASSIGN_OR_RETURN(auto customer, read<CustomerRecord>(*transaction, TableName::customer,
                                                       customer_key, ReadMode::for_update));
  customer.balance -= input.amount;
  customer.ytd_payment += input.amount;
  customer.payment_count += 1;
  std::array<char, 500> changed_data;
  std::string_view data = text_of<CustomerRecord>(value_.bytes());
  if (customer.credit.view() == "BC") data = with_payment(changed_data, input, id, data);
  RETURN_IF_ERROR(
      update(*transaction, TableName::customer, customer_key, Image{customer, data}.bytes()));

  const Key warehouse_key = Key{}.number(input.warehouse);
  const Key district_key = Key{warehouse_key}.small(input.district);
  ASSIGN_OR_RETURN(auto district, read<DistrictRecord>(*transaction, TableName::district,
                                                       district_key, ReadMode::for_update));
  district.ytd += input.amount;
  RETURN_IF_ERROR(update(*transaction, TableName::district, district_key, Image{district}.bytes()));
  ASSIGN_OR_RETURN(auto warehouse, read<WarehouseRecord>(*transaction, TableName::warehouse,
                                                         warehouse_key, ReadMode::for_update));
  warehouse.ytd += input.amount;
  RETURN_IF_ERROR(
      update(*transaction, TableName::warehouse, warehouse_key, Image{warehouse}.bytes()));

  std::array<char, 24> names;
  const auto end = fmt::format_to_n(names.data(), names.size(), "{}    {}", warehouse.name.view(),
                                    district.name.view());
  RETURN_IF_ERROR(insert_history(*transaction, input, id,
                                 {names.data(), std::min<std::size_t>(end.size, names.size())}));
  return commit(*transaction);
}

Result<> EmbeddedSession::insert_history(Transaction& transaction, const PaymentInput& input,
                                         std::uint32_t customer, std::string_view data) {
  const HistoryRecord record{
      .date = Runtime::current().wall_clock_us(),
      .amount = input.amount,
      .customer = customer,
      .customer_warehouse = input.customer.warehouse,
      .warehouse = input.warehouse,
      .customer_district = static_cast<std::uint8_t>(input.customer.district),
      .district = static_cast<std::uint8_t>(input.district)};
  const Key key = Key{}.wide(settings_.run).number(settings_.number).number(history_sequence_++);
  return insert(transaction, TableName::history, key, Image{record, data}.bytes());
}

}  // namespace swizzle::tpcc
