import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sweepFiles } from '../../../src/app/service/sweep-files.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { planRoutes } from '../../../src/author/read-workflow.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import type { SweepPlan } from '../../../src/core/service/sweep/sweep-plan.ts'
import type { CompleteSweep } from '../../../src/core/service/sweep/sweep-state.ts'
import { findMadeUp, makeUpEvents } from '../../../src/engine/reconcile/make-up-events.ts'
import { matchFiles } from '../../../src/engine/reconcile/match-files.ts'
import { Receiver } from '../../../src/receive/receiver.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts'
import type { SweepParts } from '../../../src/schedule/sweep/sweep-parts.ts'
import { decideHeld, stepSweep } from '../../../src/schedule/sweep/sweeper.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { fileFunctions } from '../../schedule/sweep/support/sweep-world.ts'
import { NOW } from '../../support/fixtures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { NO_SERVICE, testConfig, WEBHOOK_SECRET } from '../../support/test-config.ts'
import { createTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { testVaultKey } from '../../support/test-store.ts'

const HOUR = 3_600_000

/** The longest step of the clock, so that deliveries fall due between the requests of a sweep. */
const STEP_MS = 5 * 60_000

export const PLAN: SweepPlan = {
  account: 'default',
  storage: 'storage_a',
  path: '/',
  recursive: true,
  repair: 'events',
  everyMs: HOUR,
  graceMs: 1.5 * HOUR,
  budget: 0.1,
}

/** An event of a file, as the service has it. */
export interface Happening {
  event: string
  type: 'file.created' | 'file.deleted'
  file: string
  at: number
  isDelivered: boolean
}

/** The sandbox, and what an app does with it: receives, runs and sweeps, on one clock. */
export class LossyService {
  readonly sandbox: Sandbox
  /** Complete sweeps, oldest first. */
  readonly complete: CompleteSweep[] = []
  /** Events whose runs were executed, by type and file. */
  readonly executed = new Map<string, Set<string>>()
  /** Called with each request of a sweep. */
  onRequest: () => Promise<void> = async () => {}
  readonly #engine: TestEngine
  readonly #parts: SweepParts
  readonly #given
  #wake = () => {}

  private constructor(sandbox: Sandbox, engine: TestEngine, apiKey: string) {
    const { store, clock, notices } = engine
    this.sandbox = sandbox
    this.#engine = engine
    const service = { ...NO_SERVICE, baseUrl: sandbox.url, apiKey, plan: 'enterprise' } as const
    const { publish } = notices
    const open = sweepFiles(testConfig(engine.folder, { service }), { store, clock, publish, embedded: () => null })
    const filesOf: SweepParts['filesOf'] = async (account) => {
      const { list, ...files } = await open(account)
      return { ...files, list: (query) => this.onRequest().then(() => list(query)) }
    }
    this.#parts = { store, clock, publish, filesOf, owner: 'wrk_1', approvals: { expireMs: 99 * HOUR, needs: 1 } }
    const functions = fileFunctions()
    const routes = () => this.workflows.flatMap(planRoutes)
    this.#given = { store, clock, publish, routes, functions: () => functions, spellingsOf: () => ({}) }
  }

  static async open(): Promise<LossyService> {
    const sandbox = await startSandbox({
      dir: tempFolder(),
      clock: 'manual',
      startAt: NOW,
      hints: false,
      plan: 'enterprise',
      seed: 7,
    })
    onTestFinished(() => sandbox.stop())
    // Nothing here is about disks, and each of thousands of commits would wait for one.
    const store = openSqliteStore({ file: ':memory:', vaultKey: testVaultKey })
    onTestFinished(() => store.close())
    const { key } = await sandbox.keys.create({ name: 'app', scope: 'read-write' })
    const opened = new LossyService(sandbox, createTestEngine({ ...store, folder: tempFolder() }), key)
    await opened.#receive()
    return opened
  }

  /** They note which events they were executed for. */
  readonly workflows = (['file.created', 'file.deleted'] as const).map((type) =>
    defineWorkflow({
      id: type.replace('.', '-'),
      on: type,
      run: ({ event }) => {
        const key = `${type} ${(event.data as { file: { id: string } }).file.id}`
        this.executed.set(key, (this.executed.get(key) ?? new Set()).add(event.id))
      },
    }),
  )

  async #receive(): Promise<void> {
    const { store, clock, notices } = this.#engine
    const endpoint = planEndpoint({ name: 'service', secret: WEBHOOK_SECRET }, NOW)
    await store.addEndpoint(endpoint)
    const worker = await this.#engine.start(this.workflows, {
      slots: 50,
      findMadeUp: (event) => findMadeUp(event, this.#given),
    })
    this.#wake = () => worker.wake()
    const receiver = new Receiver({
      store,
      clock,
      publish: notices.publish,
      routes: this.#given.routes,
      intake: worker,
    })
    onTestFinished(() => receiver.stop())
    const url = await receiver.start({ host: '127.0.0.1', port: 0 })
    await this.sandbox.webhooks.add({ url: `${url}/hooks/${endpoint.path}`, secret: WEBHOOK_SECRET })
  }

  get store(): TestEngine['store'] {
    return this.#engine.store
  }

  get now(): number {
    return this.#engine.clock.now()
  }

  /** Sweeps, matches, makes up and approves for this long. `meanwhile` is called in between. */
  async run(ms: number, meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const until = this.now + ms
    while (this.now < until) {
      await meanwhile()
      await matchFiles(this.#given)
      await makeUpEvents(this.#given)
      await this.#approve()
      await decideHeld(this.#parts)
      const next = await stepSweep(PLAN, this.#parts)
      await this.#noteSweep()
      await this.#moveTo(Math.min(until, this.now + STEP_MS, Math.max(next ?? 0, this.now + 100)))
    }
    await this.settle()
  }

  /** Resolves when every delivery that is due was sent, and every run has ended. */
  async settle(): Promise<void> {
    await this.sandbox.clock.advance(0)
    await matchFiles(this.#given)
    await this.#rest()
  }

  async #rest(): Promise<void> {
    this.#wake()
    for (const status of ['pending', 'running', 'waiting'] as const)
      while ((await this.store.listRuns({ status, limit: 1 })).length > 0) await new Promise(setImmediate)
  }

  /** Moves files to other folders, of which no event tells. */
  async move(from: string, to: string): Promise<void> {
    const storage = this.sandbox.storage('storage_a')
    storage.makeFolder('/moved')
    await rename(join(storage.dir, from), join(storage.dir, to))
  }

  /** Everything that happened to files, and whether the service could tell of it. */
  happenings(): Happening[] {
    const delivered = this.sandbox.deliveries.list({ state: 'delivered' }).map(({ eventId }) => eventId)
    const told = new Set(delivered)
    return this.sandbox.events.list().map(({ id, type, created, data }) => ({
      event: id,
      type: type as Happening['type'],
      file: (data.file as { id: string }).id,
      at: Date.parse(created),
      isDelivered: told.has(id),
    }))
  }

  /** The most requests of any minute. */
  get busiestMinute(): number {
    const times = this.sandbox.audit.requests().map(({ at }) => Date.parse(at))
    let [first, most] = [0, 0]
    for (const [index, at] of times.entries()) {
      while ((times[first] ?? at) <= at - 60_000) first += 1
      most = Math.max(most, index - first + 1)
    }
    return most
  }

  async #moveTo(moment: number): Promise<void> {
    // The service goes first, or it would see requests come too early.
    await this.sandbox.clock.advance(moment - this.now)
    // A clock that leaps ahead takes a run at work from its worker.
    await this.#rest()
    this.#engine.clock.set(moment)
  }

  async #noteSweep(): Promise<void> {
    const last = (await this.store.loadSweep(PLAN.account, PLAN.storage))?.state.complete.at(-1)
    if (last !== undefined && last.number !== this.complete.at(-1)?.number) this.complete.push(last)
  }

  async #approve(): Promise<void> {
    const { now } = this
    for (const { id, kind, hash, status } of await this.store.listApprovals({ status: 'open', limit: 9, now })) {
      if (kind !== 'repair' || status !== 'open') continue
      const word = {
        verdict: 'approved',
        actor: 'ann',
        reason: null,
        answer: null,
        signature: null,
        only: null,
      } as const
      await this.store.decideApproval({ ...word, approval: id, hash }, now)
    }
  }
}
