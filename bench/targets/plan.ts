import { readFileSync } from 'node:fs'
import { IsolatedProcess } from '../../src/app/preview/isolated-process.ts'
import { imagineRun } from '../../src/app/preview/plan-event.ts'
import type { EventRecord } from '../../src/core/incoming/event.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { readMemory } from '../processes/read-memory.ts'

const AT = Date.UTC(2026, 0, 1)
const EVENT: EventRecord = {
  id: 'evt_1',
  account: 'default',
  type: 'bench.many',
  origin: 'webhook',
  stream: 0,
  seq: 1,
  createdAt: AT,
  receivedAt: AT,
  body: JSON.stringify({ id: 'evt_1', type: 'bench.many', created: '2026-01-01T00:00:00Z', data: {} }),
}
const PAGE = 100

/** Plans one run over many files of a service in memory, in a process of its own. */
async function planMany({ workflowsDir, workflow, files }: { workflowsDir: string; workflow: string; files: number }) {
  const settings = { workflowsDir, guard: DEFAULT_POLICY, spellings: {} }
  const nothing = async () => []
  const store = { listDeletes: nothing, listRunEvents: nothing, listRuns: nothing, listSteps: nothing }
  await using isolated = await IsolatedProcess.open({
    settings,
    store: { ...store, readOutput: async () => 'null' },
    readFiles: async <T>(_: string, operation: string, given: unknown) => read(operation, given, files) as T,
  })
  const [here, there] = [process.pid, childOf(process.pid)]
  const before = readMemory(here, 'VmRSS') + readMemory(there, 'VmRSS')
  const begunAt = performance.now()
  const rules = { readsLive: true, plans: { use: [], borrows: false } }
  const { effects, end } = await isolated.previewOne({ claim: imagineRun(EVENT, workflow, AT), steps: [] }, rules)
  const seconds = (performance.now() - begunAt) / 1_000
  const peak = readMemory(here, 'VmHWM') + readMemory(there, 'VmHWM')
  const deleted = effects.filter(({ outcome }) => outcome === 'deleted').length
  return { deleted, end: end.kind, seconds, growthMb: peak - before }
}

/** The answers of a storage that has so many files. */
function read(operation: string, given: unknown, files: number): unknown {
  if (operation !== 'list' && operation !== 'listAnew') return describe(Number((given as { id: string }).id.slice(4)))
  const { page = 1, limit = PAGE } = given as { page?: number; limit?: number }
  const from = (page - 1) * limit
  const items = Array.from({ length: Math.min(limit, files - from) }, (_, index) => describe(from + index))
  return { items, nextPage: from + limit < files ? page + 1 : null, totalItems: files, nextToken: null }
}

function describe(number: number) {
  const name = `camera-${String(number).padStart(9, '0')}.mxf`
  const times = { createdAt: '2026-01-01T00:00:00.000Z', modifiedAt: '2026-01-01T00:00:00.000Z' }
  const path = `/projects/${number % 5_000}/recordings/${name}`
  return { service: 'storage_a', id: `fil_${number}`, name, type: 'file', mimeType: null, size: number, path, ...times }
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}

answerCalls({ planMany })
