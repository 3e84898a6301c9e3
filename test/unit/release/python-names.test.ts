import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Tests the names in the docstrings of the Python module. jsii keeps the TypeScript names there, so the release
 * replaces them.
 */

const MODULE = join(__dirname, '../../conformance/languages/python-names.mjs');

const types = {
  'p.Index': {
    name: 'Index',
    docs: {
      summary:
        'Has `shardCounts`, and `Index.fromIndexAttributes`; `bindWriter(fn)` and `byStatus.bindWriter(fn)` bind.',
      remarks: 'A record has `partitionKey`. Use `fanOutQuery`.\n\n```ts\nindex.bindWriter(`shardCounts`);\n```\n',
      example: 'index.bindWriter(`shardCounts`)',
      custom: { throws: 'as `bindWriter` does' },
    },
    initializer: { parameters: [{ name: 'props', type: { fqn: 'p.IndexProps' } }] },
    methods: [{ name: 'bindWriter' }, { name: 'fromIndexAttributes', static: true }],
  },
  'p.IndexProps': { name: 'IndexProps', datatype: true, properties: [{ name: 'shardCounts' }] },
  'p.Event': { name: 'Event', properties: [{ name: 'partitionKey' }] },
};

/** Runs the module in a Node.js process, because jest does not load ES modules. */
function docsInPython(): Record<string, unknown> {
  const program = `
    import { withPythonNames } from ${JSON.stringify(MODULE)};
    const assembly = { types: ${JSON.stringify(types)}, readme: { markdown: 'With \`addIndex\` and \`bindWriter\`.' } };
    const { types, readme } = withPythonNames(assembly);
    console.log(JSON.stringify({ ...types['p.Index'].docs, readme: readme.markdown }));`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' }));
}

test('docstrings have Python names for methods, for members of the documented type, and for members after the name of another type', () => {
  const { summary, custom, readme } = docsInPython();
  expect(summary).toBe(
    'Has `shard_counts`, and `Index.from_index_attributes`; `bind_writer(fn)` and `by_status.bind_writer(fn)` bind.',
  );
  expect(custom).toEqual({ throws: 'as `bind_writer` does' });
  expect(readme).toBe('With `addIndex` and `bind_writer`.');
});

test('docstrings keep the names of event fields, of the run-time API for Node.js, and of examples', () => {
  const { remarks, example } = docsInPython();
  expect(remarks).toBe(
    'A record has `partitionKey`. Use `fanOutQuery`.\n\n```ts\nindex.bindWriter(`shardCounts`);\n```\n',
  );
  expect(example).toBe('index.bindWriter(`shardCounts`)');
});
