#pragma once

#include <array>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "storage/buffer/buffer_pool.h"
#include "storage/buffer/page_store.h"

namespace swizzle::testing {

/// A data file in memory, with a cleaner that writes all dirty pages when it is woken. It checks
/// the rules of a device: no address in an image, pages allocated before they are read.
class MemoryStore final : public PageStore {
 public:
  using Image = std::array<std::byte, kPageBytes>;

  Result<Lsn> read_page(PageId page, std::byte* into) override {
    std::unique_lock hold(mutex_);
    ++at_gate_;
    gate_opens_.wait(hold, [this] { return gate_is_open_; });
    --at_gate_;
    if (fail_reads_ > 0) {
      --fail_reads_;
      return fail(sqlstate::io_error, "injected read error");
    }
    if (const auto lacking = lacking_.find(raw(page)); lacking != lacking_.end()) {
      std::memcpy(into, lacking->second.data(), kPageBytes);
      return Lsn{1};
    }
    const auto found = pages_.find(raw(page));
    if (found == pages_.end())
      return fail(sqlstate::data_corrupted, "a page is read that was never written");
    std::memcpy(into, found->second.data(), kPageBytes);
    RETURN_IF_ERROR(check_page(into, page));
    return Lsn::none;
  }
  /// Prefetches end at once, or, while they are held, with release_reads().
  void start_reads(std::span<PageRead* const> reads) noexcept override {
    for (PageRead* read : reads) {
      const bool is_whole = !lacks_changes(read->page) && read_page(read->page, read->into);
      read->request.error = is_whole ? 0 : EIO;
      std::unique_lock hold(mutex_);
      if (holds_reads_) {
        held_reads_.push_back(read);
      } else {
        hold.unlock();
        read->done(*read);
      }
    }
  }
  /// Makes every page without a frame lack changes: its stored image is useless until the page is
  /// written.
  void lose_changes(BufferPool& pool) {
    std::set<std::uint64_t> resident;
    pool.arena().for_each_used([&](Frame& frame) { resident.insert(raw(frame.page_id())); });
    const std::lock_guard hold(mutex_);
    for (auto& [page, image] : pages_) {
      if (resident.contains(page)) continue;
      lacking_.emplace(page, image);
      unwritten_.insert(page);
      image[kPageBytes / 2] ^= std::byte{0xff};
    }
  }
  void entered(PageId page) noexcept override {
    const std::lock_guard hold(mutex_);
    lacking_.erase(raw(page));
  }
  [[nodiscard]] bool lacks_changes(PageId page) const noexcept override {
    const std::lock_guard hold(mutex_);
    return lacking_.contains(raw(page));
  }
  [[nodiscard]] std::vector<PageId> lacking() {
    const std::lock_guard hold(mutex_);
    std::vector<PageId> all;
    for (const auto& [page, image] : lacking_) all.push_back(PageId{page});
    return all;
  }
  /// Returns the pages that lost changes and were not written since.
  [[nodiscard]] std::set<std::uint64_t> unwritten() {
    const std::lock_guard hold(mutex_);
    return unwritten_;
  }
  /// Damages the stored page, as if the device returned other bytes.
  void damage(PageId page) {
    const std::lock_guard hold(mutex_);
    pages_.at(raw(page))[kPageBytes / 2] ^= std::byte{0xff};
  }
  [[nodiscard]] Image image_of(PageId page) {
    const std::lock_guard hold(mutex_);
    return pages_.at(raw(page));
  }
  /// Returns this image from now on, which passes its checksum.
  void put_image(PageId page, Image image) {
    seal_page(image.data());
    const std::lock_guard hold(mutex_);
    pages_.at(raw(page)) = image;
  }
  /// Reads wait at a closed gate.
  void close_gate() {
    const std::lock_guard hold(mutex_);
    gate_is_open_ = false;
  }
  void open_gate() {
    {
      const std::lock_guard hold(mutex_);
      gate_is_open_ = true;
    }
    gate_opens_.notify_all();
  }
  [[nodiscard]] int reads_at_gate() {
    const std::lock_guard hold(mutex_);
    return at_gate_;
  }
  void hold_reads() {
    const std::lock_guard hold(mutex_);
    holds_reads_ = true;
  }
  std::size_t release_reads() {
    std::unique_lock hold(mutex_);
    holds_reads_ = false;
    const std::vector<PageRead*> reads = std::move(held_reads_);
    held_reads_.clear();
    hold.unlock();
    for (PageRead* read : reads) read->done(*read);
    return reads.size();
  }
  Result<PageId> reserve_page(std::optional<PageId> /*near*/) override {
    const std::lock_guard hold(mutex_);
    if (!free_.empty()) {
      const std::uint64_t page = *free_.begin();
      free_.erase(free_.begin());
      return PageId{page};
    }
    return PageId{next_++};
  }
  void cancel_reservation(PageId page) noexcept override {
    const std::lock_guard hold(mutex_);
    free_.insert(raw(page));
  }
  void mark_allocated(PageId page) noexcept override {
    const std::lock_guard hold(mutex_);
    allocated_.insert(raw(page));
  }
  void mark_free(PageId page) noexcept override {
    const std::lock_guard hold(mutex_);
    allocated_.erase(raw(page));
    pages_.erase(raw(page));
    lacking_.erase(raw(page));
    unwritten_.erase(raw(page));
    free_.insert(raw(page));
  }

  [[nodiscard]] bool is_allocated(PageId page) const noexcept override {
    return allocated_.contains(raw(page));
  }

  /// Writes dirty pages of `pool` whenever it asks.
  void clean_for(BufferPool& pool) {
    pool_ = &pool;
    pool.on_dirty_pressure([](void* self) { static_cast<MemoryStore*>(self)->clean(); }, this);
  }
  void clean() {
    pool_->arena().for_each_used([this](Frame& frame) { clean_frame(frame); });
  }
  void fail_next_reads(int count) { fail_reads_ = count; }
  [[nodiscard]] std::size_t allocated() const { return allocated_.size(); }

 private:
  /// Cleans a frame, unless it is latched: the caller may be evicting, under a policy's mutex that
  /// the latch's holder waits for.
  void clean_frame(Frame& frame) {
    if (!frame.latch.try_lock_shared()) return;
    clean_latched(frame);
    frame.latch.unlock_shared();
  }
  void clean_latched(Frame& frame) {
    if (frame.dirty_since.load() == Lsn::none || frame.state() == FrameState::free) return;
    alignas(64) Image copy;
    std::memcpy(copy.data(), frame.page(), kPageBytes);
    unswizzle_copy(pool_->layout(), copy.data());
    pool_->layout().visit_refs(
        copy.data(),
        [](void* /*context*/, PageRef* reference) {
          INVARIANT(!load_ref(reference).is_swizzled());
        },
        nullptr);
    seal_page(copy.data());
    {
      const std::lock_guard store_hold(mutex_);
      pages_[raw(frame.page_id())] = copy;
      unwritten_.erase(raw(frame.page_id()));
    }
    frame.dirty_since.store(Lsn::none);
  }

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Image> pages_;
  std::map<std::uint64_t, Image> lacking_;
  std::set<std::uint64_t> unwritten_;
  std::set<std::uint64_t> allocated_;
  std::set<std::uint64_t> free_;
  std::uint64_t next_ = 1;
  int fail_reads_ = 0;
  bool gate_is_open_ = true;
  int at_gate_ = 0;
  std::condition_variable gate_opens_;
  bool holds_reads_ = false;
  std::vector<PageRead*> held_reads_;
  BufferPool* pool_ = nullptr;
};

}  // namespace swizzle::testing
