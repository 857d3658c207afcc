#include "tpcc/embedded/loader.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tpcc/embedded/layout.h"

namespace swizzle::tpcc {
namespace {

struct Entry {
  Key key;
  Image value;
};

/// Returns a text of exactly 24 letters.
std::array<char, 24> exactly_24(const std::string& text) {
  std::array<char, 24> letters{};
  std::memcpy(letters.data(), text.data(), std::min(text.size(), letters.size()));
  return letters;
}

/// Adapts a function that makes the entries of a part of a table (a district, or a slice of items)
/// to the row-by-row source that the engine's bulk load needs.
class Source {
 public:
  using MakePart = std::function<void(std::uint32_t part, std::deque<Entry>& into)>;
  Source(std::uint32_t parts, MakePart make) : parts_(parts), make_(std::move(make)) {}

  std::optional<Engine::Record> next() {
    if (at_ < entries_.size()) ++at_;
    while (at_ == entries_.size()) {
      if (part_ == parts_) return std::nullopt;
      entries_.clear();
      at_ = 0;
      make_(part_++, entries_);
    }
    return Engine::Record{entries_[at_].key.bytes(), entries_[at_].value.bytes()};
  }

 private:
  std::uint32_t parts_;
  MakePart make_;
  std::uint32_t part_ = 0;
  std::deque<Entry> entries_;
  std::size_t at_ = 0;
};

const Image kNothing{std::array<std::byte, 0>{}};

class Loader {
 public:
  Loader(Engine& engine, const Population& population, const Backend::Progress& progress)
      : engine_(engine), population_(population), progress_(progress) {}

  Result<Catalog> run() {
    catalog_.sizes = population_.sizes();
    RETURN_IF_ERROR(fill(TableName::item, slices(sizes().items), items()));
    RETURN_IF_ERROR(fill(TableName::warehouse, 1, warehouses()));
    RETURN_IF_ERROR(fill(TableName::stock, sizes().warehouses, stock()));
    RETURN_IF_ERROR(fill(TableName::district, sizes().warehouses, districts()));
    RETURN_IF_ERROR(fill(TableName::customer, all_districts(), customers()));
    RETURN_IF_ERROR(fill(TableName::customer_by_name, all_districts(), names()));
    RETURN_IF_ERROR(fill(TableName::history, all_districts(), history()));
    RETURN_IF_ERROR(fill(TableName::orders, all_districts(), orders()));
    RETURN_IF_ERROR(fill(TableName::order_by_customer, all_districts(), orders_by_customer()));
    RETURN_IF_ERROR(fill(TableName::new_order, all_districts(), new_orders()));
    RETURN_IF_ERROR(fill(TableName::order_line, all_districts(), order_lines()));
    return catalog_;
  }

 private:
  using Entries = std::deque<Entry>;
  struct Place {
    std::uint32_t warehouse;
    std::uint32_t district;
  };
  static constexpr std::uint32_t kSlice = 1'000;

  [[nodiscard]] const Sizes& sizes() const { return population_.sizes(); }
  static std::uint32_t slices(std::uint32_t rows) { return (rows + kSlice - 1) / kSlice; }
  [[nodiscard]] std::uint32_t all_districts() const {
    return sizes().warehouses * Sizes::kDistricts;
  }
  static Place place(std::uint32_t part) {
    return {part / Sizes::kDistricts + 1, part % Sizes::kDistricts + 1};
  }

  Result<> fill(TableName table, std::uint32_t parts, Source::MakePart make) {
    const auto transaction = engine_.begin();
    ASSIGN_OR_RETURN(const TreeId tree, engine_.create_tree(*transaction));
    Source source{parts, std::move(make)};
    std::uint64_t rows = 0;
    const auto next = [&]() -> Result<std::optional<Engine::Record>> {
      if (++rows % 100'000 == 0) progress_(name_of(table), rows);
      return source.next();
    };
    ASSIGN_OR_RETURN(rows, engine_.bulk_load(*transaction, tree, next));
    RETURN_IF_ERROR(transaction->commit());
    progress_(name_of(table), rows);
    catalog_.trees[static_cast<std::size_t>(table)] = tree;
    return {};
  }

  Source::MakePart items() {
    return [this](std::uint32_t part, Entries& into) {
      const std::uint32_t last = std::min(sizes().items, (part + 1) * kSlice);
      for (std::uint32_t id = part * kSlice + 1; id <= last; ++id) {
        const Item item = population_.item(id);
        const ItemRecord record{.price = item.price, .image = item.image, .name = item.name};
        into.push_back({Key{}.number(id), Image{record, item.data}});
      }
    };
  }

  Source::MakePart warehouses() {
    return [this](std::uint32_t, Entries& into) {
      for (std::uint32_t id = 1; id <= sizes().warehouses; ++id) {
        const Warehouse row = population_.warehouse(id);
        const WarehouseRecord record{.ytd = row.ytd,
                                     .tax = row.tax,
                                     .name = row.name,
                                     .address = AddressRecord{row.address}};
        into.push_back({Key{}.number(id), Image{record}});
      }
    };
  }

  Source::MakePart stock() {
    return [this](std::uint32_t part, Entries& into) {
      for (std::uint32_t item = 1; item <= sizes().items; ++item) {
        const Stock row = population_.stock(part + 1, item);
        StockRecord record{.quantity = row.quantity};
        for (std::size_t i = 0; i < row.district_info.size(); ++i) {
          record.district_info[i] = exactly_24(row.district_info[i]);
        }
        into.push_back({Key{}.number(part + 1).number(item), Image{record, row.data}});
      }
    };
  }

  Source::MakePart districts() {
    return [this](std::uint32_t part, Entries& into) {
      for (std::uint32_t id = 1; id <= Sizes::kDistricts; ++id) {
        const District row = population_.district(part + 1, id);
        const DistrictRecord record{.ytd = row.ytd,
                                    .tax = row.tax,
                                    .next_order = row.next_order,
                                    .name = row.name,
                                    .address = AddressRecord{row.address}};
        into.push_back({Key{}.number(part + 1).small(id), Image{record}});
      }
    };
  }

  Source::MakePart customers() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      for (std::uint32_t id = 1; id <= sizes().customers; ++id) {
        const Customer row = population_.customer(warehouse, district, id);
        const CustomerRecord record{.balance = row.balance,
                                    .ytd_payment = row.ytd_payment,
                                    .credit_limit = row.credit_limit,
                                    .since = row.since,
                                    .discount = row.discount,
                                    .payment_count = row.payment_count,
                                    .delivery_count = row.delivery_count,
                                    .credit = row.credit,
                                    .first = row.first,
                                    .middle = row.middle,
                                    .last = row.last,
                                    .phone = row.phone,
                                    .address = AddressRecord{row.address}};
        into.push_back(
            {Key{}.number(warehouse).small(district).number(id), Image{record, row.data}});
      }
    };
  }

