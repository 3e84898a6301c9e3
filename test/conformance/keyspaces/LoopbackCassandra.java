import java.io.IOException;
import org.apache.cassandra.service.CassandraDaemon;

/**
 * Cassandra for this machine alone: the folder that it is given says that it listens on the loopback interface. It prints
 * a line once it serves queries, and ends with its standard input, and so with the process that started it, however and
 * whenever that ends.
 */
class LoopbackCassandra {
  public static void main(String[] arguments) throws Exception {
    Thread leash = new Thread(LoopbackCassandra::endWithInput);
    leash.start();
    new CassandraDaemon(true).activate();
    System.out.println("listening");
    leash.join();
  }

  private static void endWithInput() {
    try {
      while (System.in.read() != -1) {}
    } catch (IOException closed) {
      // It has ended, too.
    }
    Runtime.getRuntime().halt(0);
  }
}
