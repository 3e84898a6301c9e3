import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import fc from 'fast-check';
import ts from 'typescript';
import packageJson from '../../../package.json';
import EXPORTS from '../../support/door-exports.json';
import { randomRuns, randomRunsTimeout } from '../../support/random-runs';

/** Tests the exports of the built package, and the size of an import from each entry point. */

const ROOT = join(__dirname, '../../..');
const NAME = packageJson.name;

const modules = Object.keys(packageJson.exports)
  .filter((door) => !door.endsWith('.jsii') && !door.endsWith('.json'))
  .map((door) => join(NAME, door));
const doors = modules.filter((name) => name !== NAME && name !== `${NAME}/core`);

const exportsOf = exportReader(modules);

describe('the package', () => {
  test.each([NAME, ...doors])('%s exports the names that door-exports.json lists', (name) => {
    expect(exportsOf(name)).toEqual(EXPORTS[name as keyof typeof EXPORTS]);
  });

  test('core exports the names of all entry points except testing', () => {
    const others = doors.filter((name) => name !== `${NAME}/testing`).map(exportsOf);
    const union = (kind: 'values' | 'types') => [...new Set(others.flatMap((each) => each[kind]))].sort();
    expect(exportsOf(`${NAME}/core`)).toEqual({ values: union('values'), types: union('types') });
  });
});

describe('an app that imports the constructs', () => {
  const printed = (script: string) =>
    JSON.parse(execFileSync(process.execPath, ['-e', script], { cwd: ROOT, encoding: 'utf8' }));

  test('loads only the constructs that it uses', () => {
    const [first, used] = printed(`
      const constructs = require('${NAME}');
      const loaded = () => Object.keys(require.cache).flatMap((file) => file.replaceAll('\\\\', '/').split('/dist/lib/')[1] ?? []);
      const first = loaded();
      constructs.UniformStream;
      console.log(JSON.stringify([first, loaded()]));`);
    const checkOfVersions = 'construct/supported-cdk.js';
    expect(first).toEqual(['index.js', checkOfVersions]);
    expect(used).toEqual(['index.js', checkOfVersions, 'stream/uniform-stream.js']);
  });

  test('can import every construct by name from an ES module', () => {
    const { values } = EXPORTS[NAME as keyof typeof EXPORTS];
    const script = `import { ${values.join(', ')} } from '${NAME}'; console.log([${values.join(', ')}].length);`;
    const options = { cwd: ROOT, encoding: 'utf8' } as const;
    const count = execFileSync(process.execPath, ['--input-type=module', '-e', script], options);
    expect(Number(count)).toBe(values.length);
  });
});

describe('an application that imports one name', () => {
  /** The maximum of minified bytes. A limit allows 15 percent more than the size at the time of writing. */
  const LIMITS = {
    'consumer: deaggregate': 7_800,
    'producer: OrderedProducer': 45_800,
    'sharded-index: fanOutQuery': 59_200,
    'adaptive-counts: AdaptiveIndex': 12_500,
    'registry: balancedKey': 2_200,
    'resharding: planStreamReshard': 4_300,
    'keyspaces: fanOutSelect': 48_900,
    'planning: planIndex': 15_500,
    'outbox: OutboxRelay': 60_300,
    'testing: FakeKinesis': 18_500,
  };

  test.each(Object.entries(LIMITS))('%s – bundles at most %i bytes', (entry, limit) => {
    const [door, name] = entry.split(': ');
    expect(minifiedBytes(`export { ${name} } from '${NAME}/${door}';`)).toBeLessThanOrEqual(limit);
  });

  test('the limits contain every entry point', () => {
    const measured = Object.keys(LIMITS).map((entry) => `${NAME}/${entry.split(': ')[0]}`);
    expect(measured.sort()).toEqual([...doors].sort());
  });

  test('bundles nothing if the imports have no names', () => {
    expect(minifiedBytes(modules.map((name) => `import '${name}';`).join('\n'))).toBe(0);
  });
});

