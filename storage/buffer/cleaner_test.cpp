#include "storage/buffer/cleaner.h"

#include <catch2/catch.hpp>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/buffer/page_state.h"
#include "storage/latch/guards.h"
#include "storage/space/test_pages.h"

using namespace swizzle;
using namespace swizzle::test;
using namespace std::chrono_literals;

namespace {

// Pages of these tests have one reference, after the header.
constexpr std::size_t kRefOffset = 64;

PageRef* ref_in(std::byte* page) {
  return static_cast<PageRef*>(static_cast<void*>(page + kRefOffset));
}

constexpr PageLayout kLayout{[](std::byte* page, PageLayout::RefVisitor visit, void* context) {
  visit(context, ref_in(page));
}};

// A log that consists of LSNs only.
class FakeLog final : public LogGate {
 public:
  void flush_to(Lsn lsn) override {
    if (const auto hook = std::exchange(once_before_flush, nullptr)) hook();
    Lsn seen = durable;
    while (seen < lsn && !durable.compare_exchange_weak(seen, lsn)) continue;
  }
  Lsn append() { return Lsn{tail.fetch_add(8)}; }

  std::atomic<std::uint64_t> tail{8};
  std::atomic<Lsn> durable{Lsn::none};
  std::function<void()> once_before_flush;
};

// Checks P15 and P16 at the device: no page is written before its log, and no page contains an
// address.
class Shim final : public ImageCheck {
 public:
  explicit Shim(FakeLog& log) : log_(log) {}
  void before_write(const PageImage& image) noexcept override {
    INVARIANT(load<PageHeader>(image.bytes).lsn <= log_.durable.load());
    INVARIANT((load<std::uint64_t>(image.bytes + kRefOffset) >> 63U) == 0);
    ++images;
  }
  std::uint64_t images = 0;

 private:
  FakeLog& log_;
};

// Frames with pages, as in a pool.
class Pool {
 public:
  Pool(SimulatedDisk& disk, std::uint32_t frames, Duration interval = 100ms)
      : arena(FrameArena::map(std::uint64_t{frames} * Frame::kStride).value()),
        volume(Volume::open(disk, kDirectory).value()),
        shim(log),
        cleaner(arena, *volume, log, kLayout, {.dirty_percent = 10, .interval = interval}) {
    volume->set_image_check(&shim);
  }
  Frame& load_page(std::uint64_t id) {
    Frame& frame = *arena.first_use();
    put(frame, id);
    return frame;
  }
  static void put(Frame& frame, std::uint64_t id) {
    fill_page(frame.page(), PageId{id}, 0);
    store_ref(ref_in(frame.page()), PageRef{});
    PageState::assign(frame, PageId{id});
    PageState::become_resident(frame);
  }
  Lsn update(Frame& frame) {
    const ExclusiveGuard hold(frame.latch);
    const Lsn lsn = log.append();
    frame.mark_dirty(lsn);
    auto header = load<PageHeader>(frame.page());
    header.lsn = lsn;
    store(frame.page(), header);
    std::memset(frame.page() + 128, static_cast<int>(raw(lsn) / 8 % 251), kPageBytes - 128);
    return lsn;
  }
  Lsn on_disk(std::uint64_t id) {
    AlignedBuffer page(kPageBytes);
    REQUIRE(volume->read_page(PageId{id}, page.data()));
    return load<PageHeader>(page.data()).lsn;
  }

  FrameArena arena;
  FakeLog log;
  std::unique_ptr<Volume> volume;
  Shim shim;
  Cleaner cleaner;
};

void make_large_volume(SimulatedDisk& disk) {
  REQUIRE(disk.create_directory(kDirectory));
  REQUIRE(Volume::create(disk, kDirectory, kDatabase));
  REQUIRE(Volume::open(disk, kDirectory).value()->grow_to(1024));
  disk.sync_everything();
}

}  // namespace

