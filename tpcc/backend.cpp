#include "tpcc/backend.h"

namespace swizzle::tpcc {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace

Result<Outcome> Session::run(const Input& input) {
  return std::visit(Overloaded{[&](const NewOrderInput& typed) { return new_order(typed); },
                               [&](const PaymentInput& typed) { return payment(typed); },
                               [&](const OrderStatusInput& typed) { return order_status(typed); },
                               [&](const DeliveryInput& typed) { return delivery(typed); },
                               [&](const StockLevelInput& typed) { return stock_level(typed); }},
                    input);
}

}  // namespace swizzle::tpcc
