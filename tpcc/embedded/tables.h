#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "storage/engine.h"
#include "tpcc/schema.h"

namespace swizzle::tpcc {

/// The trees of a TPC-C database: nine tables, and two indexes whose entries are keys only.
enum class TableName : std::uint8_t {
  warehouse,
  district,
  customer,
  history,
  new_order,
  orders,
  order_line,
  item,
  stock,
  customer_by_name,   ///< (warehouse, district, last, first, id)
  order_by_customer,  ///< (warehouse, district, customer, order)
};
inline constexpr std::size_t kTables = 11;
[[nodiscard]] const char* name_of(TableName table) noexcept;

/// The facts that the engine does not keep: which tree is which table, and how much was loaded.
/// Kept in a small text file inside the data directory, written when the load is complete.
struct Catalog {
  Sizes sizes;
  std::array<TreeId, kTables> trees{};

  static Result<Catalog> read(const std::filesystem::path& directory);
  Result<> write(const std::filesystem::path& directory) const;
};

/// Handles on all trees. Each session has its own copy.
class Tables {
 public:
  static Result<Tables> open(Engine& engine, const Catalog& catalog);
  [[nodiscard]] Tree& operator[](TableName table) noexcept {
    return trees_[static_cast<std::size_t>(table)];
  }

 private:
  std::vector<Tree> trees_;
};

}  // namespace swizzle::tpcc
