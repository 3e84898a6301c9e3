import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { describeInvoiceTable } from '../conformance/invoice-table';
import { randomRuns } from '../random-runs';

/** dynalite has no transactions, so the writes of one are sent one after the other. */
describeInvoiceTable(startDynamoDbEmulator, { transactional: false, histories: randomRuns(20) });
