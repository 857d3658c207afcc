import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** One client: orders and transfers of one warehouse, one after the other, whatever fails. */
final class Terminal extends Thread {
  private final Cluster cluster;
  private final Work work;
  private final int number;
  private final int transferPercent;
  private volatile boolean stopped;

  /** What was done so far, for whoever asks meanwhile. */
  volatile long done;
  long orders;
  long failed;
  Throwable surprise;
  /** Transfers that were acknowledged. */
  final List<Long> acknowledged = new ArrayList<>();
  /** Transfers of which nobody said how they ended. */
  final List<Long> unknown = new ArrayList<>();

  Terminal(Cluster cluster, Work work, int number, int transferPercent) {
    this.cluster = cluster;
    this.work = work;
    this.number = number;
    this.transferPercent = transferPercent;
    setDaemon(true);
  }

  void end() {
    stopped = true;
  }

  @Override
  public void run() {
    long transfer = 0;
    int home = work.homeOf(number);
    while (!stopped) {
      boolean moves = ThreadLocalRandom.current().nextInt(100) < transferPercent;
      long id = moves ? number * 10_000_000L + ++transfer : 0;
      try (Connection c = cluster.connect()) {
        c.setAutoCommit(false);
        try {
          if (moves) {
            work.transfer(c, home, id);
            acknowledged.add(id);
          } else {
            work.newOrder(c, home);
            ++orders;
          }
          done = orders + acknowledged.size();
        } catch (SQLException error) {
          if (moves) unknown.add(id);
          ++failed;
          c.rollback();
        }
      } catch (SQLException error) {
        // The connection, or its rollback, went with a shard.
        pause();
      } catch (RuntimeException error) {
        // What the transaction manager has no SQLException for; a row that is not there is ours.
        if (error instanceof IllegalStateException && surprise == null) surprise = error;
        ++failed;
        if (moves && (acknowledged.isEmpty() || acknowledged.get(acknowledged.size() - 1) != id)) unknown.add(id);
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
