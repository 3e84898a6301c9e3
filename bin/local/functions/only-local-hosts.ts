import dns from 'node:dns';
import net from 'node:net';
import tls from 'node:tls';
import { ENDPOINT_VARIABLES, serviceName, serviceOfHost } from './aws-endpoint';

/**
 * Keeps the calls of a function to AWS on this machine. A call to an emulated service goes to its local endpoint, also if
 * the SDK of the function does not read the variables of the endpoints: version 2 of the SDK for JavaScript never does.
 * A call to another service fails with the name of the service and of the function.
 *
 * @param onNotEmulated called for each call to a service that is not emulated
 */
export function onlyLocalHosts(functionPath: string, onNotEmulated: (service: string, problem: string) => void): void {
  const { lookup } = dns;
  const guarded = (host: string, ...rest: unknown[]) => {
    const service = serviceOfHost(host);
    if (service === undefined) return Reflect.apply(lookup, dns, [host, ...rest]);
    const problem = `${serviceName(service)} is not emulated: the function ${functionPath} called ${host}`;
    onNotEmulated(service, problem);
    process.nextTick(rest.at(-1) as (error: Error) => void, new Error(problem));
  };
  dns.lookup = guarded as typeof lookup;

  const { env } = process;
  const { connect } = tls;
  // The modules https and http2 of Node.js, and fetch, call this function for each connection.
  const connectLocally = (...given: unknown[]) => {
    const host = String(typeof given[0] === 'object' ? Object(given[0]).host : given[1]);
    const endpoint = env[ENDPOINT_VARIABLES[serviceOfHost(host) ?? ''] ?? ''];
    if (endpoint === undefined) return Reflect.apply(connect, tls, given);
    const { port, hostname } = new URL(endpoint);
    const socket = net.connect(Number(port), hostname);
    return socket.once('connect', () => socket.emit('secureConnect'));
  };
  tls.connect = connectLocally as typeof connect;
}
