import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyWorkflow } from '../../../../../src/author/workflow.ts'
import { planEndpoint } from '../../../../../src/core/incoming/endpoint.ts'
import { deliver, filesOf } from '../../../../engine/support/files-in-runs.ts'
import { DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { createTestEngine } from '../../../../support/test-engine.ts'
import { runHere } from '../../../support/run-here.ts'

/** The code of `tidy` that made the recorded runs: it deletes `*.tmp`, and notes what it keeps. */
export const TIDY = `async ({ event, step, files, now }) => {
  const file = await files.get({ service: 'storage_a', id: event.data.file })
  if (file.path.endsWith('.tmp')) {
    await step.sleep('grace', '1m')
    const { outcome } = await files.delete(file, { expect: file })
    await step.send('tell', 'tidy.done', { file: file.id, outcome })
    return { decision: outcome }
  }
  await step.run('note', () => 'noted', { target: 'notes', input: { file: file.id, size: file.size } })
  const check = () => {
    if (file.size > 100) throw new Error('it is too large')
  }
  await step.run('check', check, { effect: 'read', retry: { attempts: 1 } })
  return { decision: 'kept', at: now() }
}`

const SIZES: Record<string, number> = { a: 7, b: 8, c: 9, huge: 1_000 }
const kept = (id: string) => (id.startsWith('tmp') ? `/in/${id}.tmp` : `/in/${id}.mov`)
const client = filesOf({
  get: async ({ id }: { id: string }) => {
    const [name = ''] = id.split('-').slice(-1)
    const facts = { service: 'storage_a', id, name, type: 'file', mimeType: null, createdAt: null }
    return { ...facts, size: SIZES[name] ?? 5, path: kept(id), modifiedAt: '2026-01-01T00:00:00.000Z' }
  },
  delete: async () => ({ outcome: 'deleted', proof: 'reply' }),
  list: async () => ({ items: [], nextPage: null, nextToken: null, totalItems: 0 }),
})

/** Writes a module of `tidy`, and returns its folder. No process has to strip types from it. */
export function writeTidy(run: string, more = '', on = 'file.created'): string {
  const folder = tempFolder()
  writeTidyIn(folder, run, more, { on })
  return folder
}

/** The same in a folder that is there. */
export function writeTidyIn(
  folder: string,
  run: string,
  more = '',
  { file = 'tidy.workflow.js', on = 'file.created' } = {},
): void {
  const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: '${on}',${more} run: ${run} })
`
  writeFileSync(join(folder, file), code)
}

type TestEngine = ReturnType<typeof createTestEngine>

/** A project with a recorded run of `tidy` for each file. `answer` is called for one that waits. */
export async function openRecorded(
  files = ['tmp-a', 'tmp-b', 'mov-c', 'mov-d', 'mov-huge'],
  code = TIDY,
  answer: (engine: TestEngine, run: string) => Promise<void> = async () => {},
  more = '',
) {
  const engine = createTestEngine()
  await engine.store.addEndpoint(planEndpoint({ name: 'main' }, engine.clock.now()))
  const folder = writeTidy(code, more)
  const { default: tidy } = (await import(pathToFileURL(join(folder, 'tidy.workflow.js')).href)) as {
    default: AnyWorkflow
  }
  await engine.start([tidy], { filesFor: client, slots: 50 })
  const runs: string[] = []
  for (const [n, file] of files.entries()) {
    const id = await deliver(engine, `evt_${n}`, 'file.created', { file }, 'tidy')
    const run = await engine.passOf(id)
    if (run.status === 'waiting') await answer(engine, id)
    if (run.status === 'waiting') await engine.advance(id, '1m')
    runs.push(id)
  }
  const backtest = (run: string, ...args: string[]) =>
    runHere(engine.folder, ['backtest', 'tidy', '--since', '2020-01-01', '--workflows', writeTidy(run), ...args])
  return { ...engine, runs, backtest, cli: (...args: string[]) => runHere(engine.folder, args) }
}
