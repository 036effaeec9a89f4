import { onTestFinished } from 'vitest'
import { AdminServer } from '../../../src/admin/admin-server.ts'
import type { ConsoleParts } from '../../../src/admin/console.ts'
import { lateConsole } from '../../../src/admin/late-console.ts'
import { createHealth } from '../../../src/admin/ports/health.ts'
import type { Surroundings } from '../../../src/admin/ports/surroundings.ts'
import type { AccessRole } from '../../../src/core/access/role.ts'
import { hashSecret, planToken } from '../../../src/core/access/token.ts'
import { UpshotError } from '../../../src/core/errors.ts'
import { randomWord } from '../../../src/core/ids.ts'
import type { Notice } from '../../../src/core/notices.ts'
import { DEFAULT_GUARD } from '../../../src/core/safety/guard.ts'
import { KEEP_ALL } from '../../../src/core/store/retention.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'

/** The token of the file `admin.token` in these tests. */
export const FILE_TOKEN = 'upshot_the_token_of_the_file_in_tests'

/** A browser's login: both halves of it. */
export interface TestLogin {
  cookie: string
  key: string
}

/** A world without a receiver: what is sent is accepted, and recorded. */
export function testSurroundings(): Surroundings & { sent: string[] } {
  const sent: string[] = []
  return {
    sent,
    receiverUrl: async () => 'https://hooks.example.com',
    async sendEvent({ id }) {
      sent.push(id)
      return 'accepted'
    },
    tryEndpoint: async () => ({ event: 'evt_1', trials: [], isStored: true }),
    isHeaderKept: () => false,
    keeperOf: ({ name }) => (name === 'sandbox' ? 'sandbox' : null),
    files: {
      ask: () => Promise.reject(new UpshotError('not_found', 'There is no such file.')),
      async *stream() {},
      remove: async ({ files }) => files.map((file) => ({ file, outcome: 'deleted', error: null })),
    },
    sandboxUrl: () => null,
    matchEvent: async () => ({ workflows: [], broken: [] }),
    foresee: async () => ({ runs: 0, ahead: [] }),
    examine: async () => [],
    readSource: async () => [],
    verifyLedger: () => Promise.reject(new UpshotError('not_found', 'There is no database file.')),
    verifyDatabase: () => Promise.reject(new UpshotError('not_found', 'There is no database file.')),
    backUp: () => Promise.reject(new UpshotError('not_found', 'There is no database file.')),
    openBackup: () => Promise.reject(new UpshotError('not_found', 'There is no backup.')),
    settings: () => [],
    retention: () => ({ ...KEEP_ALL }),
    foreseePrune: async () => ({ ...KEEP_ALL }),
    async prune(onPruned) {
      onPruned(7)
      return { runs: 7, failures: 0, refusals: 0, deliveries: 0, payloads: 0, audit: 0, effects: 0, files: 0 }
    },
    takeAnchor: async () => null,
    guard: () => DEFAULT_GUARD,
    alerts: () => ({ rules: [], kinds: {} }),
    testAlert: async () => [],
    readDisk: async () => ({ databaseBytes: 1, logBytes: 1, diskFreeBytes: 1 }),
    blockedKeys: async () => [],
    endpointChanged: async () => {},
    defaultAccount: () => ({
      baseUrl: null,
      plan: 'free',
      keeper: 'sandbox',
      storages: { storage_a: 'a', storage_b: 'b', storage_c: 'c' },
    }),
    nextTicks: (_trigger, after, count) => Array.from({ length: count }, (_, index) => after + (index + 1) * 60_000),
  }
}

/** An admin server with its API on a real store. It is stopped after the test. */
export async function startConsole(given: Partial<ConsoleParts> & { store?: Store } = {}) {
  const { store = openTestStore() } = given
  const clock = (given.clock ?? new ManualClock(Date.UTC(2026, 10, 22, 12))) as ManualClock
  const heard: Notice[] = []
  const bus = createNoticeBus()
  const parts: ConsoleParts = {
    access: { basePath: '', url: null, proxy: null, fileTokenHash: hashSecret(FILE_TOKEN) },
    health: createHealth({}),
    facts: { version: '0.1.0', role: 'all', isSandbox: true },
    publish: (notice) => heard.push(notice),
    page: tempFolder(),
    surroundings: testSurroundings(),
    checksAnswers: true,
    openLists: async () => store,
    ...given,
    store,
    clock,
  }
  const server = new AdminServer(createHealth({}), { routes: (port) => lateConsole(parts, port) })
  const origin = await server.start(0)
  onTestFinished(() => server.stop())
  const base = `${origin}${parts.access.basePath}`
  const api = `${base}/api/v1`

  /** Asks as the owner of the file, with a body of JSON, unless other headers are given. */
  const ask = (path: string, { headers, ...request }: RequestInit = {}) => {
    const form = request.body === undefined ? {} : { 'content-type': 'application/json' }
    return fetch(`${api}${path}`, {
      headers: { authorization: `Bearer ${FILE_TOKEN}`, ...form, ...headers },
      ...request,
    })
  }

  return {
    store,
    clock,
    heard,
    bus,
    origin,
    base,
    api,
    ask,
    /** The answer's JSON; fails where the status is not 200. */
    async get(path: string, token = FILE_TOKEN) {
      const response = await ask(path, { headers: { authorization: `Bearer ${token}` } })
      const body = (await response.json()) as never
      if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${JSON.stringify(body)}`)
      return body as Record<string, unknown> & { items: Record<string, unknown>[]; next: string | null }
    },
    /** A new token with this role. */
    async makeToken(role: AccessRole, expiresAt: number | null = null): Promise<string> {
      const { token, secret } = planToken({ name: `${role}-${randomWord().slice(0, 8)}`, role, expiresAt }, clock.now())
      await store.saveToken(token)
      return secret
    },
    /** A login by a one-time code, as the page does it. */
    async logIn(role: AccessRole = 'admin'): Promise<TestLogin> {
      const code = randomWord()
      await store.saveLoginCode({ hash: hashSecret(code), name: 'ada', role, expiresAt: clock.now() + 60_000 })
      const response = await fetch(`${api}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
      const { key } = (await response.json()) as { key: string }
      return { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '', key }
    },
  }
}
