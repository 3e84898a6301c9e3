import { replay } from '../explore';
import { handOverScenario } from './hand-over-scenario';

const scenario = handOverScenario('requests fail', { before: ['a1'], behind: ['a2'], faults: 2, crashes: 0, batch: 1 });

// The explorer found this schedule: the record took effect before the consumer stored the number of the fence.
test('a rejected record that Kinesis stores late does not take effect after the move of its key', () =>
  replay(scenario, [
    'request 1 is late',
    'time 25',
    'request 2 arrives, entry 1 refused',
    'request 2 is answered',
    'request 3 arrives',
    'request 1 arrives late',
    'request 3 is answered',
    'request 4 arrives',
    'request 4 is answered',
    'request 5 arrives',
    'request 5 is answered',
    'reader 1 passes a fence 1',
    'reader 1 ends a move 2',
    'reader 2 looks at a move 1',
    'reader 2 handles 2',
  ]));
