import { z } from 'zod'
import { type FileFunctions, KeyRegistry } from '../../../../src/author/event-keys.ts'
import type { Notice } from '../../../../src/core/notices.ts'
import type { FileEntry } from '../../../../src/core/service/file.ts'
import type { SweepPlan } from '../../../../src/core/service/sweep/sweep-plan.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { ManualClock } from '../../../../src/core/time.ts'
import { makeUpEvents } from '../../../../src/engine/reconcile/make-up-events.ts'
import { matchFiles } from '../../../../src/engine/reconcile/match-files.ts'
import type { SweepParts, SweptFiles } from '../../../../src/schedule/sweep/sweep-parts.ts'
import { decideHeld, stepSweep } from '../../../../src/schedule/sweep/sweeper.ts'
import { eventBody, incoming, NOW } from '../../../support/fixtures.ts'
import { test as base } from '../../../support/test-store.ts'

const MINUTE = 60_000

export const PLAN: SweepPlan = {
  account: 'default',
  storage: 'storage_a',
  path: '/',
  recursive: true,
  everyMs: 60 * MINUTE,
  budget: 0.1,
  graceMs: 90 * MINUTE,
  repair: 'report',
}

/** Entries of a page: so few that any change shifts pages. */
const PAGE = 4

const data = z.looseObject({ service: z.string(), file: z.looseObject({ id: z.string() }) })

/** The file functions of an author, for both types. */
export function fileFunctions(): Map<string, FileFunctions> {
  const keys = new KeyRegistry()
  for (const type of ['file.created', 'file.deleted'])
    keys.declare({
      type,
      data,
      keys: {},
      file: ({ service, file }: z.output<typeof data>) => ({ service, id: file.id }),
      fromFile: (entry) => ({ service: entry.service, file: entry }),
    })
  return keys.files()
}

/** A storage that changes, with a service that tells of it, and one sweeping process. */
export class SweepWorld {
  readonly clock = new ManualClock(NOW)
  readonly notices: Notice[] = []
  readonly files = new Map<string, FileEntry>()
  /** When each request was sent. */
  readonly requests: number[] = []
  /** Called before each request is answered. */
  onRequest: () => Promise<void> = async () => {}
  /** Calls that the service answers in another way. */
  apiWith: Partial<SweptFiles> = {}
  functions = fileFunctions()
  owner = 'wrk_1'
  #count = 0
  readonly store: Store
  plan: SweepPlan

  constructor(store: Store, plan: Partial<SweepPlan> = {}) {
    this.store = store
    this.plan = { ...PLAN, ...plan }
  }

  add(createdAt = this.clock.now()): string {
    const id = `fil_${String(this.#count++).padStart(5, '0')}`
    const at = new Date(createdAt).toISOString()
    const about = { type: 'file', mimeType: 'text/plain', size: 1, path: `/in/${id}` } as const
    this.files.set(id, { service: 'storage_a', id, name: id, createdAt: at, modifiedAt: at, ...about })
    return id
  }

  async tell(type: 'file.created' | 'file.deleted', id: string, event = `evt_${type}_${id}`): Promise<void> {
    const body = eventBody(event, type, { service: 'storage_a', file: { id } })
    await this.store.saveDelivery(incoming(event, { body, receivedAt: this.clock.now() }))
  }

  get parts(): SweepParts {
    const { store, clock, owner } = this
    const publish = (notice: Notice) => void this.notices.push(notice)
    return {
      store,
      clock,
      owner,
      publish,
      approvals: { expireMs: 48 * 60 * MINUTE, needs: 1 },
      filesOf: async () => ({ ...this.api, ...this.apiWith }),
    }
  }

  /** Matches and makes up, as the engine does beside the sweeps. */
  async match(): Promise<void> {
    const { store, clock } = this
    const functions = () => this.functions
    const given = { store, clock, functions, spellingsOf: () => ({}), routes: () => [] }
    await matchFiles(given)
    await makeUpEvents({ ...given, publish: (notice) => void this.notices.push(notice) })
  }

  /** Sweeps for this long. `meanwhile` is called between the requests. */
  async run(ms: number, meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const until = this.clock.now() + ms
    while (this.clock.now() < until) {
      await meanwhile()
      await this.match()
      await decideHeld(this.parts)
      const next = await stepSweep(this.plan, this.parts)
      const to = Math.min(until, Math.max(next ?? 0, this.clock.now() + 1_000))
      await this.clock.advance(to - this.clock.now())
    }
    await this.match()
  }

  readonly api: SweptFiles = {
    perMinute: 60,
    spellings: {},
    list: async ({ page = 1 }) => {
      await this.#answer()
      const order = (file: FileEntry) => `${file.createdAt} ${file.id}`
      const all = [...this.files.values()].toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
      const items = all.slice((page - 1) * PAGE, page * PAGE)
      const nextPage = page * PAGE < all.length ? page + 1 : null
      return { items, nextPage, totalItems: all.length, nextToken: null }
    },
    get: async ({ id }) => {
      await this.#answer()
      return this.files.get(id) ?? null
    },
  }

  async #answer(): Promise<void> {
    this.requests.push(this.clock.now())
    await this.onRequest()
  }

  /** The most requests of any minute. */
  get busiestMinute(): number {
    return Math.max(
      0,
      ...this.requests.map((from) => this.requests.filter((at) => at >= from && at < from + MINUTE).length),
    )
  }

  findings(): ReturnType<Store['listFindings']> {
    return this.store.listFindings({ limit: 10_000 })
  }
}

/** A test names the storage that it uses. */
export const test = base.extend('world', ({ store }) => new SweepWorld(store))
