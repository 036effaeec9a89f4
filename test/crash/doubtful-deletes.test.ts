import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { DATABASES, inDatabase, silenceWorkers } from '../support/databases.ts'
import { listen } from '../support/listen.ts'
import { inStore, type Place } from '../support/open-place.ts'
import { postDelivery } from '../support/post-delivery.ts'
import type { ProcessLog } from '../support/process-log.ts'
import { DOOR } from '../support/program.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

/** The request of a delete that is under way when the process is killed. */
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

const FILE = { name: 'a.mov', type: 'file', size: 5, createdAt: '2026-01-01T00:00:00Z' }
const OLD = { ...FILE, modifiedAt: '2026-01-01T00:00:00Z' }
const OTHER = { ...FILE, size: 6, modifiedAt: '2026-02-01T00:00:00Z' }
type Files = Map<string, typeof FILE & { id: string; path: string; modifiedAt: string }>

/** Code that deletes the file `id`, alone in its folder. */
const DELETES = {
  'by its id': `files.delete({ service: 'storage_a', id })`,
  'that a person approved': `files.delete({ service: 'storage_a', id })`,
  'from a list': `(async () => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/' + id })
    const { deleted, changed, gone } = await files.deleteAll(items)
    const outcome = deleted.length > 0 ? 'deleted' : changed.length > 0 ? 'changed' : 'gone'
    return { outcome, counts: [deleted.length, changed.length, gone.length] }
  })()`,
}
type Way = keyof typeof DELETES

const pathOf = (id: string) => `/${id}/a.mov`

const FATES = {
  'as the service left it': null,
  'replaced under the same id': (files: Files, id: string) => void files.set(id, { ...OTHER, id, path: pathOf(id) }),
  'put back at the same path': (files: Files, id: string) => {
    files.delete(id)
    files.set(`${id}_new`, { ...OTHER, id: `${id}_new`, path: pathOf(id) })
  },
} as const
type Fate = keyof typeof FATES

/** The outcome, and the deletes that the service was asked for, in both lives. */
const EXPECTED: Record<Moment, Record<Fate, [outcome: string, deletes: number]>> = {
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

interface Case {
  id: string
  way: Way
  moment: Moment
  fate: Fate
}

/** Each has a file and a run of its own. */
const CASES = (Object.keys(DELETES) as Way[])
  .flatMap((way) =>
    (Object.keys(MOMENTS) as Moment[]).flatMap((moment) =>
      (Object.keys(FATES) as Fate[]).map((fate) => ({ way, moment, fate })),
    ),
  )
  .filter(({ way, moment }) => way !== 'that a person approved' || MOMENTS[moment] === 'DELETE')
  .map((each, n): Case => ({ ...each, id: `fil_${n}` }))

/** A service that holds the request of each file's moment, and counts deletes. */
async function openService() {
  const files: Files = new Map(CASES.map(({ id }) => [id, { ...OLD, id, path: pathOf(id) }]))
  const momentOf = new Map(CASES.map(({ id, moment }) => [id, moment]))
  const deletes = new Map<string, number>()
  const armed = new Set(momentOf.keys())
  const reached = Promise.withResolvers<void>()
  const json = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const hold = (id: string) => {
    armed.delete(id)
    if (armed.size === 0) reached.resolve()
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://here')
    const id = decodeURIComponent(pathname.split('/')[3] ?? '')
    const moment = armed.has(id) ? momentOf.get(id) : undefined
    if (request.method === 'DELETE') {
      if (!files.has(id)) return json(response, 404, { success: false, error: { code: 'resource_not_found' } })
      deletes.set(id, (deletes.get(id) ?? 0) + 1)
      if (moment === 'sent') return hold(id)
      files.delete(id)
      if (moment === 'done') return hold(id)
      if (moment === 'lookedAfter') return response.destroy()
      return json(response, 200, { success: true, data: { id } })
    }
    if (id === '') {
      const list = [...files.values()].filter(({ path }) => path.startsWith(`${searchParams.get('path')}/`))
      const pagination = { page: 1, limit: 100, totalItems: list.length, totalPages: 1 }
      return json(response, 200, { success: true, data: list, pagination })
    }
    if (moment === 'looked' || (moment === 'lookedAfter' && deletes.has(id))) return hold(id)
    const found = files.get(id)
    if (found) return json(response, 200, { success: true, data: found })
    return json(response, 404, { success: false, error: { code: 'resource_not_found', message: 'no such file' } })
  })
  onTestFinished(() => void server.closeAllConnections())
  return {
    files,
    reached: reached.promise,
    url: await listen(server),
    countDeletes: (id: string) => deletes.get(id) ?? 0,
  }
}

