/**
 * The host name of an endpoint that SDKs call. Hosts with the name of a resource in front, such as
 * `orders.us-east-1.elb.amazonaws.com`, are servers of the developer. Exceptions are buckets, queues and account ids.
 */
const AWS_ENDPOINT =
  /^(?:.+\.(?=s3[.-]|queue\.)|\d{12}\.)?((?:(?:api|data|models|runtime|streams)\.)?[a-z0-9-]+?)(?:-fips)?(?:\.dualstack)?(?:\.[a-z]{2,4}(?:-[a-z]+)+-\d)?\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** The service of an endpoint of AWS: `sns` of `sns.us-east-1.amazonaws.com`. Undefined for any other host. */
export function serviceOfHost(host: string): string | undefined {
  return AWS_ENDPOINT.exec(host)?.[1];
}

/** The services that a run emulates, with the environment variables of their local endpoints. */
export const ENDPOINT_VARIABLES: Readonly<Record<string, string>> = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  'streams.dynamodb': 'AWS_ENDPOINT_URL_DYNAMODB_STREAMS',
  kinesis: 'AWS_ENDPOINT_URL_KINESIS',
  lambda: 'AWS_ENDPOINT_URL_LAMBDA',
};

/** Names of services that differ from the first part of their endpoint. */
const NAMES: Readonly<Record<string, string>> = {
  email: 'SES',
  events: 'EventBridge',
  monitoring: 'CloudWatch',
  ssm: 'Systems Manager',
  states: 'Step Functions',
};

/** A service for a reader: `EventBridge (events)`, or `sns`. */
export function serviceName(service: string): string {
  return Object.hasOwn(NAMES, service) ? `${NAMES[service]} (${service})` : service;
}