  Source::MakePart names() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      std::vector<std::tuple<std::string, std::string, std::uint32_t>> sorted;
      for (std::uint32_t id = 1; id <= sizes().customers; ++id) {
        Customer row = population_.customer(warehouse, district, id);
        sorted.emplace_back(std::move(row.last), std::move(row.first), id);
      }
      std::sort(sorted.begin(), sorted.end());
      for (const auto& [last, first, id] : sorted) {
        into.push_back(
            {Key{}.number(warehouse).small(district).name(last).name(first).number(id), kNothing});
      }
    };
  }

  Source::MakePart history() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      for (std::uint32_t id = 1; id <= sizes().customers; ++id) {
        const History row = population_.history(population_.customer(warehouse, district, id));
        const HistoryRecord record{
            .date = row.date,
            .amount = row.amount,
            .customer = row.customer,
            .customer_warehouse = row.customer_warehouse,
            .warehouse = row.warehouse,
            .customer_district = static_cast<std::uint8_t>(row.customer_district),
            .district = static_cast<std::uint8_t>(row.district)};
        // Run 0; the runs that come later number their rows from their start time.
        into.push_back({Key{}.wide(0).number(part).number(id), Image{record, row.data}});
      }
    };
  }

  Source::MakePart orders() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      for (const auto& [row, lines] : population_.orders(warehouse, district)) {
        const OrderRecord record{.entry_date = row.entry_date,
                                 .customer = row.customer,
                                 .carrier = static_cast<std::uint8_t>(row.carrier),
                                 .line_count = static_cast<std::uint8_t>(row.line_count),
                                 .all_local = 1};
        into.push_back({Key{}.number(warehouse).small(district).number(row.id), Image{record}});
      }
    };
  }

  Source::MakePart orders_by_customer() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted;
      for (const auto& [row, lines] : population_.orders(warehouse, district)) {
        sorted.emplace_back(row.customer, row.id);
      }
      std::sort(sorted.begin(), sorted.end());
      for (const auto& [customer, order] : sorted) {
        into.push_back(
            {Key{}.number(warehouse).small(district).number(customer).number(order), kNothing});
      }
    };
  }

  Source::MakePart new_orders() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      for (std::uint32_t id = sizes().delivered_orders() + 1; id <= sizes().customers; ++id) {
        into.push_back({Key{}.number(warehouse).small(district).number(id), kNothing});
      }
    };
  }

  Source::MakePart order_lines() {
    return [this](std::uint32_t part, Entries& into) {
      const auto [warehouse, district] = place(part);
      for (const auto& [order, lines] : population_.orders(warehouse, district)) {
        for (const OrderLine& row : lines) {
          const OrderLineRecord record{.delivery_date = row.delivery_date,
                                       .amount = row.amount,
                                       .item = row.item,
                                       .supply_warehouse = row.supply_warehouse,
                                       .quantity = row.quantity,
                                       .district_info = exactly_24(row.district_info)};
          into.push_back(
              {Key{}.number(warehouse).small(district).number(order.id).small(row.number),
               Image{record}});
        }
      }
    };
  }

  Engine& engine_;
  const Population& population_;
  const Backend::Progress& progress_;
  Catalog catalog_;
};

}  // namespace

Result<Catalog> load_embedded(Engine& engine, const Population& population,
                              const Backend::Progress& progress) {
  return Loader{engine, population, progress}.run();
}

}  // namespace swizzle::tpcc
