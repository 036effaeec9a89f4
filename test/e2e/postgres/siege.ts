import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { CommitNetwork } from '../../store/postgres/support/commit-network.ts'
import { findFreePort } from '../../support/free-port.ts'
import { Network } from '../../support/network.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { execute, startPostgres, type TestServer } from '../../support/postgres-server.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { Cluster, type Process } from './cluster.ts'
import { OF_EACH_EVENT, SIEGE_WORKFLOWS } from './siege-workflows.ts'

const SCHEMA = 'upshot'
const ROLES = { receiver: 'receiver', one: 'worker', two: 'worker', scheduler: 'scheduler' } as const
type Name = keyof typeof ROLES

/** A receiver, two workers and a scheduler on a server with a standby, and their faults. */
export class Siege {
  readonly random: () => number
  readonly acknowledged = new Set<string>()
  /** Faults so far, by their kind. */
  readonly faults: Record<string, number> = {}
  /** Most runs that ever had a place of the limited workflow. */
  mostSlots = 0
  readonly #cluster: Cluster
  readonly #networks: { network: Network; commits: CommitNetwork }[]
  readonly #ports: { receiver: string }
  readonly #processes = new Map<Name, Process>()
  #server: TestServer
  #standby: TestServer | null
  #events = 0

  private constructor(seed: number, parts: Pick<Siege, never> & SiegeParts) {
    this.random = seededRandom(seed)
    this.#cluster = parts.cluster
    this.#networks = parts.networks
    this.#ports = parts.ports
    this.#server = parts.server
    this.#standby = parts.standby
  }

