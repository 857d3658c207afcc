#include "tpcc/embedded/embedded_backend.h"

#include "base/runtime/runtime.h"
#include "tpcc/embedded/loader.h"

namespace swizzle::tpcc {
namespace {

std::uint32_t number_at(Bytes key, std::size_t offset) {
  return load_big_endian<std::uint32_t>(key.data() + offset);
}

std::uint32_t small_at(Bytes key, std::size_t offset) {
  return std::to_integer<std::uint32_t>(key[offset]);
}

}  // namespace

Result<std::unique_ptr<EmbeddedBackend>> EmbeddedBackend::start(
    Start how, FileSystem& files, const std::filesystem::path& directory,
    const EngineOptions& options, const SessionSettings& settings) {
  if (how == Start::create) RETURN_IF_ERROR(Engine::create(files, directory, options));
  ASSIGN_OR_RETURN(auto engine, Engine::open(files, directory, options));
  std::unique_ptr<EmbeddedBackend> backend{
      new EmbeddedBackend{directory, settings, std::move(engine)}};
  if (backend->settings_.run == 0) {
    backend->settings_.run = static_cast<std::uint64_t>(Runtime::current().wall_clock_us());
  }
  if (how == Start::open) {
    ASSIGN_OR_RETURN(const Catalog catalog, Catalog::read(directory));
    RETURN_IF_ERROR(backend->open_tables(catalog));
  }
  return backend;
}

Result<> EmbeddedBackend::open_tables(const Catalog& catalog) {
  catalog_ = catalog;
  ASSIGN_OR_RETURN(tables_, Tables::open(*engine_, catalog_));
  return {};
}

Result<> EmbeddedBackend::load(const Population& population, const Progress& progress) {
  ASSIGN_OR_RETURN(const Catalog catalog, load_embedded(*engine_, population, progress));
  RETURN_IF_ERROR(catalog.write(directory_));
  return open_tables(catalog);
}

Result<Sizes> EmbeddedBackend::sizes() {
  return catalog_.sizes;
}

Result<std::unique_ptr<Session>> EmbeddedBackend::session(std::uint32_t number) {
  SessionSettings settings = settings_;
  settings.number = number;
  return std::make_unique<EmbeddedSession>(*engine_, tables_, settings);
}

Result<> EmbeddedBackend::scan(TableName table, const Key& prefix,
                               const std::function<void(Bytes, Bytes)>& visit) {
  const auto transaction = engine_->begin(Isolation::repeatable_read, Access::read_only);
  const Key high = Key{prefix}.end();
  ScanRange range;
  if (!prefix.bytes().empty()) range.low = prefix.bytes();
  range.high = high.bytes();
  ASSIGN_OR_RETURN(Cursor cursor,
                   tables_[table].scan(*transaction, range, Direction::forward, ReadMode::snapshot,
                                       WaitPolicy::wait, ScanHint::large));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, cursor.next());
    if (!more) break;
    visit(cursor.key(), cursor.value());
  }
  return transaction->commit();
}

Result<> EmbeddedBackend::visit_warehouse(std::uint32_t warehouse,
                                          const Visitor<Warehouse>& visit) {
  return scan(TableName::warehouse, Key{}.number(warehouse), [&](Bytes, Bytes value) {
    const auto record = swizzle::load<WarehouseRecord>(value.data());
    visit({.id = warehouse, .name = {}, .address = {}, .tax = record.tax, .ytd = record.ytd});
  });
}

Result<> EmbeddedBackend::visit_districts(std::uint32_t warehouse, const Visitor<District>& visit) {
  return scan(TableName::district, Key{}.number(warehouse), [&](Bytes key, Bytes value) {
    const auto record = swizzle::load<DistrictRecord>(value.data());
    District row;
    row.warehouse = warehouse;
    row.id = small_at(key, 4);
    row.ytd = record.ytd;
    row.next_order = record.next_order;
    visit(row);
  });
}

Result<> EmbeddedBackend::visit_customers(std::uint32_t warehouse, const Visitor<Customer>& visit) {
  Customer row;
  return scan(TableName::customer, Key{}.number(warehouse), [&](Bytes key, Bytes value) {
    const auto record = swizzle::load<CustomerRecord>(value.data());
    row.warehouse = warehouse;
    row.district = small_at(key, 4);
    row.id = number_at(key, 5);
    row.balance = record.balance;
    row.ytd_payment = record.ytd_payment;
    row.payment_count = record.payment_count;
    row.delivery_count = record.delivery_count;
    visit(row);
  });
}

Result<> EmbeddedBackend::visit_orders(std::uint32_t warehouse, const Visitor<Order>& visit) {
  return scan(TableName::orders, Key{}.number(warehouse), [&](Bytes key, Bytes value) {
    const auto record = swizzle::load<OrderRecord>(value.data());
    visit({.warehouse = warehouse,
           .district = small_at(key, 4),
           .id = number_at(key, 5),
           .customer = record.customer,
           .entry_date = record.entry_date,
           .carrier = record.carrier,
           .line_count = record.line_count,
           .all_local = record.all_local != 0});
  });
}

Result<> EmbeddedBackend::visit_new_orders(std::uint32_t warehouse,
                                           const Visitor<NewOrder>& visit) {
  return scan(TableName::new_order, Key{}.number(warehouse), [&](Bytes key, Bytes) {
    visit({.warehouse = warehouse, .district = small_at(key, 4), .order = number_at(key, 5)});
  });
}

Result<> EmbeddedBackend::visit_order_lines(std::uint32_t warehouse,
                                            const Visitor<OrderLine>& visit) {
  OrderLine row;
  return scan(TableName::order_line, Key{}.number(warehouse), [&](Bytes key, Bytes value) {
    const auto record = swizzle::load<OrderLineRecord>(value.data());
    row.warehouse = warehouse;
    row.district = small_at(key, 4);
    row.order = number_at(key, 5);
    row.number = small_at(key, 9);
    row.item = record.item;
    row.supply_warehouse = record.supply_warehouse;
    row.delivery_date = record.delivery_date;
    row.quantity = record.quantity;
    row.amount = record.amount;
    visit(row);
  });
}

Result<> EmbeddedBackend::visit_history(const Visitor<History>& visit) {
  History row;
  return scan(TableName::history, Key{}, [&](Bytes, Bytes value) {
    const auto record = swizzle::load<HistoryRecord>(value.data());
    row.customer = record.customer;
    row.customer_district = record.customer_district;
    row.customer_warehouse = record.customer_warehouse;
    row.district = record.district;
    row.warehouse = record.warehouse;
    row.amount = record.amount;
    visit(row);
  });
}

Result<> EmbeddedBackend::close() {
  return engine_->close();
}

}  // namespace swizzle::tpcc
