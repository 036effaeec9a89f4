import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { DATABASES, type DatabaseName, inDatabase, silenceWorkers } from '../support/databases.ts'
import { listen } from '../support/listen.ts'
import { inStore, type Place } from '../support/open-place.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { DOOR } from '../support/program.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

/** The request at which the process is killed. */
const MOMENTS = {
  /** The look before the delete. */
  looked: 'GET',
  /** The delete, which the service has not done. */
  sent: 'DELETE',
  /** The delete, which the service has done. */
  done: 'DELETE',
  /** The look after a delete whose reply was lost. */
  lookedAfter: 'GET',
} as const
type Moment = keyof typeof MOMENTS

const FILE = {
  id: 'fil_1',
  name: 'a.mov',
  type: 'file',
  size: 5,
  path: '/in/a.mov',
  createdAt: '2026-01-01T00:00:00Z',
  modifiedAt: '2026-01-01T00:00:00Z',
}
const OTHER = { ...FILE, size: 6, modifiedAt: '2026-02-01T00:00:00Z' }

const DELETES = {
  'by its id': `files.delete({ service: 'storage_a', id: 'fil_1' })`,
  'that a person approved': `files.delete({ service: 'storage_a', id: 'fil_1' })`,
  'from a list': `(async () => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    const { deleted, changed, gone } = await files.deleteAll(items)
    const outcome = deleted.length > 0 ? 'deleted' : changed.length > 0 ? 'changed' : 'gone'
    return { outcome, counts: [deleted.length, changed.length, gone.length] }
  })()`,
}

/** A service that holds the request of a moment, and counts deletes. */
async function openService(moment: Moment) {
  const files = new Map<string, typeof FILE>([[FILE.id, FILE]])
  let deletes = 0
  let isArmed = true
  const reached = Promise.withResolvers<void>()
  const json = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const hold = () => {
    isArmed = false
    reached.resolve()
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '', 'http://here')
    const id = decodeURIComponent(pathname.split('/')[3] ?? '')
    if (request.method === 'DELETE') {
      if (!files.has(id)) return json(response, 404, { success: false, error: { code: 'resource_not_found' } })
      deletes += 1
      if (isArmed && moment === 'sent') return hold()
      files.delete(id)
      if (isArmed && moment === 'done') return hold()
      if (isArmed && moment === 'lookedAfter') return response.destroy()
      return json(response, 200, { success: true, data: { id } })
    }
    if (id === '') {
      const list = [...files.values()]
      const pagination = { page: 1, limit: 100, totalItems: list.length, totalPages: 1 }
      return json(response, 200, { success: true, data: list, pagination })
    }
    if (isArmed && (moment === 'looked' || (moment === 'lookedAfter' && deletes > 0))) return hold()
    const found = files.get(id)
    if (found) return json(response, 200, { success: true, data: found })
    return json(response, 404, { success: false, error: { code: 'resource_not_found', message: 'no such file' } })
  })
  onTestFinished(() => void server.closeAllConnections())
  return { files, reached: reached.promise, url: await listen(server), countDeletes: () => deletes }
}

const FATES = {
  'as the service left it': null,
  'replaced under the same id': (files: Map<string, typeof FILE>) => void files.set(FILE.id, OTHER),
  'put back at the same path': (files: Map<string, typeof FILE>) => {
    files.delete(FILE.id)
    files.set('fil_2', { ...OTHER, id: 'fil_2' })
  },
} as const

/** The outcome, and the deletes that the service was asked for, in both lives. */
const EXPECTED: Record<Moment, Record<keyof typeof FATES, [outcome: string, deletes: number]>> = {
  looked: {
    'as the service left it': ['deleted', 1],
    'replaced under the same id': ['changed', 0],
    'put back at the same path': ['already_gone', 0],
  },
  sent: {
    'as the service left it': ['deleted', 2],
    'replaced under the same id': ['changed', 1],
    'put back at the same path': ['already_gone', 1],
  },
  done: {
    'as the service left it': ['already_gone', 1],
    'replaced under the same id': ['changed', 1],
    'put back at the same path': ['already_gone', 1],
  },
  lookedAfter: {
    'as the service left it': ['already_gone', 1],
    'replaced under the same id': ['changed', 1],
    'put back at the same path': ['already_gone', 1],
  },
}

