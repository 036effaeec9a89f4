import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import type { Run } from '../../../src/core/runs/run.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import { filesOf } from '../../engine/support/files-in-runs.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import { useOutput } from '../../support/sample-output.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { mutateLines } from './support/line-mutants.ts'
import { compareAll, settle } from './support/recorded-runs.ts'

useOutput()
const ROOT = resolve(import.meta.dirname, '../../..')
const MOMENT = '2026-01-01T00:00:00.000Z'
const LATER = '2026-02-01T00:00:00.000Z'

test('a backtest sees each edit of a line of a sample that changes an effect, and no other', async () => {
  const source = withAbsoluteImports(readFileSync(join(ROOT, 'workflows/intake-new-file.workflow.ts'), 'utf8'))
  const original = await load(source)
  // A module that cannot be loaded is told before anything is previewed.
  const loaded = await Promise.all(
    mutateLines(source).map(async (mutant) => ({ ...mutant, code: await load(mutant.source).catch(() => null) })),
  )
  const mutants = loaded.flatMap(({ code, ...mutant }, index) => (code ? [{ ...mutant, code, id: `m-${index}` }] : []))
  const { store, effectsOf } = await runAll([original, ...mutants.map(({ code, id }) => ({ ...code, id }))])
  const before = await effectsOf(original.id)
  const unchanged = await compareAll(store, original)
  expect(unchanged.map(({ verdict }) => verdict)).toEqual(Array(EVENTS).fill({ kind: 'same' }))
  const [missed, accused]: [string[], string[]] = [[], []]
  const lines = { changing: new Set<number>(), harmless: new Set<number>() }
  for (const { line, from, to, code, id } of mutants) {
    const after = await effectsOf(id)
    let isChanging = false
    for (const { event, verdict } of await compareAll(store, code, { withOutputs: false, isTwice: false })) {
      const isOther = after.get(event) !== before.get(event)
      isChanging ||= isOther
      const about = `${line}: ${from} → ${to}: ${event} did ${before.get(event)}, does ${after.get(event)}`
      if (isOther && verdict.kind === 'same') missed.push(about)
      if (!isOther && verdict.kind === 'differs') accused.push(about)
    }
    lines[isChanging ? 'changing' : 'harmless'].add(line)
  }
  expect(missed).toEqual([])
  expect(accused).toEqual([])
  expect(lines.changing.size).toBeGreaterThanOrEqual(12)
  expect(mutants.length).toBeGreaterThanOrEqual(40)
})

const EVENTS = 16

/** The file of an event, and what the service would say of it now. */
function fileOf(n: number) {
  const name = `f-${n}${['.txt', '.exe', '.js'][n % 3]}`
  const path = `${n % 5 === 4 ? '/other' : '/inbox'}/${name}`
  const file = { id: `fil_${n}`, name, path, size: n % 6 === 5 ? 2 ** 31 : 5, modifiedAt: MOMENT }
  const present = { ...file, service: 'storage_a', type: 'file', mimeType: null, createdAt: null }
  if (n % 8 === 3) return { file, now: null }
  return {
    file,
    now: n % 8 === 2 ? { ...present, modifiedAt: LATER } : n % 8 === 6 ? { ...present, size: 6 } : present,
  }
}

/** Runs all code for each event. Effects are those that the service and the journal saw. */
async function runAll(workflows: AnyWorkflow[]) {
  const engine = createTestEngine()
  const acts = new Map<string, string[]>()
  const numberOf = ({ id = '' }: { id?: string }) => Number(id.replace('fil_', ''))
  const filesFor = filesOf({
    find: async (place: { id: string }) => fileOf(numberOf(place)).now,
    get: async (file: { id: string }) => fileOf(numberOf(file)).now,
    hash: async ({ id }: { id: string }) => ({ sha256: id, bytes: 5, proof: 'size' }),
    delete: async (file: { id: string }, { expect: state, caller }: { expect?: object; caller: { run: string } }) => {
      acts.set(caller.run, [...(acts.get(caller.run) ?? []), `delete ${file.id} ${JSON.stringify(state)}`])
      return { outcome: ['deleted', 'deleted', 'changed', 'not_found'][numberOf(file) % 4], proof: 'reply' }
    },
  })
  // The guard is tested elsewhere; here it would hold deletes of one edit for those of the others.
  const worker = await engine.start(workflows, { filesFor, slots: 50, guard: { ...DEFAULT_POLICY, limits: null } })
  for (let n = 0; n < EVENTS; n++) {
    const body = eventBody(`evt_${n}`, 'file.created', { service: 'storage_a', file: fileOf(n).file })
    await engine.store.saveDelivery(incoming(`evt_${n}`, { body, workflows: workflows.map(({ id }) => id) }))
  }
  await settle(engine, () => worker.wake())
  const describe = async ({ id, eventId, status, error, reason }: Run): Promise<[string | null, string]> => {
    // The name of a step is what tells its effect from another one.
    const steps = (await engine.store.listSteps(id)).filter(({ effect }) => effect !== 'read').map(({ key }) => key)
    return [eventId, JSON.stringify([acts.get(id) ?? [], steps, status, error?.message, reason])]
  }
  const effectsOf = async (workflow: string) =>
    new Map(await Promise.all((await engine.store.listRuns({ workflow, limit: EVENTS })).map(describe)))
  return { store: engine.store, effectsOf }
}

let modules = 0

async function load(source: string): Promise<AnyWorkflow> {
  const file = join(tempFolder(), `sample-${++modules}.workflow.ts`)
  writeFileSync(file, source)
  return ((await import(pathToFileURL(file).href)) as { default: AnyWorkflow }).default
}

function withAbsoluteImports(source: string): string {
  const from = (path: string) => ` from '${join(ROOT, path)}'`
  return source
    .replaceAll(` from 'upshot'`, from('src/author/index.ts'))
    .replaceAll(/ from '\.\.\/(.+)'/g, (_, path) => from(path))
    .replaceAll(/ from '\.\/(.+)'/g, (_, path) => from(`workflows/${path}`))
}
