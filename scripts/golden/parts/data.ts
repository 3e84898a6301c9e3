import { counts } from '../counts';
import { cursors } from '../cursors';
import { functions } from '../functions';
import { parking } from '../parking';
import { registry } from '../registry';
import { streamRecords } from '../stream-records';
import { write } from '../write';

void write([cursors, parking, registry, counts, streamRecords, functions]);
