import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';

/** Whether certificates can be created on this system. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/**
 * Enables TLS on a server. Creates a certificate authority and a certificate for `localhost`.
 *
 * @returns the file with the certificate of the authority
 */
export async function speakTls(client: Client): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const request = ['req', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl(...request, '-x509', '-subj', '/CN=Test authority', '-keyout', 'ca-key.pem', '-out', 'ca.pem');
  openssl(
    ...request,
    ...['-x509', '-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-keyout', 'server-key.pem', '-out', 'server.pem'],
  );
  // The server writes the files itself, because its user must own the key.
  for (const file of ['server.pem', 'server-key.pem']) {
    const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    const quoted = lines.map((line) => `'${line}'`).join(', ');
    await client.query(`COPY (SELECT unnest(ARRAY[${quoted}])) TO PROGRAM 'umask 077; cat > ${file}'`);
  }
  for (const [setting, value] of [
    ['ssl_cert_file', 'server.pem'],
    ['ssl_key_file', 'server-key.pem'],
    ['ssl', 'on'],
  ]) {
    await client.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
  }
  await client.query('SELECT pg_reload_conf()');
  return join(folder, 'ca.pem');
}
