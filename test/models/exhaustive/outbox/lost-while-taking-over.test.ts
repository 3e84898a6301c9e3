import { replay } from '../explore';
import { outboxScenario } from './outbox-scenario';

const scenario = outboxScenario('a lock is lost, rows are parked', {
  workers: 2,
  writers: [{ rows: ['a1', 'a2'], ends: 'commit' }],
  ended: 1,
  windowRows: 2,
  rowsOfAKey: 1,
  fates: ['loses its locks'],
  faults: 1,
});

// Found by the explorer, before the statement that deletes copies named the fence: worker 1 deleted what worker 2 had parked.
test('a worker that lost a range while it took it over does not delete what the next holder has parked', () =>
  replay(scenario, [
    'worker 1 locks a range',
    'worker 1 takes a range over',
    'worker 1 loses its locks',
    'worker 2 locks a range',
    'worker 2 takes a range over',
    'worker 2 forgets what is not covered',
    'worker 2 lists parked keys',
    'worker 2 looks',
    'worker 2 reads a window',
    'worker 2 request 1 arrives',
    'worker 2 reads a window',
    'worker 2 parks',
    'worker 1 forgets what is not covered',
    'worker 2 request 1 is answered',
    'worker 2 reads parked rows',
    'worker 1 lists parked keys',
  ]));
