import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { describeInvoiceTable } from '../support/plays/invoice-table';
import { randomRuns } from '../support/random-runs';

/** dynalite has no transactions, so the writes of one are sent one after the other. */
describeInvoiceTable(startDynamoDbEmulator, { transactional: false, histories: randomRuns(20) });
