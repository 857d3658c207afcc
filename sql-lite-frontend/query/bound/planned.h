#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace swizzle::sql {

/// Decisions made when a step was planned: expressions, keys, bounds. A copy is a reference to the
/// original, so that the steps of a run (step_copies.h) share it with the plan, which outlives
/// them.
template <class T>
class Planned {
 public:
  Planned() : Planned(T{}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it represents the value
  Planned(T value) : own_(std::make_unique<T>(std::move(value))), at_(own_.get()) {}
  Planned(const Planned& of) noexcept : at_(of.at_) {}
  Planned(Planned&&) noexcept = default;
  Planned& operator=(const Planned&) = delete;
  Planned& operator=(Planned&&) noexcept = default;
  ~Planned() = default;

  [[nodiscard]] const T& operator*() const noexcept { return *at_; }
  [[nodiscard]] const T* operator->() const noexcept { return at_; }
  /// For the planner. Never through a copy, because other runs may use the plan.
  [[nodiscard]] T& change() noexcept { return *at_; }

  [[nodiscard]] auto begin() const noexcept { return at_->begin(); }
  [[nodiscard]] auto end() const noexcept { return at_->end(); }
  [[nodiscard]] bool empty() const noexcept { return at_->empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return at_->size(); }
  [[nodiscard]] const auto& operator[](std::size_t at) const noexcept { return (*at_)[at]; }

 private:
  std::unique_ptr<T> own_;
  T* at_;
};

}  // namespace swizzle::sql
