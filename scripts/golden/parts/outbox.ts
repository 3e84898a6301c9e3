import { outbox } from '../outbox';
import { write } from '../write';

void write([outbox]);
