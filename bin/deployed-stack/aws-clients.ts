import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { LOCAL_REGION } from '../local/assembly/emulated-types';
import { LOCAL_CLIENT } from '../local/functions/lambda-environment';
import { isLoopback } from '../loopback-host';

/** The endpoints of the services. @default the endpoints of AWS, with the credentials and the region of the environment */
interface ServiceEndpoints {
  /** The endpoint of all services without a separate endpoint. */
  readonly endpoint?: string;
  readonly kinesis?: string;
  readonly dynamodb?: string;
  readonly region?: string;
}

/**
 * All callers of an account share a limit of a few control requests a second. So the SDK's default of three attempts
 * may not be enough.
 */
const ATTEMPTS = 8;

export interface AwsClients {
  readonly cloudformation: CloudFormation;
  readonly cloudwatch: CloudWatch;
  readonly dynamodb: DynamoDB;
  readonly kinesis: Kinesis;
}

/** Clients of the services that commands read and write. The clients send nothing before the first call. */
export function awsClients({ endpoint, kinesis, dynamodb, region }: ServiceEndpoints = {}): AwsClients {
  const options = (own: string | undefined) => {
    const at = own ?? endpoint;
    // An emulator on this machine accepts any credentials, and must not receive the credentials of the user.
    if (at !== undefined && isLoopback(new URL(at).hostname))
      return {
        endpoint: at,
        region: region ?? process.env.AWS_REGION ?? LOCAL_REGION,
        ...LOCAL_CLIENT,
      };
    return { ...(at !== undefined && { endpoint: at }), ...(region !== undefined && { region }) };
  };
  return {
    cloudformation: new CloudFormation({ ...options(undefined), maxAttempts: ATTEMPTS }),
    cloudwatch: new CloudWatch({ ...options(undefined), maxAttempts: ATTEMPTS }),
    dynamodb: new DynamoDB({ ...options(dynamodb), maxAttempts: ATTEMPTS }),
    // The client's default is HTTP/2, which fails on a plain-text endpoint.
    kinesis: new Kinesis({ ...options(kinesis), maxAttempts: ATTEMPTS, requestHandler: new NodeHttpHandler() }),
  };
}

export function destroyClients(clients: AwsClients): void {
  for (const client of Object.values(clients)) client.destroy();
}
