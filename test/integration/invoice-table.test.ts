import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { describeInvoiceTable } from '../support/plays/invoice-table';
import { randomRuns } from '../support/random-runs';

describeInvoiceTable(startDynamoDbEmulator, { histories: randomRuns(5) });
