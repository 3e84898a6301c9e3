import { commands } from '../commands';
import { write } from '../write';

void write([commands]);