/** A workflow for each way, which the type of an event names. */
function makeWorkflows() {
  const modules = (Object.keys(DELETES) as Way[]).map((way, n) => [
    `tidy-${n}.workflow.ts`,
    `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({
  id: 'tidy-${n}',
  on: '${eventTypeOf(way)}',
  guard: { deletes: { perRun: ${way === 'that a person approved' ? 0 : 9} } },
  run: ({ event, files }) => {
    const id = event.data.id
    return ${DELETES[way]}
  },
})`,
  ])
  return makeProject(Object.fromEntries(modules))
}

const eventTypeOf = (way: Way) => `tidy.${way.replaceAll(' ', '-')}`

async function approveAll(store: Store): Promise<void> {
  const now = Date.now()
  const word = { verdict: 'approved', actor: 'anna', reason: null, only: null, answer: null, signature: null } as const
  for (const { id, hash } of await store.listApprovals({ status: 'open', limit: 100, now })) {
    await store.decideApproval({ ...word, approval: id, hash }, now)
  }
}

/** Resolves once the process has logged so many lines with this message. */
function linesOf(log: ProcessLog, wanted: string, count: number): Promise<unknown> {
  let left = count
  return log.line(({ message }) => message === wanted && --left === 0)
}

/** Kills an app once each delete is at its moment, and lets another one end all runs. */
async function killOnce(place: Place) {
  const service = await openService()
  const root = makeWorkflows()
  const database = 'url' in place ? { UPSHOT_DATABASE_URL: `${place.url}?schema=${place.schema}` } : {}
  const environment = {
    ...NO_SERVICE_VARIABLES,
    ...database,
    UPSHOT_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    SERVICE_BASE_URL: `${service.url}/v1`,
    SERVICE_PLAN: '9999',
    ...('file' in place ? { UPSHOT_DATA_DIR: place.file.replace(/\/[^/]*$/, '') } : {}),
  }
  const first = startIn(root, environment)
  const { urls } = await first.line(({ message }) => message === 'started')
  const hook = (urls as Record<string, string>)['endpoint service'] ?? ''
  for (const { id, way } of CASES) {
    const posted = await postDelivery(hook, WEBHOOK_SECRET, `evt_${id}`, { id }, eventTypeOf(way))
    expect(posted).toMatchObject({ status: 200 })
  }
  const asking = CASES.filter(({ way }) => way === 'that a person approved')
  await linesOf(first, 'people have to decide', asking.length)
  await inStore(place, approveAll)
  await service.reached
  first.child.kill('SIGKILL')
  await first.exited
  await silenceWorkers(place)
  for (const { id, fate } of CASES) FATES[fate]?.(service.files, id)
  const before = new Map(service.files)
  const second = startIn(root, environment)
  await linesOf(second, 'run completed', CASES.length)
  second.child.kill('SIGTERM')
  expect(await second.exited).toMatchObject({ code: 0 })
  return { service, before }
}

test.each(DATABASES)('on %s, an app killed at any moment of a delete finds what became of its file', (database) =>
  inDatabase(database, async (place) => {
    const { service, before } = await killOnce(place)
    const ledger = await inStore(place, (store) => store.listEffects({ limit: 1_000 }))
    for (const { id, way, moment, fate } of CASES) {
      const name = `killed at the moment "${moment}" of a delete ${way}, its file ${fate}`
      const rows = ledger.filter(({ target }) => target === `storage_a:${id}`)
      const ended = rows.filter(({ phase }) => phase === 'ended').map(({ outcome }) => outcome)
      expect(
        rows.filter(({ phase }) => phase === 'begun'),
        name,
      ).toHaveLength(1)
      // Nobody has said which file is meant, and no request has gone out for one.
      const isAny = way === 'by its id' && moment === 'looked' && fate === 'replaced under the same id'
      const [outcome, deletes] = isAny ? ['deleted', 1] : EXPECTED[moment][fate]
      expect([ended, service.countDeletes(id)], name).toEqual([[outcome], deletes])
      if (outcome === 'deleted') continue
      for (const each of [id, `${id}_new`]) expect(service.files.get(each), name).toBe(before.get(each))
    }
  }),
)
