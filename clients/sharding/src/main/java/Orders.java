import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * Orders and transfers over shards, as scripts/sharded-orders starts them:
 * URL,URL,… WAREHOUSES TERMINALS REMOTE-PERCENT TRANSFER-PERCENT MILLISECONDS, of which each terminal begins
 * one transaction in so many; 0: as soon as the last has ended. Prints `running` when it is, rests from the line
 * `rest` to the line `go`, stops at the line `stop`, or at the end of its input, waits until nothing is in doubt,
 * and says what it finds.
 */
public final class Orders {
  private static final int PATIENCE_SECONDS = 90;

  public static void main(String[] arguments) throws Exception {
    String[] urls = arguments[0].split(",");
    int warehouses = Integer.parseInt(arguments[1]);
    int count = Integer.parseInt(arguments[2]);
    int transferPercent = Integer.parseInt(arguments[4]);
    long pace = Long.parseLong(arguments[5]);
    Cluster cluster = new Cluster(urls, 2 * count + 4);
    Work work = new Work(warehouses, Integer.parseInt(arguments[3]));
    Schema.create(cluster);
    Schema.load(cluster, warehouses);
    List<Terminal> terminals = new ArrayList<>();
    for (int i = 0; i < count; ++i) terminals.add(new Terminal(cluster, work, i, transferPercent, pace));
    terminals.forEach(Thread::start);
    say("running");
    BufferedReader words = new BufferedReader(new InputStreamReader(System.in));
    for (String line = words.readLine(); line != null && !line.equals("stop"); line = words.readLine()) {
      if (line.equals("count")) say("count " + done(terminals));
      boolean rests = line.equals("rest");
      if (rests || line.equals("go")) terminals.forEach(terminal -> terminal.rests = rests);
    }
    terminals.forEach(Terminal::end);
    for (Terminal terminal : terminals) terminal.join(60_000);
    Audit audit = new Audit(cluster);
    for (Terminal terminal : terminals) {
      if (terminal.isAlive()) audit.problems.add("a terminal does not end");
      if (terminal.surprise != null) audit.problems.add(terminal.surprise.toString());
    }
    int inDoubt = audit.inDoubtAfter(PATIENCE_SECONDS);
    audit.money(Schema.BALANCE * Schema.CUSTOMERS * warehouses);
    audit.transfers(terminals);
    audit.orders();
    audit.problems.stream().limit(20).forEach(problem -> say("problem " + problem));
    say("end orders=" + terminals.stream().mapToLong(t -> t.orders).sum()
        + " transfers=" + terminals.stream().mapToLong(t -> t.acknowledged.size()).sum()
        + " unknown=" + terminals.stream().mapToLong(t -> t.unknown.size()).sum()
        + " failed=" + terminals.stream().mapToLong(t -> t.failed).sum()
        + " indoubt=" + inDoubt + " problems=" + audit.problems.size());
    System.exit(audit.problems.isEmpty() ? 0 : 1);
  }

  private static long done(List<Terminal> terminals) {
    return terminals.stream().mapToLong(t -> t.done).sum();
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