TEST_CASE("P15 P16 what is dirty is written after its log and without addresses", "[cleaner]") {
  SimulatedDisk disk;
  make_large_volume(disk);
  Pool pool{disk, 400};
  std::vector<Frame*> frames;
  for (std::uint64_t id = 1; id <= 300; ++id) frames.push_back(&pool.load_page(id));
  store_ref(ref_in(frames[0]->page()), PageRef{frames[7]});
  std::vector<Lsn> newest;
  for (Frame* frame : frames) newest.push_back(pool.update(*frame));
  REQUIRE(pool.cleaner.clean_all());
  REQUIRE(pool.shim.images == 300);
  for (std::uint64_t id = 1; id <= 300; ++id) {
    REQUIRE(pool.on_disk(id) == newest[id - 1]);
    REQUIRE(frames[id - 1]->is_clean());
  }
  AlignedBuffer page(kPageBytes);
  REQUIRE(pool.volume->read_page(PageId{1}, page.data()));
  REQUIRE(load_ref(ref_in(page.data())) == PageRef{PageId{8}});
  REQUIRE(load_ref(ref_in(frames[0]->page())) == PageRef{frames[7]});

  REQUIRE(pool.cleaner.clean_all());
  REQUIRE(pool.shim.images == 300);  // clean pages are not written
}

TEST_CASE("clean_until writes what the redo point needs, and no more", "[cleaner]") {
  SimulatedDisk disk;
  make_large_volume(disk);
  Pool pool{disk, 40};
  std::vector<Frame*> frames;
  for (std::uint64_t id = 1; id <= 20; ++id) frames.push_back(&pool.load_page(id));
  std::vector<Lsn> lsns;
  for (Frame* frame : frames) lsns.push_back(pool.update(*frame));
  REQUIRE(pool.cleaner.clean_until(lsns[12]));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    REQUIRE(frames[i]->is_clean() == (i < 12));
    REQUIRE(oldest_unwritten(*frames[i]) == (i < 12 ? Lsn::none : lsns[i]));
  }
}

TEST_CASE("P19 an update, a free and a reuse between copy and stamp", "[cleaner]") {
  SimulatedDisk disk;
  make_large_volume(disk);
  Pool pool{disk, 10};
  Frame& updated = pool.load_page(1);
  Frame& freed = pool.load_page(2);
  Frame& reused = pool.load_page(3);
  const Lsn before = pool.update(updated);
  pool.update(freed);
  pool.update(reused);
  Lsn after = Lsn::none;
  Lsn of_new_page = Lsn::none;
  pool.log.once_before_flush = [&] {
    // The copies have been made and not been written yet.
    REQUIRE(updated.writing_since.load() == before);
    REQUIRE_FALSE(updated.is_clean());
    after = pool.update(updated);
    for (Frame* frame : {&freed, &reused}) {
      const ExclusiveGuard hold(frame->latch);
      frame->dirty_since = Lsn::none;
      PageState::release(*frame);
    }
    Pool::put(reused, 4);
    of_new_page = pool.update(reused);
  };
  REQUIRE(pool.cleaner.clean_all());
  REQUIRE(pool.on_disk(1) == before);
  REQUIRE(oldest_unwritten(updated) == after);
  REQUIRE(freed.is_clean());
  REQUIRE(oldest_unwritten(reused) == of_new_page);
  REQUIRE(pool.cleaner.clean_all());
  REQUIRE(pool.on_disk(1) == after);
  REQUIRE(pool.on_disk(4) == of_new_page);
  REQUIRE(updated.is_clean());
  REQUIRE(reused.is_clean());
}

TEST_CASE("a failed write leaves its pages dirty, and everybody is told", "[cleaner]") {
  SimulatedDisk disk;
  make_large_volume(disk);
  Pool pool{disk, 10};
  Frame& frame = pool.load_page(1);
  const Lsn lsn = pool.update(frame);
  pool.log.once_before_flush = [&] { pool.update(frame); };
  disk.inject({.operation = DiskOperation::sync});
  REQUIRE_FALSE(pool.cleaner.clean_all());
  REQUIRE(frame.dirty_since.load() == lsn);
  REQUIRE(frame.writing_since.load() == Lsn::none);
  REQUIRE_FALSE(pool.cleaner.clean_all());
}

TEST_CASE("the background task cleans too much, too old, and for room", "[cleaner]") {
  SimulatedDisk disk;
  make_large_volume(disk);
  Simulation simulation{5};
  simulation.run([&] {
    Pool pool{disk, 200, 10ms};
    pool.cleaner.start();
    Runtime& runtime = Runtime::current();
    std::vector<Frame*> frames;
    for (std::uint64_t id = 1; id <= 100; ++id) frames.push_back(&pool.load_page(id));
    for (int i = 0; i < 15; ++i) pool.update(*frames[static_cast<std::size_t>(i)]);
    runtime.sleep_until(runtime.now() + 1s);
    REQUIRE(pool.shim.images == 0);  // below the limit of 20

    pool.cleaner.set_redo_target(Lsn{8 * 6});
    runtime.sleep_until(runtime.now() + 1s);
    REQUIRE(pool.shim.images == 5);

    for (Frame* frame : frames) pool.update(*frame);
    runtime.sleep_until(runtime.now() + 1s);
    std::size_t dirty = 0;
    for (Frame* frame : frames) dirty += frame->is_clean() ? 0U : 1U;
    REQUIRE(dirty <= 20);
    REQUIRE(dirty >= 10);

    pool.cleaner.nudge();  // Evictors found no clean page.
    runtime.sleep_until(runtime.now() + 1s);
    for (Frame* frame : frames) REQUIRE(frame->is_clean());
    pool.cleaner.stop();
  });
}

