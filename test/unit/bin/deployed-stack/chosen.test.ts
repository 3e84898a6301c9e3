import { chosen } from '../../../../bin/deployed-stack/target';

const ALL = ['Shop/Table', 'Shop/Keeper/Table', 'Shop/Events'].map((path) => ({ path }));
const choose = (name?: string) => () => chosen('even-shards put', 'a table or a stream', ALL, name);

test('finds a resource by its path, or by the end of its path', () => {
  expect(choose('Events')()).toEqual({ path: 'Shop/Events' });
  expect(choose('Keeper/Table')()).toEqual({ path: 'Shop/Keeper/Table' });
});

test('if several resources have a name, the message lists only these resources', () => {
  expect(choose('Table')).toThrow(
    /more than one table or stream is called Table: there is Shop\/Table, Shop\/Keeper\/Table: see/,
  );
});

test('if no resource has a name, the message lists all resources', () => {
  expect(choose('Tables')).toThrow(/no table or stream is called Tables: there is Shop\/Table, .*, Shop\/Events: see/);
  expect(choose()).toThrow(/name a table or a stream: there is Shop\/Table, .*, Shop\/Events: see/);
});
