import java.lang.reflect.Field;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts DynamoDB Local on a free port of the loopback interface, and prints the port. The command of DynamoDB Local
 * would listen on every network interface. This program ends when its standard input ends, so also when the process
 * that started it ends.
 */
class LoopbackDynamoDb {
  public static void main(String[] arguments) throws Exception {
    String[] options = {"-inMemory", "-disableTelemetry"};
    DynamoDBProxyServer dynamoDb = ServerRunner.createServerFromCommandLineArgs(options);
    Field field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    ServerConnector connector = (ServerConnector) ((Server) field.get(dynamoDb)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    dynamoDb.safeStart();
    System.out.println("listening on port " + connector.getLocalPort());
    while (System.in.read() != -1) {}
    System.exit(0);
  }
}