const CASES = (Object.keys(DELETES) as (keyof typeof DELETES)[])
  .flatMap((way) =>
    (Object.keys(MOMENTS) as Moment[]).flatMap((moment) =>
      (Object.keys(FATES) as (keyof typeof FATES)[]).map((fate) => ({ way, moment, fate })),
    ),
  )
  .filter(({ way, moment }) => way !== 'that a person approved' || MOMENTS[moment] === 'DELETE')

async function approveAll(store: Store): Promise<void> {
  const [{ id, hash } = { id: '', hash: '' }] = await store.listApprovals({ limit: 1, now: Date.now() })
  const word = { verdict: 'approved', actor: 'anna', reason: null, only: null, answer: null, signature: null } as const
  await store.decideApproval({ ...word, approval: id, hash }, Date.now())
}

async function killOnce(place: Place, { way, moment, fate }: (typeof CASES)[number]) {
  const service = await openService(moment)
  const root = makeProject({
    'tidy.workflow.ts': `import { defineWorkflow } from '${DOOR}'
const guard = { deletes: { perRun: ${way === 'that a person approved' ? 0 : 9} } }
export default defineWorkflow({ id: 'tidy', on: 'file.created', guard, run: ({ files }) => ${DELETES[way]} })`,
  })
  const database = 'url' in place ? { UPSHOT_DATABASE_URL: `${place.url}?schema=${place.schema}` } : {}
  const environment = {
    ...NO_SERVICE_VARIABLES,
    ...database,
    UPSHOT_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    SERVICE_BASE_URL: `${service.url}/v1`,
    ...('file' in place ? { UPSHOT_DATA_DIR: place.file.replace(/\/[^/]*$/, '') } : {}),
  }
  const first = startIn(root, environment)
  const { urls } = await first.line(({ message }) => message === 'started')
  const hook = (urls as Record<string, string>)['endpoint service'] ?? ''
  expect(await postDelivery(hook, WEBHOOK_SECRET, 'evt_1')).toMatchObject({ status: 200 })
  if (way === 'that a person approved') {
    await first.line(({ message }) => message === 'people have to decide')
    await inStore(place, approveAll)
  }
  await service.reached
  first.child.kill('SIGKILL')
  await first.exited
  await silenceWorkers(place)
  FATES[fate]?.(service.files)
  const before = [...service.files.values()]
  const second = startIn(root, environment)
  await second.line(({ message }) => message === 'run completed')
  second.child.kill('SIGTERM')
  expect(await second.exited).toMatchObject({ code: 0 })
  return inStore(place, async (store) => {
    const ledger = await store.listEffects({ limit: 9 })
    const ended = ledger.filter(({ phase }) => phase === 'ended')
    expect(ledger.filter(({ phase }) => phase === 'begun')).toHaveLength(1)
    expect(ended).toHaveLength(1)
    const after = [...service.files.values()]
    return { outcome: ended[0]?.outcome, deletes: service.countDeletes(), before, after }
  })
}

const onePerMoment = CASES.filter(({ way, fate }) => way !== 'from a list' && fate === 'replaced under the same id')
const casesOn = (database: DatabaseName) => (database === 'SQLite' ? CASES : onePerMoment)

test.each(DATABASES.flatMap((database) => casesOn(database).map((each) => ({ database, ...each }))))(
  'on $database, an app killed at the moment "$moment" of a delete $way finds its file $fate',
  ({ database, ...each }) =>
    inDatabase(database, async (place) => {
      const { outcome, deletes, before, after } = await killOnce(place, each)
      const [expected, count] = EXPECTED[each.moment][each.fate]
      // Nobody has said which file is meant, and no request has gone out for one.
      const isAny = each.way === 'by its id' && each.moment === 'looked' && each.fate === 'replaced under the same id'
      expect([outcome, deletes]).toEqual(isAny ? ['deleted', 1] : [expected, count])
      if (expected !== 'deleted' && !isAny) expect(after).toEqual(before)
    }),
)
