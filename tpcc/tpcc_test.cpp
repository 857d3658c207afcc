#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tpcc/inputs.h"
#include "tpcc/latency_histogram.h"
#include "tpcc/population.h"
#include "tpcc/tpcc_random.h"

using namespace swizzle::tpcc;

namespace {
const Sizes kThreeWarehouses{.warehouses = 3, .items = 1'000, .customers = 100};
}

TEST_CASE("last names are made of syllables", "[tpcc]") {
  CHECK(last_name(0) == "BARBARBAR");
  CHECK(last_name(371) == "PRICALLYOUGHT");
  CHECK(last_name(999) == "EINGEINGEING");
}

TEST_CASE("a population is the same whenever it is asked", "[tpcc]") {
  const Population one{kThreeWarehouses, 5, 1'000'000};
  const Population other{kThreeWarehouses, 5, 1'000'000};
  CHECK(one.customer(2, 3, 40).data == other.customer(2, 3, 40).data);
  CHECK(one.orders(1, 1)[7].lines.size() == other.orders(1, 1)[7].lines.size());
  CHECK(one.customer(2, 3, 40).data != one.customer(2, 3, 41).data);
}

TEST_CASE("a district's orders are those of clause 4.3.3.1", "[tpcc]") {
  const Population population{kThreeWarehouses, 5, 1'000'000};
  const auto orders = population.orders(2, 4);
  REQUIRE(orders.size() == kThreeWarehouses.customers);
  std::set<std::uint32_t> customers;
  for (const auto& [order, lines] : orders) {
    customers.insert(order.customer);
    CHECK(lines.size() == order.line_count);
    CHECK((order.carrier == 0) == population.is_new(order.id));
    CHECK(order.line_count >= 5);
    CHECK(order.line_count <= 15);
  }
  CHECK(customers.size() == kThreeWarehouses.customers);
}

TEST_CASE("the mix has the specification's shares", "[tpcc]") {
  InputSource source{kThreeWarehouses, 9, 0};
  std::map<std::size_t, int> seen;
  for (int i = 0; i < 20'000; ++i) ++seen[source.next().index()];
  CHECK(seen[1] > 0.42 * 20'000);
  for (std::size_t kind = 2; kind < kKinds; ++kind) CHECK(seen[kind] > 0.035 * 20'000);
}

TEST_CASE("new orders roll back once in a hundred and are sometimes remote", "[tpcc]") {
  InputSource source{kThreeWarehouses, 9, 2};
  int rolls_back = 0;
  int remote = 0;
  for (int i = 0; i < 10'000; ++i) {
    const NewOrderInput input = source.new_order();
    CHECK(input.warehouse == 2);
    rolls_back += input.lines[input.line_count - 1].item > kThreeWarehouses.items ? 1 : 0;
    remote += input.all_local() ? 0 : 1;
  }
  CHECK(rolls_back > 60);
  CHECK(rolls_back < 140);
  CHECK(remote > 700);
  CHECK(remote < 1'200);
}

TEST_CASE("payments go to other warehouses and by name as often as they should", "[tpcc]") {
  InputSource source{kThreeWarehouses, 9, 1};
  int remote = 0;
  int by_name = 0;
  for (int i = 0; i < 10'000; ++i) {
    const PaymentInput input = source.payment();
    remote += input.customer.warehouse == 1 ? 0 : 1;
    by_name += input.customer.id == 0 ? 1 : 0;
  }
  CHECK(remote > 1'350);
  CHECK(remote < 1'650);
  CHECK(by_name > 5'800);
  CHECK(by_name < 6'200);
}

TEST_CASE("percentiles are right within three per cent", "[tpcc]") {
  LatencyHistogram histogram;
  for (std::uint64_t i = 1; i <= 100'000; ++i) histogram.record(i * 1'000);
  CHECK(static_cast<double>(histogram.percentile(0.5)) == Approx(50e6).epsilon(0.03));
  CHECK(static_cast<double>(histogram.percentile(0.99)) == Approx(99e6).epsilon(0.03));
  CHECK(histogram.highest() == 100'000'000);
  CHECK(histogram.percentile(1) == 100'000'000);
}
