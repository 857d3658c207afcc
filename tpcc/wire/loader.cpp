#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>

#include "tpcc/wire/money.h"
#include "tpcc/wire/statements.h"
#include "tpcc/wire/wire_backend.h"

namespace swizzle::tpcc {
namespace {

std::string rate(Rate value) {
  return fmt::format("{}.{:04}", value / 10'000, value % 10'000);
}

std::string timestamp(Microseconds time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::gmtime(static_cast<std::time_t>(time / 1'000'000)));
}

/// COPY's text format; none of our strings needs an escape.
template <class... Values>
void line(std::string& buffer, const Values&... values) {
  std::string_view separator;
  ((fmt::format_to(std::back_inserter(buffer), "{}{}", std::exchange(separator, "\t"), values)),
   ...);
  buffer += '\n';
}

std::string tabbed(const Address& address) {
  return fmt::format("{}\t{}\t{}\t{}\t{}", address.street_1, address.street_2, address.city,
                     address.state, address.zip);
}

class Loader {
 public:
  Loader(Connection& connection, const Population& population, const Backend::Progress& progress)
      : connection_(connection), population_(population), progress_(progress) {}

  Result<> run() {
    RETURN_IF_ERROR(make_tables());
    const Sizes& sizes = population_.sizes();
    const std::uint32_t districts = sizes.warehouses * Sizes::kDistricts;
    RETURN_IF_ERROR(copy("item", (sizes.items + kSlice - 1) / kSlice, &Loader::items));
    RETURN_IF_ERROR(copy("warehouse", sizes.warehouses, &Loader::warehouse));
    RETURN_IF_ERROR(copy("district", districts, &Loader::district));
    RETURN_IF_ERROR(copy("stock", sizes.warehouses, &Loader::stock));
    RETURN_IF_ERROR(copy("customer", districts, &Loader::customers));
    RETURN_IF_ERROR(copy("history", districts, &Loader::history));
    RETURN_IF_ERROR(copy("orders", districts, &Loader::orders));
    RETURN_IF_ERROR(copy("new_order", districts, &Loader::new_orders));
    RETURN_IF_ERROR(copy("order_line", districts, &Loader::order_lines));
    for (const std::string& index : index_definitions()) {
      RETURN_IF_ERROR(connection_.execute(index));
    }
    RETURN_IF_ERROR(connection_.execute("ANALYZE"));
    return {};
  }

 private:
  static constexpr std::uint32_t kSlice = 1'000;
  using Part = void (Loader::*)(std::uint32_t part, std::string& buffer);

  Result<> make_tables() {
    for (const char* table : {"warehouse", "district", "customer", "history", "new_order", "orders",
                              "order_line", "item", "stock"}) {
      RETURN_IF_ERROR(connection_.execute(fmt::format("DROP TABLE IF EXISTS {}", table)));
    }
    for (const std::string& table : table_definitions()) {
      RETURN_IF_ERROR(connection_.execute(table));
    }
    return {};
  }

  Result<> copy(const char* table, std::uint32_t parts, Part make) {
    std::uint32_t part = 0;
    RETURN_IF_ERROR(
        connection_.copy_in(fmt::format("COPY {} FROM STDIN", table), [&](std::string& buffer) {
          if (part == parts) return false;
          (this->*make)(part++, buffer);
          progress_(table, rows_);
          return true;
        }));
    progress_(table, rows_);
    rows_ = 0;
    return {};
  }

  static std::uint32_t warehouse_of(std::uint32_t part) { return part / Sizes::kDistricts + 1; }
  static std::uint32_t district_of(std::uint32_t part) { return part % Sizes::kDistricts + 1; }

  void items(std::uint32_t part, std::string& buffer) {
    const std::uint32_t last = std::min(population_.sizes().items, (part + 1) * kSlice);
    for (std::uint32_t id = part * kSlice + 1; id <= last; ++id, ++rows_) {
      const Item row = population_.item(id);
      line(buffer, row.id, row.image, row.name, money(row.price), row.data);
    }
  }

  void warehouse(std::uint32_t part, std::string& buffer) {
    const Warehouse row = population_.warehouse(part + 1);
    line(buffer, row.id, row.name, tabbed(row.address), rate(row.tax), money(row.ytd));
    ++rows_;
  }

  void district(std::uint32_t part, std::string& buffer) {
    const District row = population_.district(warehouse_of(part), district_of(part));
    line(buffer, row.warehouse, row.id, row.name, tabbed(row.address), rate(row.tax),
         money(row.ytd), row.next_order);
    ++rows_;
  }

  void stock(std::uint32_t part, std::string& buffer) {
    for (std::uint32_t item = 1; item <= population_.sizes().items; ++item, ++rows_) {
      const Stock row = population_.stock(part + 1, item);
      line(buffer, row.warehouse, row.item, row.quantity,
           fmt::to_string(fmt::join(row.district_info, "\t")), row.ytd, row.order_count,
           row.remote_count, row.data);
    }
  }

  void customers(std::uint32_t part, std::string& buffer) {
    for (std::uint32_t id = 1; id <= population_.sizes().customers; ++id, ++rows_) {
      const Customer row = population_.customer(warehouse_of(part), district_of(part), id);
      line(buffer, row.warehouse, row.district, row.id, row.first, row.middle, row.last,
           tabbed(row.address), row.phone, timestamp(row.since), row.credit,
           money(row.credit_limit), rate(row.discount), money(row.balance), money(row.ytd_payment),
           row.payment_count, row.delivery_count, row.data);
    }
  }

  void history(std::uint32_t part, std::string& buffer) {
    for (std::uint32_t id = 1; id <= population_.sizes().customers; ++id, ++rows_) {
      const History row =
          population_.history(population_.customer(warehouse_of(part), district_of(part), id));
      line(buffer, row.customer, row.customer_district, row.customer_warehouse, row.district,
           row.warehouse, timestamp(row.date), money(row.amount), row.data);
    }
  }

  void orders(std::uint32_t part, std::string& buffer) {
    for (const auto& [row, lines] : population_.orders(warehouse_of(part), district_of(part))) {
      line(buffer, row.warehouse, row.district, row.id, row.customer, timestamp(row.entry_date),
           row.carrier == 0 ? std::string{"\\N"} : std::to_string(row.carrier), row.line_count, 1);
      ++rows_;
    }
  }

  void new_orders(std::uint32_t part, std::string& buffer) {
    const Sizes& sizes = population_.sizes();
    for (std::uint32_t id = sizes.delivered_orders() + 1; id <= sizes.customers; ++id, ++rows_) {
      line(buffer, warehouse_of(part), district_of(part), id);
    }
  }

  void order_lines(std::uint32_t part, std::string& buffer) {
    for (const auto& [order, lines] : population_.orders(warehouse_of(part), district_of(part))) {
      for (const OrderLine& row : lines) {
        line(buffer, row.warehouse, row.district, row.order, row.number, row.item,
             row.supply_warehouse,
             row.delivery_date == 0 ? std::string{"\\N"} : timestamp(row.delivery_date),
             row.quantity, money(row.amount), row.district_info);
        ++rows_;
      }
    }
  }

  Connection& connection_;
  const Population& population_;
  const Backend::Progress& progress_;
  std::uint64_t rows_ = 0;
};

}  // namespace

Result<> load_over_wire(Connection& connection, const Population& population,
                        const Backend::Progress& progress) {
  return Loader{connection, population, progress}.run();
}

}  // namespace swizzle::tpcc
