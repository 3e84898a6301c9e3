import java.lang.reflect.Field;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * DynamoDB Local for this machine alone: its own command listens on every network interface, on a port that is known
 * beforehand. This one listens on the loopback interface, prints the port it was given, and ends with its standard input,
 * and so with the process that started it, however that ends.
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
