#pragma once

#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "storage/engine.h"
#include "tpcc/backend.h"
#include "tpcc/embedded/session.h"
#include "tpcc/embedded/tables.h"

namespace swizzle::tpcc {

/// TPC-C directly on the storage engine, in process and without SQL.
class EmbeddedBackend final : public Backend {
 public:
  enum class Start : std::uint8_t { create, open };
  static Result<std::unique_ptr<EmbeddedBackend>> start(Start how, FileSystem& files,
                                                        const std::filesystem::path& directory,
                                                        const EngineOptions& options,
                                                        const SessionSettings& settings);

  Result<> load(const Population& population, const Progress& progress) override;
  Result<Sizes> sizes() override;
  Result<std::unique_ptr<Session>> session(std::uint32_t number) override;
  Result<> visit_warehouse(std::uint32_t warehouse, const Visitor<Warehouse>& visit) override;
  Result<> visit_districts(std::uint32_t warehouse, const Visitor<District>& visit) override;
  Result<> visit_customers(std::uint32_t warehouse, const Visitor<Customer>& visit) override;
  Result<> visit_orders(std::uint32_t warehouse, const Visitor<Order>& visit) override;
  Result<> visit_new_orders(std::uint32_t warehouse, const Visitor<NewOrder>& visit) override;
  Result<> visit_order_lines(std::uint32_t warehouse, const Visitor<OrderLine>& visit) override;
  Result<> visit_history(const Visitor<History>& visit) override;
  Result<> close() override;

  [[nodiscard]] Engine& engine() noexcept { return *engine_; }

 private:
  EmbeddedBackend(std::filesystem::path directory, SessionSettings settings,
                  std::unique_ptr<Engine> engine)
      : directory_(std::move(directory)), settings_(settings), engine_(std::move(engine)) {}
  Result<> open_tables(const Catalog& catalog);
  /// Visits every row whose key begins with `prefix`.
  Result<> scan(TableName table, const Key& prefix,
                const std::function<void(Bytes key, Bytes value)>& visit);

  std::filesystem::path directory_;
  SessionSettings settings_;
  std::unique_ptr<Engine> engine_;
  Catalog catalog_;
  Tables tables_;
};

}  // namespace swizzle::tpcc
