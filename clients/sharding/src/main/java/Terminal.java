import com.atomikos.icatch.jta.UserTransactionManager;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.transaction.Status;

/** One client: orders and transfers of one warehouse, one after the other, whatever fails. */
final class Terminal extends Thread {
  private final Cluster cluster;
  private final Work work;
  private final int number;
  private final int transferPercent;
  private final long paceMillis;
  private volatile boolean stopped;

  /** What was done so far, for whoever asks meanwhile. */
  volatile long done;
  /** Nothing is begun meanwhile. */
  volatile boolean rests;
  long orders;
  long failed;
  Throwable surprise;
  /** Transfers that were acknowledged. */
  final List<Long> acknowledged = new ArrayList<>();
  /** Transfers of which nobody said how they ended. */
  final List<Long> unknown = new ArrayList<>();

  Terminal(Cluster cluster, Work work, int number, int transferPercent, long paceMillis) {
    this.cluster = cluster;
    this.work = work;
    this.number = number;
    this.transferPercent = transferPercent;
    this.paceMillis = paceMillis;
    setDaemon(true);
  }

  void end() {
    stopped = true;
  }

  @Override
  public void run() {
    long transfer = 0;
    // Not all at the same time.
    long next = System.currentTimeMillis() + (paceMillis == 0 ? 0 : ThreadLocalRandom.current().nextLong(paceMillis));
    while (!stopped) {
      if (rests) {
        pause(20);
        continue;
      }
      long now = System.currentTimeMillis();
      if (now < next) {
        pause(next - now);
        continue;
      }
      // What could not be begun in time is not made up for.
      next = Math.max(next + paceMillis, now);
      boolean moves = ThreadLocalRandom.current().nextInt(100) < transferPercent;
      long id = moves ? number * 10_000_000L + ++transfer : 0;
      try {
        transact(id);
        if (moves) {
          acknowledged.add(id);
        } else {
          ++orders;
        }
        done = orders + acknowledged.size();
      } catch (Exception error) {
        // A row that is not there is no shard's absence.
        if (error instanceof Work.Missing && surprise == null) surprise = error;
        ++failed;
        if (moves) unknown.add(id);
        leaveTransaction();
        pause(20);
      }
    }
  }

  /** ShardingSphere lets what XA throws pass undeclared: a commit may fail with any exception. */
  private void transact(long transfer) throws Exception {
    try (Connection c = cluster.connect()) {
      c.setAutoCommit(false);
      try {
        if (transfer != 0) {
          work.transfer(c, work.homeOf(number), transfer);
        } else {
          work.newOrder(c, work.homeOf(number));
        }
      } catch (Exception error) {
        c.rollback();
        throw error;
      }
    }
  }

  /** A transaction that nobody could end is still this thread's: the next one would be a part of it. */
  private static void leaveTransaction() {
    UserTransactionManager manager = new UserTransactionManager();
    try {
      if (manager.getStatus() != Status.STATUS_NO_TRANSACTION) manager.rollback();
    } catch (Exception error) {
      // It has timed out meanwhile: it is nobody's.
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
