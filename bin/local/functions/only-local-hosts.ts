import dns from 'node:dns';

/** The service in the host name of an endpoint of AWS: `sns` in `sns.us-east-1.amazonaws.com`. */
const AWS_ENDPOINT =
  /(?:^|\.)((?:streams\.)?[a-z0-9-]+)(?:\.dualstack)?(?:\.[a-z]{2,4}(?:-[a-z]+)+-\d)?\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** Services of the developer's own servers. The SDK does not call them. */
const OWN_SERVERS = ['appsync-api', 'execute-api', 'rds'];

/**
 * Lets each connection to an endpoint of AWS fail with the name of the service and of the function. The emulators are
 * on this machine, so a function of a local run has no reason to call AWS.
 */
export function onlyLocalHosts(functionName: string): void {
  const { lookup } = dns;
  const guarded = (host: string, ...rest: unknown[]) => {
    const service = AWS_ENDPOINT.exec(host)?.[1];
    if (service === undefined || OWN_SERVERS.includes(service)) return Reflect.apply(lookup, dns, [host, ...rest]);
    const problem = `${service} is not emulated: the function ${functionName} called ${host}`;
    process.nextTick(rest.at(-1) as (error: Error) => void, new Error(problem));
  };
  dns.lookup = guarded as typeof lookup;
}