type BundleSettings = Pick<BuildOptions, 'conditions' | 'platform' | 'packages' | 'minify'>;

describe('an ES module bundle of all entry points for applications', () => {
  const CONDITIONS = ['browser', 'deno', 'development', 'import', 'module', 'node', 'production', 'require', 'worker'];
  const settings: fc.Arbitrary<BundleSettings> = fc.record({
    conditions: fc.option(fc.subarray([...CONDITIONS, 'source']), { nil: undefined }),
    platform: fc.constantFrom('node', 'neutral', 'browser'),
    packages: fc.constantFrom('bundle', 'external'),
    minify: fc.boolean(),
  });
  const names = modules.filter((name) => name !== NAME);

  /**
   * Another package in the bundle may `require` the module that the application imports. The program cannot `require`
   * external packages.
   */
  const program = (required: boolean) => `
    ${names.map((name, at) => `import * as door${at} from '${name}';`).join('\n')}
    const doors = [${names.map((_, at) => `door${at}`)}];
    const required = ${required ? `[${names.map((name) => `require('${name}')`)}]` : 'doors'};
    let error;
    try { required[${names.indexOf(`${NAME}/registry`)}].balancedKey(-1); } catch (thrown) { error = thrown; }
    console.log(JSON.stringify({
      exported: doors.map((door) => Object.keys(door).filter((name) => !/^(default|module.exports|__esModule)$/.test(name)).sort()),
      isSameClass: doors.every((door) => !door.EvenShardsError || error instanceof door.EvenShardsError),
    }));`;

  const run = ({ platform, packages, ...options }: BundleSettings) => {
    const { outputFiles } = buildSync({
      ...options,
      stdin: { contents: program(packages === 'bundle'), resolveDir: ROOT },
      bundle: true,
      format: 'esm',
      platform,
      packages,
      ...(platform !== 'node' && { external: ['node:*'] }),
      write: false,
      logLevel: 'error',
    });
    const child = { cwd: ROOT, encoding: 'utf8', input: outputFiles[0]!.text } as const;
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-'], child));
  };

  test(
    'for any platform and any export conditions, exports every name and has one copy of each class',
    () => {
      const exported = names.map((name) => exportsOf(name).values);
      fc.assert(
        fc.property(settings, (options) => {
          expect(run(options)).toEqual({ exported, isSameClass: true });
        }),
        {
          numRuns: randomRuns(10),
          examples: [[{ conditions: ['node'], platform: 'node', packages: 'bundle', minify: false }]],
        },
      );
    },
    randomRunsTimeout(30_000),
  );
});

/** Bundles a module as an application does: for Node.js, minified, with imports of the entry points of the package. */
function minifiedBytes(contents: string): number {
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    external: ['aws-cdk-lib', 'constructs'],
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.contents.byteLength;
}

/** Reads the names that modules export: values, which exist at run time, and types. */
function exportReader(names: readonly string[]): (name: string) => { values: string[]; types: string[] } {
  const declarations = (name: string) => createRequire(__filename).resolve(name).replace(/\.js$/, '.d.ts');
  const options = { module: ts.ModuleKind.Node20, target: ts.ScriptTarget.ES2023, noEmit: true, types: [] };
  const host = ts.createCompilerHost(options);
  const { fileExists } = host;
  // Ignores the types of other packages, because reading them takes long and does not change the exported names.
  host.fileExists = (path) => !path.includes('/node_modules/') && fileExists(path);
  const program = ts.createProgram(names.map(declarations), options, host);
  const checker = program.getTypeChecker();
  return (name) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(declarations(name))!)!;
    const values = Object.keys(createRequire(__filename)(name)).sort();
    const all = checker.getExportsOfModule(module).map((symbol) => symbol.name);
    return { values, types: all.filter((each) => !values.includes(each)).sort() };
  };
}
