import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find(existsSync)
const NOBODY = 65_534

/** False: tests behind a pooler are left out. `apt-get install pgbouncer` brings it. */
export const hasPgbouncer = PROGRAM !== undefined

/**
 * Starts PgBouncer with four sessions of a user on a server. It ends with the test. `ignored`:
 * settings of a session that it drops; it refuses others.
 */
export async function startPgbouncer(
  url: string,
  user: string,
  ignored: readonly string[],
  mode: 'transaction' | 'statement' = 'transaction',
): Promise<string> {
  const { hostname, port } = new URL(url)
  const folder = mkdtempSync(join(tmpdir(), 'upshot-pgbouncer-'))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const own = await findFreePort()
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${port} user=${user}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    'default_pool_size = 4',
    `ignore_startup_parameters = ${['extra_float_digits', ...ignored].join(', ')}`,
  ]
  writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(PROGRAM ?? '', ['-q', join(folder, 'pgbouncer.ini')], { ...as, stdio: 'ignore' })
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.kill('SIGKILL')) await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const pooled = new URL(url)
  pooled.port = String(own)
  pooled.username = user
  while (!(await answers(pooled.href))) if (child.exitCode !== null) throw new Error('PgBouncer ended')
  return pooled.href
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
