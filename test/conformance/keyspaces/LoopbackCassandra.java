import org.apache.cassandra.service.CassandraDaemon;

/**
 * Cassandra for this machine alone: the folder that it is given says that it listens on the loopback interface. It prints
 * a line once it serves queries, and ends with its standard input, and so with the process that started it, however that
 * ends.
 */
class LoopbackCassandra {
  public static void main(String[] arguments) throws Exception {
    CassandraDaemon daemon = new CassandraDaemon(true);
    daemon.activate();
    System.out.println("listening");
    while (System.in.read() != -1) {}
    Runtime.getRuntime().halt(0);
  }
}
