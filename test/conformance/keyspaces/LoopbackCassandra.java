import java.io.IOException;
import org.apache.cassandra.service.CassandraDaemon;

/**
 * Starts Cassandra. The configuration in the given folder makes Cassandra listen on the loopback interface. The
 * program prints a line when Cassandra accepts queries. It ends when its standard input ends, so also when the process
 * that started it ends.
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
      // The process that started this program has ended, too.
    }
    Runtime.getRuntime().halt(0);
  }
}
