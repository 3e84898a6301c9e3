import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const { version, devDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url)));

/** The oldest CDK that the package supports. */
const OLDEST = { version: devDependencies['aws-cdk-lib'], constructs: devDependencies.constructs };

/** The version of the Go bindings of the CDK. go/go.mod explains why this is not the newest version. */
const FOR_GO = { version: '2.260.0', constructs: '10.6.0' };

/**
 * The properties of each language:
 *
 * - the commands that check its tools
 * - the further options of jsii-pacmak
 * - the runs of its programs, which return the versions of the CDK and of constructs
 * - the program in TypeScript that must create the same assembly, if this program is not `typescript/app.ts`
 */
export const LANGUAGES = {
  python: {
    tools: [['python3', '-m', 'venv', '--help']],
    published: (packages) => ({ environment: { PIP_FIND_LINKS: join(packages, 'python') } }),
    runs: ({ folder, packages, run, translate }) => [
      (env) => {
        const [wheel] = readdirSync(join(packages, 'python')).filter((file) => file.endsWith('.whl'));
        const python = join(folder, 'bin/python');
        run('python3', ['-m', 'venv', folder]);
        const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
        run(python, [...pip, `aws-cdk-lib==${OLDEST.version}`, `constructs==${OLDEST.constructs}`]);
        run(python, [...pip, '--force-reinstall', '--no-deps', join(packages, 'python', wheel)]);
        run(python, ['test/conformance/languages/python/app.py'], { env });
        for (const file of writePlanned('python', folder)) {
          run(python, ['test/conformance/languages/python/run_planned.py', file], {
            env: { ...env, CDK_OUTDIR: `${file}.out` },
          });
        }
        return OLDEST;
      },
      (env) => {
        const program = 'every-method.ts';
        run(join(folder, 'bin/python'), [translate(program, OLDEST)], { env });
        return { ...OLDEST, program };
      },
    ],
  },
  java: {
    tools: [
      ['javac', '-version'],
      ['mvn', '--version'],
    ],
    published: (packages) => {
      // The copy has no `_remote.repositories` file, so Maven treats the package as installed.
      const installed = join(homedir(), '.m2/repository/io/github/cdk-even-shards');
      rmSync(installed, { recursive: true, force: true });
      cpSync(join(packages, 'java/io/github/cdk-even-shards'), installed, { recursive: true });
      return {};
    },
    runs: ({ folder, packages, run }) => {
      const project = join(folder, 'app');
      const localRepository = join(homedir(), '.m2/repository');
      const maven = (properties, goals, options) => {
        const given = {
          'maven.repo.local': localRepository,
          'packages.directory': join(packages, 'java'),
          ...properties,
        };
        const settings = Object.entries(given).map(([name, value]) => `-D${name}=${value}`);
        run(
          'mvn',
          ['--batch-mode', '--quiet', '--file', project, `-Deven-shards.version=${version}`, ...settings, ...goals],
          options,
        );
      };
      const synthesize = (chosen, env) => {
        rmSync(folder, { recursive: true, force: true });
        cpSync('test/conformance/languages/java', project, { recursive: true });
        writePlanned('java', join(project, 'src/main/java'));
        // The package has the same version in every run, so Maven would otherwise use the package of an earlier run.
        rmSync(join(localRepository, 'io/github/cdk-even-shards'), { recursive: true, force: true });
        // Map.of has a different order in each process. Two runs check that the order does not matter.
        for (let times = 0; times < 2; times++) maven(chosen, ['compile', 'exec:java'], { env });
      };
      const resolved = () => {
        const list = join(folder, 'dependencies.txt');
        maven({ outputFile: list, includeArtifactIds: 'aws-cdk-lib,constructs' }, ['dependency:list']);
        const versionOf = (artifact) => readFileSync(list, 'utf8').match(new RegExp(`:${artifact}:jar:([\\d.]+):`))[1];
        return { version: versionOf('aws-cdk-lib'), constructs: versionOf('constructs') };
      };
      return [
        (env) => {
          synthesize({ 'cdk.version': OLDEST.version, 'constructs.version': OLDEST.constructs }, env);
          return OLDEST;
        },
        // Without a version of the CDK, Maven uses the newest version in the range of the POM.
        (env) => {
          synthesize({}, env);
          return resolved();
        },
      ];
    },
  },
  go: {
    tools: [['go', 'version']],
    // With `--code-only`, jsii-pacmak does not build the Go module. A build would need versions of the bindings that
    // the module proxy does not have.
    pacmak: ['--code-only'],
    published: (packages) => ({
      environment: { GOFLAGS: '-mod=mod' },
      goReplacements: [
        `github.com/cdk-even-shards/cdk-even-shards-go/cdkevenshards=${packages}/go/cdkevenshards`,
      ].concat(replacementsOf('test/conformance/languages/go/go.mod')),
    }),
    runs: ({ folder, run }) => [
      (env) => {
        const app = join(folder, 'app');
        mkdirSync(folder, { recursive: true });
        run('go', ['-C', 'test/conformance/languages/go', 'build', '-o', app, '.']);
        run(app, [], { env });
        return FOR_GO;
      },
    ],
  },
  dotnet: {
    tools: [['dotnet', '--version']],
    page: 'csharp',
    published: (packages) => ({ environment: { RestoreAdditionalProjectSources: join(packages, 'dotnet') } }),
    runs: ({ folder, packages, run }) => [
      (env) => {
        const versions = [`-p:EvenShardsVersion=${version}`, `-p:CdkVersion=${OLDEST.version}`];
        const source = `-p:RestoreAdditionalProjectSources=${join(packages, 'dotnet')}`;
        const build = [
          'build',
          'test/conformance/languages/dotnet',
          '--nologo',
          '--output',
          folder,
          ...versions,
          source,
        ];
        run('dotnet', build);
        run('dotnet', [join(folder, 'Languages.dll')], { env });
        return OLDEST;
      },
    ],
  },
};

/** Reads the replacements of a go.mod for module versions that the module proxy does not have. */
function replacementsOf(file) {
  const lines = [...readFileSync(file, 'utf8').matchAll(/^\t(\S+) => (\S+) (\S+)$/gm)];
  return lines.map(([, module, replacement, at]) => `${module}=${replacement}@${at}`);
}

/** Writes the code that `even-shards plan` prints for a language into files, one stack in each file. */
function writePlanned(language, folder) {
  const bundling = ['--bundle', '--platform=node', '--log-level=warning'];
  const program = execFileSync('node_modules/.bin/esbuild', ['test/support/planned-snippets.ts', ...bundling]);
  const printed = execFileSync(process.execPath, ['-', language], { input: program, encoding: 'utf8' });
  return Object.entries(JSON.parse(printed)).map(([name, code]) => {
    const file = join(folder, `${name}.${{ python: 'py', java: 'java' }[language]}`);
    writeFileSync(file, code);
    return file;
  });
}
