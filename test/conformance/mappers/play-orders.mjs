// Places, ships and annotates orders with the examples of examples/mappers: node play-orders.mjs <endpoint> <config> <mapper>
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [endpoint, config, mapper] = process.argv.slice(2);
const examples = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../../examples/mappers');
const require = createRequire(join(examples, 'package.json'));
const { DynamoDB } = require('@aws-sdk/client-dynamodb');
const { DynamoDBDocument } = require('@aws-sdk/lib-dynamodb');
const module = await import(pathToFileURL(join(examples, `${mapper}-orders.js`)));

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const dynamoDb = new DynamoDB({ region: 'us-east-1', endpoint, credentials });
// dynamoose uses the client itself, and the other mappers use the document client.
const client = mapper === 'dynamoose' ? dynamoDb : DynamoDBDocument.from(dynamoDb);
const orders = module[`${mapper}Orders`](client, JSON.parse(config));
for (let number = 0; number < 40; number++) await orders.place({ orderId: `o-${number}`, status: 'placed' });
for (let number = 0; number < 20; number++) await orders.ship(`o-${number}`);
for (let number = 10; number < 30; number++) await orders.annotate(`o-${number}`, 'fragile');
