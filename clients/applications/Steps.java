// What the programs in Java report of themselves: each step by a line, an end at the first that fails.
public abstract class Steps {
  public interface Body {
    void run() throws Exception;
  }
  public interface Condition {
    boolean holds() throws Exception;
  }

  public static void step(String name, Body body) {
    try {
      body.run();
    } catch (Throwable error) {
      error.printStackTrace();
      System.out.println("FAIL " + name + ": " + String.valueOf(error.getMessage()).lines().findFirst().orElse(""));
      System.exit(1);
    }
    System.out.println("ok " + name);
  }

  public static void expect(Object got, Object wanted) {
    if (!String.valueOf(got).equals(String.valueOf(wanted))) throw new AssertionError(got + " instead of " + wanted);
  }

  public static void until(int seconds, Condition condition) throws Exception {
    for (int i = 0; i < seconds * 100; ++i) {
      if (condition.holds()) return;
      Thread.sleep(10);
    }
    throw new AssertionError("not within " + seconds + " s");
  }

  public static String url() {
    return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
  }
}