TEST_CASE("a failure of the background task is reported", "[cleaner]") {
  SimulatedDisk disk;
  make_large_volume(disk);
  Simulation simulation{6};
  simulation.run([&] {
    Pool pool{disk, 10};
    std::string reported;
    Cleaner cleaner(pool.arena, *pool.volume, pool.log, kLayout,
                    {.dirty_percent = 0,
                     .on_failure = [&](const Error& error) { reported = error.message(); }});
    disk.inject({.operation = DiskOperation::sync});
    pool.update(pool.load_page(1));
    cleaner.start();
    Runtime::current().sleep_until(Runtime::current().now() + 1s);
    REQUIRE_FALSE(reported.empty());
    cleaner.stop();
  });
}

TEST_CASE("P31 a crash while cleaning under load leaves every page whole", "[cleaner][crash]") {
  constexpr std::uint64_t kPages = 60;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    SimulatedDisk disk{seed};
    make_large_volume(disk);
    Random random{seed};
    // LSNs that are on disk for certain, as the redo point promises.
    std::vector<Lsn> promised(kPages + 1, Lsn::none);
    Lsn durable = Lsn::none;
    Simulation simulation{seed};
    simulation.run([&] {
      Pool pool{disk, 80, 1ms};
      std::vector<Frame*> frames;
      for (std::uint64_t id = 1; id <= kPages; ++id) {
        frames.push_back(&pool.load_page(id));
        pool.update(*frames.back());
      }
      REQUIRE(pool.cleaner.clean_all());
      for (std::uint64_t id = 1; id <= kPages; ++id) promised[id] = pool.on_disk(id);
      pool.cleaner.start();
      disk.cut_power_at(DiskOperation::change, random.between(1, 80));
      for (int i = 0; i < 1500; ++i) {
        const std::uint64_t id = random.between(1, kPages);
        Frame& frame = *frames[id - 1];
        if (frame.is_clean()) promised[id] = load<PageHeader>(frame.page()).lsn;
        pool.update(frame);
        durable = pool.log.durable;
        if (random.one_in(20)) pool.cleaner.nudge();
        if (random.one_in(100)) static_cast<void>(pool.cleaner.clean_until(Lsn{random() % 8000}));
        if (random.one_in(4)) Runtime::current().sleep_until(Runtime::current().now() + 50us);
        durable = pool.log.durable;
      }
      pool.cleaner.stop();
    });
    disk.crash(seed);
    auto volume = Volume::open(disk, kDirectory).value();
    AlignedBuffer page(kPageBytes);
    for (std::uint64_t id = 1; id <= kPages; ++id) {
      CAPTURE(id);
      REQUIRE(volume->read_page(PageId{id}, page.data()));
      REQUIRE(load<PageHeader>(page.data()).lsn >= promised[id]);
    }
  }
}

TEST_CASE("a scan of a large pool finds work in proportion to what it looks at", "[cleaner]") {
  SimulatedDisk disk;
  constexpr std::uint64_t kPages = 24'000;
  REQUIRE(disk.create_directory(kDirectory));
  REQUIRE(Volume::create(disk, kDirectory, kDatabase));
  REQUIRE(Volume::open(disk, kDirectory).value()->grow_to(kPages + 100));
  Simulation simulation{1};
  simulation.run([&] {
    Pool pool{disk, kPages + 10, 1ms};
    std::vector<Frame*> frames;
    for (std::uint64_t id = 1; id <= kPages; ++id) frames.push_back(&pool.load_page(id));
    for (Frame* frame : frames) pool.update(*frame);
    pool.cleaner.start();
    while (pool.cleaner.counters().pages.load() < kPages) {
      pool.cleaner.nudge();
      Runtime::current().sleep_until(Runtime::current().now() + 1ms);
    }
    INFO(pool.cleaner.counters().scans.load() << " scans");
    CHECK(pool.cleaner.counters().scans.load() < 16);
    pool.cleaner.stop();
  });
}
