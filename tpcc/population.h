#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tpcc/schema.h"

namespace swizzle::tpcc {

/// The initial rows (clause 4.3.3.1). Every function gives the same rows for the same sizes and
/// seed, so a loader may fill the tables in any order and even ask twice.
class Population {
 public:
  Population(Sizes sizes, std::uint64_t seed, Microseconds now) noexcept
      : sizes_(sizes), seed_(seed), now_(now) {}

  [[nodiscard]] const Sizes& sizes() const noexcept { return sizes_; }

  [[nodiscard]] Item item(std::uint32_t id) const;
  [[nodiscard]] Warehouse warehouse(std::uint32_t id) const;
  [[nodiscard]] District district(std::uint32_t warehouse, std::uint32_t id) const;
  [[nodiscard]] Stock stock(std::uint32_t warehouse, std::uint32_t item) const;
  [[nodiscard]] Customer customer(std::uint32_t warehouse, std::uint32_t district,
                                  std::uint32_t id) const;
  [[nodiscard]] History history(const Customer& customer) const;

  /// A district's orders in ascending order, each with its lines. Undelivered ones have no carrier.
  struct OrderWithLines {
    Order order;
    std::vector<OrderLine> lines;
  };
  [[nodiscard]] std::vector<OrderWithLines> orders(std::uint32_t warehouse,
                                                   std::uint32_t district) const;
  [[nodiscard]] bool is_new(std::uint32_t order) const noexcept {
    return order > sizes_.delivered_orders();
  }

 private:
  Sizes sizes_;
  std::uint64_t seed_;
  Microseconds now_;
};

}  // namespace swizzle::tpcc
