import type * as ec2 from 'aws-cdk-lib/aws-ec2';

/**
 * Lets a client connect to a server at a port. The rules belong to the stack of the client: a rule in the stack of the server would
 * name the client, which names the server, and the two stacks would need each other.
 *
 * `client.connections.allowTo` does the same, and warns of each client that may connect to everything.
 */
export function allowConnection(
  client: ec2.IConnectable,
  server: ec2.IConnectable,
  port: ec2.Port,
  description: string,
): void {
  for (const ofServer of server.connections.securityGroups) {
    for (const ofClient of client.connections.securityGroups) {
      ofServer.addIngressRule(ofClient, port, description, true);
      if (!ofClient.allowAllOutbound) ofClient.addEgressRule(ofServer, port, description);
    }
  }
}
