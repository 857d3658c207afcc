#pragma once

#include <memory>
#include <vector>

#include "sql-lite-frontend/routines/plpgsql/frame.h"

namespace swizzle::sql::plpgsql {

/// Unused frames of one function, kept so that a repeated call allocates no memory.
class FramePool {
 public:
  explicit FramePool(Program& program) : program_(program) {}

  class Use {
   public:
    Use(FramePool& pool, StatementContext& session, const Routine& routine) : pool_(pool) {
      if (pool.idle_.empty()) {
        frame_ = std::make_unique<Frame>(pool.program_, session, routine);
      } else {
        frame_ = std::move(pool.idle_.back());
        pool.idle_.pop_back();
        frame_->make_room();
      }
      frame_->execution.transaction = session.transaction.get();
      frame_->execution.run = session.new_run();
      session.call_places.push_back(frame_.get());
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      frame_->session.call_places.pop_back();
      if (pool_.idle_.size() >= kKept) return;
      frame_->reset();
      pool_.idle_.push_back(std::move(frame_));
    }
    [[nodiscard]] Frame& frame() const noexcept { return *frame_; }

   private:
    FramePool& pool_;
    std::unique_ptr<Frame> frame_;
  };

 private:
  static constexpr std::size_t kKept = 4;
  Program& program_;
  std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace swizzle::sql::plpgsql
