import type { Client } from 'pg';

/**
 * Groups of similar types. Postgres converts a value of a group to each other type of the group, but prefers a function with
 * exactly the type of the argument.
 */
const ALIKE = [
  ['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric'],
  ['text', 'character varying', 'name', 'bpchar'],
];

/** Only functions in C may have arguments of these types. */
const OF_C_ONLY = /"any"|internal|cstring|trigger|language_handler/;

export interface Traps {
  /**
   * Runs a statement with this search path, to show that traps work: the statement must call the traps of a function, of an
   * operator and of an aggregate. Then resets the traps.
   *
   * @returns the kinds of traps that the statement has called
   */
  control(searchPath: string): Promise<string[]>;
  /** Returns the names of the traps that any session has called. */
  sprung(): Promise<string[]>;
}

/**
 * Creates traps for each function and operator that the statements call. A trap is a function or an operator in
 * `public` that has the name of a function or an operator of Postgres, and records each call. Some traps have the same
 * argument types as the original. Postgres calls such a trap if `public` comes first in the search path. Other traps
 * have argument types that match the call better than the original.
 *
 * @param statements SQL statements. There are traps for each name before a parenthesis, and for each operator
 */
export async function setTraps(stranger: Client, statements: readonly string[]): Promise<Traps> {
  await stranger.query('SET search_path = pg_catalog, pg_temp; SET check_function_bodies = off');
  const sql = statements.join('\n').replaceAll(/--.*$/gm, '');
  const names = [...new Set([...sql.matchAll(/([a-z_][a-z0-9_]*)\s*\(/g)].map(([, name]) => name!))];
  const symbols = [...new Set(sql.replaceAll(/'[^']*'/g, '').match(/[+\-*/<>=~!@#%^&|]+/g))];
  await trapFunctions(stranger, names);
  await trapOperators(stranger, symbols);
  const sprung = async (): Promise<string[]> => {
    const { rows } = await stranger.query(
      "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY 1",
    );
    return rows.map(({ sequencename }) => sequencename);
  };
  return {
    sprung,
    async control(searchPath) {
      await stranger.query(`SET search_path = ${searchPath}`);
      await stranger.query("SELECT count(1), random() * 33554431, hashtextextended('x'::text, 1)");
      await stranger.query('SET search_path = pg_catalog, pg_temp');
      const found = await sprung();
      for (const name of found) await stranger.query('SELECT setval($1, 1, false)', [`public."${name}"`]);
      const kinds = { 'an aggregate': 'count', 'a function': 'hashtextextended', 'an operator': '*' };
      return Object.entries(kinds).flatMap(([kind, name]) => (found.includes(name) ? [kind] : []));
    },
  };
}

async function trapFunctions(stranger: Client, names: readonly string[]): Promise<void> {
  const { rows } = await stranger.query(
    `SELECT p.proname AS name, p.proretset AS "isSet", format_type(p.prorettype, NULL) AS result,
       ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY u (t, n) ORDER BY n) AS types
     FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY($1) AND p.prokind <> 'p'`,
    [names],
  );
  const made = new Set<string>();
  for (const name of new Set(rows.map((row) => row.name as string))) await createSequence(stranger, name);
  for (const { name, isSet, result, types } of rows) {
    for (const each of signatures(types)) {
      const signature = `${name}(${each.join(', ')})`;
      if (made.has(signature)) continue;
      made.add(signature);
      await trap(stranger, name, signature, isSet ? `SETOF ${resultFor(result, each)}` : resultFor(result, each));
    }
  }
}

async function trapOperators(stranger: Client, symbols: readonly string[]): Promise<void> {
  const { rows } = await stranger.query(
    `SELECT oprname AS symbol, format_type(oprresult, NULL) AS result,
       array_remove(ARRAY[format_type(nullif(oprleft, 0), NULL), format_type(nullif(oprright, 0), NULL)], NULL) AS types
     FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprname = ANY($1)`,
    [symbols],
  );
  const made = new Set<string>();
  for (const symbol of new Set(rows.map((row) => row.symbol as string))) await createSequence(stranger, symbol);
  for (const { symbol, result, types } of rows) {
    for (const each of signatures(types)) {
      const key = `${symbol} ${each.join()}`;
      if (made.has(key)) continue;
      made.add(key);
      const name = `trap_${made.size}`;
      if (!(await trap(stranger, symbol, `${name}(${each.join(', ')})`, resultFor(result, each)))) continue;
      const sides = each.length === 2 ? `LEFTARG = ${each[0]}, RIGHTARG = ${each[1]}` : `RIGHTARG = ${each[0]}`;
      await stranger.query(`CREATE OPERATOR public.${symbol} (FUNCTION = public.${name}, ${sides})`).catch(ignore);
    }
  }
}

/** The given list of types, and lists in which similar types replace one type or all types. */
function signatures(types: readonly string[]): string[][] {
  if (types.some((type) => type === '"any"')) {
    return ['integer', 'bigint', 'text', 'bytea', 'anyelement'].flatMap((type) =>
      [1, 2, 3, 4, 5].map((count) => Array.from({ length: count }, () => type)),
    );
  }
  if (types.some((type) => OF_C_ONLY.test(type))) return [];
  const others = (type: string): string[] => ALIKE.find((alike) => alike.includes(type)) ?? [type];
  const one = types.flatMap((type, index) => others(type).map((other) => types.with(index, other)));
  const all = ALIKE.flatMap((alike) =>
    alike.map((other) => types.map((type) => (alike.includes(type) ? other : type))),
  );
  return [[...types], ...one, ...all];
}

function resultFor(result: string, types: readonly string[]): string {
  if (result === 'void') return 'void';
  if (result.startsWith('any')) return types.some((type) => type.startsWith('any')) ? result : 'text';
  return result === 'record' || OF_C_ONLY.test(result) ? 'text' : result;
}

/** Creates the sequence that the traps of a name increase. */
async function createSequence(stranger: Client, name: string): Promise<void> {
  await stranger.query(`CREATE SEQUENCE public."${name}"; GRANT ALL ON SEQUENCE public."${name}" TO PUBLIC`);
}

/** @returns whether Postgres accepts the trap */
async function trap(stranger: Client, name: string, signature: string, result: string): Promise<boolean> {
  const end = result === 'void' || result.startsWith('SETOF') ? 'RETURN' : 'RETURN NULL';
  const body = `BEGIN PERFORM pg_catalog.nextval('public."${name}"'); ${end}; END`;
  return stranger
    .query(`CREATE FUNCTION public.${signature} RETURNS ${result} LANGUAGE plpgsql AS $trap$ ${body} $trap$`)
    .then(() => true, ignore);
}

/** Postgres rejects traps of some types, such as a result without a type. */
function ignore(): boolean {
  return false;
}
