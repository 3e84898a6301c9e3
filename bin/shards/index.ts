import { areShardsEven, skewOf } from '../../lib/core/resharding/skew';
import { askingAccount } from '../deployed-stack/account-error';
import { awsClients } from '../deployed-stack/aws-clients';
import { endpointOf, parsedFlags, UsageError } from '../flags';
import { print, printText } from '../print';
import { type ListShardsClient, listShards } from './list-shards';
import { shardsReport } from './shards-report';

const COMMAND = 'even-shards shards';

const HELP = `usage: even-shards shards STREAM [options]

Lists the shards of a stream with their hash key ranges, and how even they are. STREAM is a name or an ARN. The command reads Kinesis
with the credentials and the region of the environment, and needs one permission:

  { "Effect": "Allow", "Action": "kinesis:ListShards", "Resource": "arn:aws:kinesis:REGION:ACCOUNT:stream/STREAM" }

  --closed        also list closed shards that still have records, and print the sequence numbers of all shards
  --endpoint URL  the endpoint of Kinesis, such as a local run
  --json          print one JSON document
  --help          show this text

exit code: 0 if the open shards are even, 1 if a shard has more than 1.05 times the hash keys of the mean, 2 if an argument is
invalid, 3 if a request to the account fails.

example: even-shards shards orders`;

const OPTIONS = {
  closed: { type: 'boolean', default: false },
  endpoint: { type: 'string' },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

const EXIT_UNEVEN = 1;

/** `even-shards shards`. */
export async function shards(args: string[], clientOf: (endpoint?: string) => ListShardsClient = kinesis) {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return printText(HELP);
  const [stream, ...others] = positionals;
  if (stream === undefined || others.length > 0) throw new UsageError('give one stream', COMMAND);
  const named = stream.startsWith('arn:') ? { StreamARN: stream } : { StreamName: stream };
  const client = clientOf(endpointOf(COMMAND, 'endpoint', flags.endpoint));
  const listed = await askingAccount(() => listShards(client, named));
  const open = listed.filter(({ isOpen }) => isOpen);
  if (flags.json) {
    const shown = flags.closed ? listed : open;
    printText(JSON.stringify({ stream, skew: skewOf(open), shards: shown }, decimal, 2));
  } else print(shardsReport(stream, listed, flags.closed));
  if (!areShardsEven(open)) process.exitCode = EXIT_UNEVEN;
}

/** Writes a bigint as text, because JSON has no integers of 128 bits. */
function decimal(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function kinesis(endpoint?: string): ListShardsClient {
  return awsClients(endpoint === undefined ? {} : { kinesis: endpoint }).kinesis;
}
