import { template } from '../template';
import { write } from '../write';

void write([template]);
