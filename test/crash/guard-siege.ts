import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Run } from '../../src/core/runs/run.ts'
import type { EffectRecord } from '../../src/core/safety/effect.ts'
import type { Store } from '../../src/core/store/store.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { eventBody, incoming } from '../support/fixtures.ts'
import { openPlace, type Place } from '../support/open-place.ts'
import { bundledProgram } from '../support/program.ts'
import { FILES_PER_RUN, hunt, PER_RUN, WAYS } from './siege-scenario.ts'

const CHILD = bundledProgram(join(import.meta.dirname, 'siege-worker.ts'))
const PROCESSES = 4
/** Latest store call, and longest life in milliseconds, at which a process dies. */
const MAX_CALLS = 200
const MAX_LIFE_MS = 400
const ALL = { kind: 'all', name: '' } as const

/** A database, the sandbox, and four worker processes that are killed and started again. */
export async function startSiege(place: Place, { kills, seed }: { kills: number; seed: number }): Promise<Siege> {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-siege-'))
  const sandbox = await startSandbox({ dir: join(folder, 'service'), plan: 'unlimited', hints: false })
  const { key } = await sandbox.keys.create({ name: 'siege', scope: 'admin' })
  sandbox.faults.add({ on: 'files.delete', probability: 0.1, status: 503 })
  sandbox.faults.add({ on: 'files.delete', probability: 0.05, reset: true, afterwards: true })
  const store = await openPlace(place)
  return new Siege({ folder, place, sandbox, key, store, kills, random: seededRandom(seed) })
}

interface SiegeParts {
  folder: string
  place: Place
  sandbox: Sandbox
  key: string
  store: Store
  kills: number
  random: () => number
}

export class Siege {
  /** Deletes a day that no person has to approve: 60 % of what the runs may begin by themselves. */
  readonly perDay: number
  /** `<approval> <run> <step> <asked>` of each item that a person approved. */
  readonly approved = new Set<string>()
  readonly store: Store
  readonly #parts: SiegeParts
  readonly #runs: number
  readonly #living = new Set<ChildProcess>()
  /** Targets by the folder of their run. */
  readonly #files = new Map<string, string[]>()
  #stirred = Promise.withResolvers<void>()
  #isEnding = false

