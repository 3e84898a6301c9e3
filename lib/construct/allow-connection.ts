import type * as ec2 from 'aws-cdk-lib/aws-ec2';

/**
 * Allows a client to connect to a port of a server. The rules belong to the stack of the client. A rule in the stack
 * of the server would refer to the client. The client already refers to the server, so the two stacks would have a
 * circular dependency.
 *
 * `client.connections.allowTo` does the same, but warns if the client already allows all outbound connections.
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
