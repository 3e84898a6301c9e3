import { FailureTally } from '../../../../lambda/producer/failure-tally';

test.each(['constructor', '__proto__', 'toString', 'AccessDeniedException'])(
  'FailureTally counts records that failed with an error whose name is %s',
  (name) => {
    const failures = new FailureTally();
    for (let record = 0; record < 3; record++) failures.add(Object.assign(new Error('x'), { name }));
    expect(Object.entries(failures.counts)).toEqual([[name, 3]]);
    expect(failures.total).toBe(3);
  },
);