  constructor(parts: SiegeParts) {
    this.#parts = parts
    this.store = parts.store
    this.#runs = Math.max(10, Math.ceil(parts.kills / 2))
    this.perDay = Math.floor(this.#runs * (2 / 3) * PER_RUN * 0.6)
  }

  /** Starts and kills processes, while runs arrive and a person decides. */
  async killAll(): Promise<void> {
    const { kills, random, store } = this.#parts
    let begun = 0
    let arrived = 0
    const lane = async () => {
      while (begun < kills) {
        const kill = begun++
        if (arrived < Math.ceil(((kill + 1) / kills) * this.#runs)) await this.#addRun(arrived++)
        await this.#liveAndDie()
        if (kill % 3 === 0) await this.#decideSome()
        const by = { actor: 'ada', reason: 'the siege' }
        if (kill % 25 === 20) await store.stopEffects({ ...ALL, since: Date.now(), ...by })
        if (kill % 25 === 24) await store.resumeEffects(ALL, { ...by, now: Date.now() })
        if (random() < 0.2) await this.#resumeBlamed()
      }
    }
    await Promise.all(Array.from({ length: PROCESSES }, lane))
    await store.resumeEffects(ALL, { actor: 'ada', reason: null, now: Date.now() })
    while (arrived < this.#runs) await this.#addRun(arrived++)
  }

  /** Lets four processes live, and approves all that they ask for, until every run has ended. */
  async approveRest(): Promise<void> {
    for (let n = 0; n < PROCESSES; n++) this.#start(Number.MAX_SAFE_INTEGER)
    for (;;) {
      this.#stirred = Promise.withResolvers()
      const open = await this.store.listApprovals({ status: 'open', limit: 1_000, now: Date.now() })
      for (const { id } of open) await this.#decide(id, 'approved', false)
      await this.#resumeBlamed()
      const runs = await this.store.listRuns({ limit: 10_000 })
      if (runs.every(({ finishedAt }) => finishedAt !== null)) return
      await this.#stirred.promise
    }
  }

  async listLedger(): Promise<EffectRecord[]> {
    const rows: EffectRecord[] = []
    for (;;) {
      const page = await this.store.listEffects({ after: rows.at(-1)?.seq ?? 0, limit: 1_000 })
      if (page.length === 0) return rows
      rows.push(...page)
    }
  }

  /** Targets of files that the service no longer has. */
  listGone(): string[] {
    const left = new Set(
      this.#parts.sandbox
        .storage('storage_a')
        .list()
        .map(({ id }) => `storage_a:${id}`),
    )
    return [...this.#files.values()].flat().filter((target) => !left.has(target))
  }

  /** Targets of the files of these runs. */
  filesOf(runs: readonly Run[]): string[] {
    return runs.flatMap(({ eventId }) => this.#files.get(`/${eventId}`) ?? [])
  }

  async end(): Promise<void> {
    this.#isEnding = true
    for (const child of this.#living) child.kill('SIGKILL')
    const { sandbox, folder } = this.#parts
    await this.store.close()
    await sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  }

  async #addRun(number: number): Promise<void> {
    const id = `evt_${number}`
    const path = `/${id}`
    const targets: string[] = []
    for (let n = 0; n < FILES_PER_RUN; n++) {
      const entry = await this.#parts.sandbox.storage('storage_a').put(`${path}/f${n}.bak`, `file ${n}`)
      targets.push(`storage_a:${entry.id}`)
    }
    this.#files.set(path, targets)
    const body = eventBody(id, 'file.created', { path, way: WAYS[number % WAYS.length] })
    await this.store.saveDelivery(incoming(id, { body, workflows: [hunt.id], receivedAt: Date.now() }))
  }

  /** One life, which ends at a random store call or after a random time. */
  async #liveAndDie(): Promise<void> {
    const { random } = this.#parts
    const child = this.#start(1 + Math.floor(random() * MAX_CALLS), random() < 0.5 ? 'asked' : 'answered')
    const died = once(child, 'exit')
    const lifeMs = random() * MAX_LIFE_MS
    child.once('message', () => setTimeout(() => child.kill('SIGKILL'), lifeMs))
    const [code, signal] = await died
    if (signal !== 'SIGKILL' && !this.#isEnding) throw new Error(`a worker of the siege ended by itself with ${code}`)
  }

  #start(lastCall: number, moment = 'asked'): ChildProcess {
    const { place, sandbox, key } = this.#parts
    const given = [JSON.stringify(place), sandbox.url, key, String(this.perDay), moment, String(lastCall)]
    const child = fork(CHILD, given, { execArgv: [] })
    this.#living.add(child)
    child.on('message', () => this.#stirred.resolve())
    child.once('exit', () => this.#living.delete(child))
    return child
  }

  /** A person decides one open approval, often only a part of it. */
  async #decideSome(): Promise<void> {
    const { random } = this.#parts
    const open = await this.store.listApprovals({ status: 'open', limit: 1_000, now: Date.now() })
    const chosen = open[Math.floor(random() * open.length)]
    if (chosen) await this.#decide(chosen.id, random() < 0.05 ? 'denied' : 'approved', random() < 0.5)
  }

  async #decide(approval: string, verdict: 'approved' | 'denied', isPart: boolean): Promise<void> {
    const { random } = this.#parts
    const items = await this.store.listApprovalItems({ approval, limit: 100_000 })
    const last = isPart ? items[Math.floor(random() * items.length)] : items.at(-1)
    if (!last) return
    const from = isPart ? 1 + Math.floor(random() * last.number) : 1
    const only = isPart ? [{ from, to: last.number }] : null
    for (const { number, state, runId, step, asked } of items) {
      const isMeant = verdict === 'approved' && state === 'open' && number >= from && number <= last.number
      if (isMeant) this.approved.add(`${approval} ${runId} ${step} ${JSON.stringify(asked)}`)
    }
    const word = { approval, verdict, actor: 'anna', reason: null, answer: null, signature: null } as const
    // A run that ended meanwhile has taken its items back.
    await this.store.decideApproval({ ...word, hash: last.hash, only }, Date.now()).catch(() => {})
  }

  /** Lets runs go on that saw five processes die. */
  async #resumeBlamed(): Promise<void> {
    const waiting = await this.store.listRuns({ status: 'waiting', limit: 10_000 })
    for (const { id, awaits } of waiting) if (!awaits) await this.store.resumeRun(id, { fromScratch: false })
  }
}
