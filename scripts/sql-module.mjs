// Writes lib/core/outbox/sql/generated.ts with the text of the .sql files beside it, so that every compiler and bundler finds the
// SQL. Git ignores the module. npm ci, the build, lint, tests and the other scripts of package.json call this script first.
// After a change of a .sql file, run npm run sql.
//
// Each file of migrations/ is one step of the schema. The file name begins with the version of the schema after this
// step. A file of queries/ holds statements. Each statement begins with a line such as "-- name: readBatch" and ends
// with a semicolon. The script leaves out comment lines and indentation of queries, so that bundles are small.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../lib/core/outbox/sql');
const MODULE = join(FOLDER, 'generated.ts');

const text = sqlModule();
if (!existsSync(MODULE) || readFileSync(MODULE, 'utf8') !== text) {
  // Another program may read the module at this moment, so the script replaces the file in one step.
  const written = `${MODULE}.${process.pid}`;
  writeFileSync(written, text);
  renameSync(written, MODULE);
}

function sqlModule() {
  const migrations = filesOf('migrations').map(({ file, sql }) => {
    const version = Number(file.match(/^(\d{4})_/)?.[1]);
    if (!(version > 0)) throw new Error(`a migration must have a name such as 0003_outbox.sql, got ${file}`);
    return { version, sql: literal(sql) };
  });
  const statements = filesOf('queries').flatMap(({ file, sql }) => statementsOf(file, sql));
  const names = statements.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`two statements have the name ${twice}`);
  const constants = statements.map(({ name, statement }) => `const ${name} = ${literal(statement)};\n`);
  return `// Made by scripts/sql-module.mjs from the .sql files beside it.

export const FIRST_VERSION = ${migrations[0].version};

export const LATEST_VERSION = ${migrations.at(-1).version};

export const MIGRATIONS: readonly { readonly version: number; readonly sql: string }[] = [
${migrations.map(({ version, sql }) => `  { version: ${version}, sql: ${sql} },\n`).join('')}];

${constants.join('\n')}
export const STATEMENTS = {
${names.map((name) => `  ${name},\n`).join('')}};
`;
}

function filesOf(folder) {
  const files = readdirSync(join(FOLDER, folder)).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => ({ file, sql: readFileSync(join(FOLDER, folder, file), 'utf8') }));
}

function statementsOf(file, sql) {
  const [, ...parts] = sql.split(/^-- name: /m);
  return parts.map((part) => {
    const [name, ...lines] = part.split('\n');
    const text = lines.filter((line) => !line.startsWith('--')).map((line) => line.trim());
    const statement = text.join('\n').trim();
    if (!/^[a-z]\w*$/i.test(name)) throw new Error(`${file}: a name must be one word, got ${name}`);
    if (!/^[^;]+;$/.test(statement))
      throw new Error(`${file}: ${name} must be one statement that ends with a semicolon`);
    return { name, statement: statement.slice(0, -1) };
  });
}

function literal(sql) {
  return `\`${sql.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;
}
