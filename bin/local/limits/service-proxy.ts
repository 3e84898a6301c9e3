import { Agent, createServer } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { APIS, type Call, type Gate, gatedService, Service } from '../emulators/gated-service';
import { closeServer, endpointOf, listenOnLoopback } from '../loopback';

interface ServiceProxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Listens on the loopback interface in front of a service, and passes requests through a gate. */
export async function startServiceProxy(
  endpoint: string,
  api: keyof typeof APIS,
  gated: ReadonlySet<string>,
  gateFor: (call: Call) => Gate,
): Promise<ServiceProxy> {
  const agent = new Agent({ keepAlive: true });
  const service = new Service(APIS[api], { agent, ...urlToHttpOptions(new URL(endpoint)) });
  const server = createServer(gatedService(service, gated, gateFor(service.call)));
  await listenOnLoopback(server);
  return {
    endpoint: endpointOf(server),
    stop: async () => {
      const closed = closeServer(server);
      agent.destroy();
      await closed;
    },
  };
}
