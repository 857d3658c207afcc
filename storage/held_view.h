#pragma once

#include <utility>

#include "storage/transaction.h"

/// Views of statements that run within or beside others of their transaction.
namespace swizzle {

/// A statement within the running one: a constraint's check or action, or a part of a definition.
/// It sees its transaction's changes up to now, and those of other transactions that `sees`
/// selects, at READ COMMITTED always the latest. The outer statement keeps its own view.
class InnerStatement {
 public:
  explicit InnerStatement(Transaction& transaction, ReadView::Sees sees = ReadView::Sees::latest)
      : transaction_(transaction), outer_(transaction.begin_inner(sees)) {}
  InnerStatement(const InnerStatement&) = delete;
  InnerStatement& operator=(const InnerStatement&) = delete;
  ~InnerStatement() { transaction_.end_inner(outer_); }

 private:
  Transaction& transaction_;
  ReadView outer_;
};

/// View of a statement at its start, kept for as long as the statement is read while others of its
/// transaction run. Must be destroyed before the transaction.
class HeldView {
 public:
  HeldView() = default;
  explicit HeldView(Transaction& transaction)
      : transaction_(&transaction), view_(transaction.hold_view()) {}
  HeldView(const HeldView&) = delete;
  HeldView& operator=(const HeldView&) = delete;
  HeldView(HeldView&& other) noexcept
      : transaction_(std::exchange(other.transaction_, nullptr)), view_(other.view_) {}
  HeldView& operator=(HeldView&& other) noexcept {
    std::swap(transaction_, other.transaction_);
    std::swap(view_, other.view_);
    return *this;
  }
  ~HeldView() { reset(); }
  void reset() noexcept {
    if (transaction_ != nullptr) std::exchange(transaction_, nullptr)->release_view(view_);
  }

  /// While it lives, reads use the view, if there is one.
  class Reading {
   public:
    explicit Reading(const HeldView& view) : transaction_(view.transaction_) {
      if (transaction_ != nullptr) outer_ = transaction_->exchange_view(view.view_);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      if (transaction_ != nullptr) static_cast<void>(transaction_->exchange_view(outer_));
    }

   private:
    Transaction* transaction_;
    ReadView outer_;
  };

 private:
  Transaction* transaction_ = nullptr;
  ReadView view_;
};

}  // namespace swizzle