  static async begin(seed: number): Promise<Siege> {
    const server = await startPostgres(['wal_retrieve_retry_interval = 100ms'])
    onTestFinished(() => server.stop())
    const standby = await server.addStandby()
    onTestFinished(() => standby.stop())
    await new Cluster({ url: server.url, schema: SCHEMA }).command('db', 'migrate')
    const networks = await Promise.all([openNetwork(server.port), openNetwork(standby.port)])
    const hosts = networks.map(({ network }) => `127.0.0.1:${network.port}`).join(',')
    const cluster = new Cluster({ url: `postgres://postgres@${hosts}/postgres`, schema: SCHEMA }, {}, SIEGE_WORKFLOWS)
    const siege = new Siege(seed, {
      cluster,
      networks,
      server,
      standby,
      ports: { receiver: `${await findFreePort()}` },
    })
    await Promise.all((Object.keys(ROLES) as Name[]).map((name) => siege.#start(name)))
    return siege
  }

  /** Lines that the steps wrote. */
  get effects(): string[] {
    return this.#cluster.effects()
  }

  async #start(name: Name): Promise<void> {
    const environment: Record<string, string> = name === 'receiver' ? { UPSHOT_PORT: this.#ports.receiver } : {}
    this.#processes.set(name, await this.#cluster.start(ROLES[name], environment))
  }

  /** Delivers so many events, a few at a time and each until it is taken. */
  async deliver(count: number): Promise<void> {
    const last = this.#events + count
    const send = async () => {
      while (this.#events < last) {
        const id = `evt_${++this.#events}`
        while (!(await this.#post(id)));
        this.acknowledged.add(id)
      }
    }
    await Promise.all(Array.from({ length: 12 }, send))
  }

  async #post(id: string): Promise<boolean> {
    const { endpoint } = this.#process('receiver')
    const { status } = await postDelivery(endpoint, WEBHOOK_SECRET, id).catch(() => ({ status: 0 }))
    // The service waits before it tries again.
    if (status !== 200) await pause(20)
    return status === 200
  }

  /** One round of faults, which ends once every process is there again. */
  async strike(): Promise<void> {
    const chance = (share: number) => this.random() < share
    const killed = (Object.keys(ROLES) as Name[]).filter(() => chance(0.3))
    if (killed.length === 0) killed.push('one')
    for (const name of killed) {
      this.#note('killed processes')
      this.#process(name).child.kill('SIGKILL')
    }
    if (chance(0.3)) await this.#endSessions()
    if (chance(0.12)) await this.#killServer()
    if (chance(0.1)) await this.#freeze(killed)
    if (chance(0.2)) await this.#loseCommits()
    if (chance(0.1)) for (const { network } of this.#networks) network.silence()
    await Promise.all(killed.map((name) => this.#start(name)))
  }

  /** The standby takes over with all commits; the server does not come back. */
  async failOver(): Promise<void> {
    const [server, standby] = [this.#server, this.#standby]
    if (standby === null) return
    this.#note('failovers')
    await execute(server, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, 'SELECT pg_reload_conf()')
    const isFollowed = async () =>
      (await execute(server, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)).rowCount === 1
    while (!(await isFollowed()));
    await this.deliver(10)
    await server.kill()
    await standby.promote()
    this.#server = standby
    this.#standby = null
  }

  async #endSessions(): Promise<void> {
    this.#note('rounds of ended sessions')
    await execute(
      this.#server,
      `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
         WHERE application_name = 'upshot' ORDER BY random() LIMIT ${Math.ceil(this.random() * 12)}) AS ended`,
    ).catch(() => {})
  }

  async #killServer(): Promise<void> {
    this.#note('killed servers')
    await this.#server.kill()
    await this.#server.start()
  }

  async #freeze(killed: readonly Name[]): Promise<void> {
    const name = (Object.keys(ROLES) as Name[]).find((each) => !killed.includes(each))
    if (name === undefined) return
    this.#note('frozen processes')
    const { child } = this.#process(name)
    child.kill('SIGSTOP')
    await pause(1_500 * this.random())
    child.kill('SIGCONT')
  }

  /** For half a second, commits are not answered, or never made. */
  async #loseCommits(): Promise<void> {
    this.#note('rounds of lost commits')
    const commits = this.random() < 0.5 ? 'unanswered' : 'cut'
    for (const each of this.#networks) each.commits.commits = commits
    await pause(500)
    for (const each of this.#networks) each.commits.commits = 'answered'
  }

  /** Milliseconds until nothing is open. Throws where that takes too long. */
  async rest(withinMs: number): Promise<number> {
    const startedAt = performance.now()
    for (;;) {
      const open = await this.#look()
      const ms = performance.now() - startedAt
      if (open === 0) return ms
      if (ms > withinMs) throw new Error(`${open} runs are still open: ${JSON.stringify(await this.openRuns())}`)
      await pause(20)
    }
  }

  async #look(): Promise<number> {
    const [row] = await this.query<{ open: string; slots: string }>(
      `SELECT (SELECT count(*) FROM work WHERE workflow <> 'every-second')
         + (SELECT count(*) FROM work WHERE workflow = 'every-second' AND status <> 'running' AND tick_at < $1) AS open,
       (SELECT count(*) FROM gate_slot WHERE workflow = 'limited' AND is_held = 1) AS slots`,
      [Date.now() - 3_000],
    )
    this.mostSlots = Math.max(this.mostSlots, Number(row?.slots))
    return Number(row?.open)
  }

  /** The open runs by workflow and state, with the reason of one of them. */
  openRuns(): Promise<object[]> {
    return this.query('SELECT workflow, status, count(*)::int, min(reason) AS reason FROM work GROUP BY 1, 2')
  }

  /** Runs per second of a load, each with its children, until nothing of it is open. */
  async measure(events: number): Promise<number> {
    const startedAt = performance.now()
    await this.deliver(events)
    await this.rest(REST_MS)
    return (events * OF_EACH_EVENT.length * 1_000) / (performance.now() - startedAt)
  }

  async query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.#server.url, options: `-c search_path=${SCHEMA}` })
    await client.connect()
    try {
      return (await client.query<Row>(sql, values)).rows
    } finally {
      await client.end()
    }
  }

  /** All that the processes wrote beside their logs. */
  stacks(): string {
    return [...this.#processes.values()].map(({ errors }) => errors()).join('')
  }

  #process(name: Name): Process {
    const process = this.#processes.get(name)
    if (!process) throw new Error(`no process ${name}`)
    return process
  }

  #note(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1
  }
}

interface SiegeParts {
  cluster: Cluster
  networks: { network: Network; commits: CommitNetwork }[]
  ports: { receiver: string }
  server: TestServer
  standby: TestServer
}

/** After this long, a run is stuck. */
export const REST_MS = 240_000

async function openNetwork(port: number) {
  const commits = await CommitNetwork.open(port)
  return { commits, network: await Network.open(commits.port) }
}
