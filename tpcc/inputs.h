#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "tpcc/schema.h"
#include "tpcc/tpcc_random.h"

/// The terminal's input for the five transactions (clauses 2.4.1 to 2.8.1).
namespace swizzle::tpcc {

struct NewOrderInput {
  struct Line {
    std::uint32_t item = 0;  ///< one that does not exist makes the transaction roll back
    std::uint32_t supply_warehouse = 0;
    std::uint32_t quantity = 0;
  };
  static constexpr std::size_t kMaxLines = 15;

  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t customer = 0;
  std::uint32_t line_count = 0;
  /// Ordered by supplying warehouse and item, so that concurrent orders ask for stock in the same
  /// order; an unused item stays last, as clause 2.4.1.5 wants it.
  std::array<Line, kMaxLines> lines;
  [[nodiscard]] bool all_local() const noexcept;
};

/// Either a number or, when that is 0, a last name.
struct CustomerChoice {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t id = 0;
  std::string last;
};

struct PaymentInput {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  CustomerChoice customer;
  Cents amount = 0;
};

struct OrderStatusInput {
  CustomerChoice customer;
};

struct DeliveryInput {
  std::uint32_t warehouse = 0;
  std::uint32_t carrier = 0;
};

struct StockLevelInput {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::int32_t threshold = 0;
};

using Input =
    std::variant<NewOrderInput, PaymentInput, OrderStatusInput, DeliveryInput, StockLevelInput>;
/// The index of Input's alternatives.
enum class Kind : std::uint8_t { new_order, payment, order_status, delivery, stock_level };
inline constexpr std::size_t kKinds = 5;
[[nodiscard]] const char* name_of(Kind kind) noexcept;

/// Choice of remote warehouses: as the specification wants, or none. Without locking there must be
/// none: sessions with a warehouse each then never touch the same rows.
enum class Reach : std::uint8_t { all_warehouses, own_warehouse };

/// Chooses transactions by the specification's mix and makes their inputs.
class InputSource {
 public:
  /// `home` 0: a random warehouse for every transaction; otherwise the terminal's own.
  InputSource(Sizes sizes, std::uint64_t seed, std::uint32_t home,
              Reach reach = Reach::all_warehouses) noexcept
      : random_(sizes, seed, TpccRandom::Phase::run),
        sizes_(sizes),
        home_(home),
        has_remote_(reach == Reach::all_warehouses && sizes.warehouses > 1) {}

  [[nodiscard]] Input next();
  [[nodiscard]] NewOrderInput new_order();
  [[nodiscard]] PaymentInput payment();
  [[nodiscard]] OrderStatusInput order_status();
  [[nodiscard]] DeliveryInput delivery();
  [[nodiscard]] StockLevelInput stock_level();
  [[nodiscard]] TpccRandom& random() noexcept { return random_; }

 private:
  [[nodiscard]] std::uint32_t warehouse() noexcept;
  [[nodiscard]] std::uint32_t other_warehouse(std::uint32_t than) noexcept;
  [[nodiscard]] CustomerChoice customer(std::uint32_t warehouse, std::uint32_t district);

  TpccRandom random_;
  Sizes sizes_;
  std::uint32_t home_;
  bool has_remote_;
};

}  // namespace swizzle::tpcc
